use haft_testkit::Tree;
use haft_tool_shell::{CommandPatterns, EXEC, Environment};
use haft_tools_core::{Access, PatternSyntax as _, Resource};
use proptest::prelude::*;
use std::thread;
use std::time::{Duration, Instant};

use crate::deciding::Rules;

/// Reads scripts on a thread with the stack that threads of a runtime have, and returns what they would do.
fn accesses(scripts: Vec<String>) -> Vec<Vec<Access>> {
    let read = move || {
        let tree = Tree::new();
        let rules = Rules::new(&tree, Environment::minimal(), &["*"], &["git push *"]);
        let decided = |access: Access| {
            rules.decide_access(&access);
            access
        };
        scripts.iter().map(|script| rules.accesses(script).into_iter().map(decided).collect()).collect()
    };
    thread::Builder::new().stack_size(2 << 20).spawn(read).expect("a thread").join().expect("no panic")
}

/// What a script is made of, in every order.
const BITS: [&str; 68] = [
    "(", ")", "((", "))", "{", "}", "[[", "]]", "[", "]", "<", ">", "<(", ">(", "<<", "<<-", "<<<", "<&",
    ">&", ">|", "&>", "&&", "||", "|", "|&", ";", ";;", ";&", "&", "\n", " ", "\t", "\\", "\\\n", "'", "\"",
    "`", "$", "$(", "$((", "${", "$[", "$'", "$\"", "#", "!", "~", "*", "?", "{a,b}", "=", "a=", "a[",
    "a+=(", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "while", "function", "time",
    "coproc", "E",
];

const WORDS: [&str; 14] =
    ["ls", "rm", "x", "-n", "git", "push", "eval", "cd", "..", "/", "1", "9999999999", "\u{e9}", "\u{0}\r"];

fn script() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        4 => prop::sample::select(&BITS[..]).prop_map(str::to_owned),
        3 => prop::sample::select(&WORDS[..]).prop_map(|word| format!("{word} ")),
        1 => prop::sample::select(&WORDS[..]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(|character| character.to_string()),
    ];
    prop::collection::vec(bit, 0..40).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever a script is, it is read without a panic, and declares something.
    #[test]
    fn reads_anything(script in script()) {
        let found = accesses(vec![script]);
        prop_assert!(found.iter().all(|accesses| accesses.len() <= 260));
    }

    /// A resource that is put together of any words is split into the same words, and a suggestion contains it.
    #[test]
    fn commands_are_split_as_they_were_joined(words in prop::collection::vec(".{0,12}", 1..5)) {
        let text = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ");
        let syntax = CommandPatterns::new();
        let resource = syntax.resource(&text).expect("it is a command");
        let again = syntax.resource(resource.path()).expect("it is one still");
        prop_assert_eq!(&resource, &again);
        let pattern = Box::from(text.as_str());
        let set = syntax.compile(&[pattern]).expect("a pattern of quoted words");
        prop_assert_eq!(set.first_containing(&resource), Some(0));
        prop_assert_eq!(set.first_touching(&resource), Some(0));
        if let Some(suggested) = syntax.suggest(&resource) {
            let set = syntax.compile(&[suggested.as_str().into()]).expect("a suggestion is a pattern");
            prop_assert_eq!(set.first_containing(&resource), Some(0), "{}", suggested);
        }
    }

    /// What contains a command touches it.
    #[test]
    fn what_contains_touches(command in "(git|ls|find|/bin/ls|\\$X)( (-[a-z]|--[a-z]{1,6}|push|'a b'|\"\\$X\"|\\*)){0,4}",
                             pattern in "(\\*|git|ls|g\\*|find)( (-[a-z]|push|\\*|p\\*|'a b')){0,4}") {
        let set = CommandPatterns::new().compile(&[pattern.as_str().into()]).expect("a pattern");
        let resource = Resource::exact(EXEC, command.as_str());
        if set.first_containing(&resource).is_some() {
            prop_assert!(set.first_touching(&resource).is_some(), "{} {}", pattern, command);
        }
    }

    /// A command whose name is not literal is never understood.
    #[test]
    fn a_name_that_is_not_known_is_opaque(before in "(ls; |if ls; then |ls \\| |\\( |sudo |env A=b |eval )?",
                                          name in "(\\$X|\\$\\(ls\\)|`ls`|l\\*|\"\\$X\"|\\$\\{X\\}s|\\{a,b\\}|~u/x|\\$@)",
                                          rest in "( a| -b| 'c'){0,2}") {
        let script = format!("{before}{name}{rest}");
        let script = if before.starts_with("if") { format!("{script}; fi") } else { script };
        let script = if before.starts_with('(') { format!("{script} )") } else { script };
        let found = accesses(vec![script.clone()]);
        prop_assert!(found[0].iter().any(Access::is_opaque), "{script}: {found:?}");
    }
}

#[test]
fn reads_what_is_nested_very_deep_or_very_long_in_time() {
    let repeated = |text: &str| text.repeat(10_000 / text.len());
    let mut scripts: Vec<String> = BITS.iter().chain(&WORDS).map(|bit| repeated(bit)).collect();
    for bit in [
        "$(",
        "( ",
        "{ ",
        "if ls; then ",
        "for x do ",
        "for x in a; do ",
        "while ls; do ",
        "case x in a) ",
        "case x in ",
        "! ",
        "coproc ",
        "time ",
        "function f ",
        "f() ",
        "f() { ",
        "${a:-",
        "\"$(",
        "`\\`",
        "[[ ( ",
        "[[ ! ",
        "[[ a && ",
        "a && ",
        "a | ",
        "sudo ",
        "env ",
        "eval ",
        "bash -c '",
        "a=(",
        "a[(((",
        "x=a[",
        "<(",
        "cat <(",
        "<<E ",
        "<<E\n",
        "((1)) ",
        "$((1)) ",
        "$(( (",
        "{a,",
        "{1..9",
        "~",
        "$'\\x",
        "a;",
        "a b=c ",
        "\\\n",
        "case x in ((",
        "{ { ",
        "( ( ",
        "[[ a || ( ",
        "if ",
        "do ",
        "ls $(ls) ",
        "then ",
        "1>&2 ",
        "a>b ",
        "\"a\"",
        "\\'",
        "'\"",
        "#\n",
        "!\n",
        "@(",
        "xargs ",
        "find -exec ",
        "nice ",
        "cd a; ",
    ] {
        scripts.push(repeated(bit));
        scripts.push(format!("{}ls{}", bit.repeat(30), ")".repeat(30)));
        scripts.push(format!("{}ls", bit.repeat(12)));
    }
    scripts.push(format!("{}ls{}", "$(".repeat(16), ")".repeat(16)));
    scripts.push(format!("{}ls{}", "( ".repeat(30), ")".repeat(30)));
    scripts.push(format!("{}ls{}", "case x in a) ".repeat(4), " esac".repeat(4)));
    scripts.extend(
        ["(", "$(", "{ ", "if ", "[[ a && ", "a;", "ls $(ls) ", "~"]
            .map(|bit| bit.repeat(120_000 / bit.len())),
    );
    for script in scripts {
        let started = Instant::now();
        let shown: String = script.chars().take(40).collect();
        let script: String = script.chars().filter(|character| *character != '\0').collect();
        accesses(vec![script]);
        assert!(started.elapsed() < Duration::from_secs(10), "{shown:?} takes {:?}", started.elapsed());
    }
}
