//! Real shells as judges: what they run was said before, or it was said that this cannot be known.

use haft_testkit::Tree;
use haft_tool_shell::{CommandPatterns, EXEC, Environment};
use haft_tools_core::{Access, PatternSyntax as _, Resource};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::deciding::Rules;

/// Programs that do nothing but say that they ran, and with which words.
const PROGRAMS: [&str; 12] =
    ["ls", "rm", "git", "cat", "find", "grep", "wc", "touch", "head", "if2", "a", "b"];

/// What is put anywhere into a script, so that it means something else.
const BITS: [&str; 58] = [
    "(", ")", "((", "))", "{", "}", "[[", "]]", "[", "<(", ">(", "<<E", "<<-E", "<<<", "&&", "||", "|", ";",
    ";;", "&", "\n", " ", "\t", "\\", "\\\n", "'", "\"", "`", "$", "$(", "$((", "${", "$'", "$\"", "#", " #",
    "!", "! ", "*", "{a,b}", "=", "a=", "a[", "b=(", "if ", "then ", "fi", "for ", "in ", "do ", "done",
    "case ", "esac", "time ", "coproc ", "\nE\n", "E", "rm x",
];

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(
        &[
            "x",
            "'a b'",
            "\"c d\"",
            "e\\ f",
            "$'g\\x41\\n'",
            "-n",
            "--o=v",
            "''",
            "a#b",
            "\"$HOME\"",
            "\"p$X\"",
            "$X",
            "a{1..2}",
            "'#'",
            "{}",
            "\"\\$X\"",
            "\\$X",
            "'it'\\''s'",
            "\"q\\\"r\"",
            "a'b'\"c\"",
            "if",
            "do",
            "x=y",
            "\"`a 1`\"",
            "$(b 2)",
            "\"$(b '3 )')\"",
            "`a \\`b 4\\``",
            "${X:-w}",
            "${X:-$(a 5)}",
            "\"${X:+$(b 6)}\"",
            "$((1+2))",
            "<(a 7)",
            "!",
            "\\'",
            "\"'\"",
            "'\"'",
            "$",
            "a$",
            "\"a$\"",
            "%",
            "^",
            "~",
            "a~b",
            "[",
            "]",
            "\u{e9}",
            "'\u{e9}\n'",
        ][..],
    )
    .prop_map(str::to_owned)
}

fn simple() -> impl Strategy<Value = String> {
    let before = prop::sample::select(
        &["", "", "", "", "X=1 ", "LANG=C ", "> out ", "2>&1 ", "command ", "eval ", "! ", "time "][..],
    );
    let after = prop::sample::select(
        &[
            "",
            "",
            "",
            "",
            " > out",
            " 2>/dev/null",
            " <<< 'a b'",
            " <<E\n$(a doc)\nE\n",
            " <<'E'\n$(a doc)\nE\n",
            " <<-E\n\tx\n\tE\n",
            " # c",
            " >&2",
            " &> out",
            " < /dev/null",
        ][..],
    );
    let words = prop::collection::vec(word(), 0..4);
    (before, prop::sample::select(&PROGRAMS[..]), words, after)
        .prop_map(|(before, name, words, after)| format!("{before}{name} {}{after}", words.join(" ")))
}

fn script() -> impl Strategy<Value = String> {
    let list = simple().prop_recursive(3, 12, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|(a, b)| format!("{a}\n{b}")),
            pair.clone().prop_map(|(a, b)| format!("{a} && {b}")),
            pair.clone().prop_map(|(a, b)| format!("{a} | {b}")),
            pair.clone().prop_map(|(a, b)| format!("{a} || {b}")),
            pair.clone().prop_map(|(a, b)| format!("if {a}\nthen {b}\nfi")),
            pair.clone().prop_map(|(a, b)| format!("f() {{ {a}\n}}\nf; {b}")),
            pair.clone().prop_map(|(a, b)| format!("case x in (y) {a}\n;; x|z) {b}\n;; esac")),
            pair.prop_map(|(a, b)| format!("until {a}\ndo {b}\ndone")),
            inner.clone().prop_map(|a| format!("for v in 1 2\ndo {a}\ndone")),
            inner.clone().prop_map(|a| format!("{{ {a}\n}}")),
            inner.clone().prop_map(|a| format!("( {a}\n)")),
            inner.clone().prop_map(|a| format!("{a} &\nwait")),
            inner.clone().prop_map(|a| format!("[[ x == \"$({a}\n)\" ]]")),
            inner.clone().prop_map(|a| format!("a \"$({a}\n)\"")),
            inner.prop_map(|a| format!("eval '{}'", a.replace('\'', "'\\''"))),
        ]
    });
    let change = (any::<prop::sample::Index>(), prop::sample::select(&BITS[..]), 0..3_usize);
    (list, prop::collection::vec(change, 0..3)).prop_map(|(mut script, changes)| {
        for (place, bit, removed) in changes {
            let places: Vec<usize> =
                script.char_indices().map(|(place, _)| place).chain([script.len()]).collect();
            let start = place.index(places.len());
            let end = places[(start + removed).min(places.len() - 1)];
            script.replace_range(places[start]..end, bit);
        }
        script
    })
}

pub(crate) struct Oracle {
    /// The shell that runs the scripts: bash, or one that bash is asked to hand them to.
    shell: &'static str,
    tree: Tree,
    programs: PathBuf,
    runs: Cell<usize>,
    commands: Cell<usize>,
    rules: Rules,
}

impl Oracle {
    pub(crate) fn new(shell: &'static str) -> Self {
        let tree = Tree::new().directory("programs").directory("work");
        let programs = tree.path().join("programs");
        for name in PROGRAMS {
            let path = programs.join(name);
            let text = format!("#!/bin/sh\nprintf '%s\\037' {name} \"$@\" \"$(printf '\\036')\" >> $LOG\n");
            fs::write(&path, text).expect("a program can be written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be run");
        }
        let environment = Environment::minimal().with("HOME", "/nowhere").expect("a variable");
        let rules = Rules::new(&tree, environment, &[], &[]);
        Self { shell, tree, programs, runs: Cell::new(0), commands: Cell::new(0), rules }
    }

    /// Runs a script, and returns the commands it ran.
    fn run(&self, script: &str) -> Vec<Vec<String>> {
        // A file for each run, since what ran in the background may still write.
        self.runs.set(self.runs.get() + 1);
        let log = self.tree.path().join(format!("log-{}", self.runs.get()));
        let program = Environment::minimal().find_program(self.shell).expect("there is such a shell");
        let options: &[&str] = if self.shell == "bash" { &["--noprofile", "--norc"] } else { &[] };
        let mut bash = Command::new(program)
            .args(options)
            .args(["-c", "--", script])
            .env_clear()
            .env("LOG", &log)
            .envs([
                ("HOME", Path::new("/nowhere")),
                ("PATH", &self.programs),
                ("FUNCNEST", Path::new("2")),
                ("LANG", Path::new("C.UTF-8")),
            ])
            .current_dir(self.tree.path().join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is a bash");
        let deadline = Instant::now() + Duration::from_secs(2);
        while bash.try_wait().expect("it can be waited for").is_none() {
            if Instant::now() > deadline {
                bash.kill().expect("it can be ended");
                bash.wait().expect("it has ended");
            }
            thread::sleep(Duration::from_millis(1));
        }
        let log = fs::read(&log).unwrap_or_default();
        let commands = String::from_utf8_lossy(&log).into_owned();
        let commands = commands.split_terminator("\u{1e}\u{1f}");
        // Which number the pipe of a process substitution gets depends on those that are open.
        let word = |word: &str| match word.strip_prefix("/dev/fd/") {
            Some(_) => "/dev/fd/63".to_owned(),
            None => word.to_owned(),
        };
        commands.map(|command| command.split_terminator('\u{1f}').map(word).collect()).collect()
    }

    /// What is said of a script when it is handed to the shell.
    fn accesses(&self, script: &str) -> Vec<Access> {
        if self.shell == "bash" {
            return self.rules.accesses(script);
        }
        self.rules.accesses(&format!("{} -c {}", self.shell, quoted(script)))
    }

    /// Finds a command that ran without having been said, where all was said to be known.
    pub(crate) fn unsaid(&self, script: &str) -> Option<(Vec<String>, Vec<String>)> {
        let accesses = self.accesses(script);
        if accesses.iter().any(Access::is_opaque) {
            return None;
        }
        let said: Vec<&Resource> = accesses
            .iter()
            .filter_map(Access::resource)
            .filter(|resource| *resource.scheme() == EXEC)
            .collect();
        let run = self.run(script);
        self.commands.set(self.commands.get() + run.len());
        let unsaid = run.into_iter().find(|command| {
            let words: Vec<_> = command.iter().map(|word| quoted(word)).collect();
            let exactly = CommandPatterns::new().compile(&[words.join(" ").into()]).expect("a pattern");
            let name =
                CommandPatterns::new().compile(&[format!("{} *", words[0]).into()]).expect("a pattern");
            !said.iter().any(|resource| {
                let has_unknown =
                    CommandPatterns::new().remark(resource).is_some_and(|text| text.contains("not known"));
                without_settings(resource).iter().any(|plain| {
                    exactly.first_containing(plain).is_some()
                        || (has_unknown && name.first_touching(plain).is_some())
                })
            })
        })?;
        Some((unsaid, accesses.iter().map(ToString::to_string).collect()))
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The command of `X=1 ls`, among others if there are spaces in what comes before it.
fn without_settings(resource: &Resource) -> Vec<Resource> {
    let path = resource.path();
    let name = path.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let mut texts = vec![path];
    if path[name..].starts_with(['=', '+', '[']) {
        texts.extend(path.match_indices(' ').map(|(place, _)| &path[place + 1..]));
    }
    texts.into_iter().map(|text| Resource::exact(EXEC, text)).collect()
}

#[test]
fn whatever_bash_runs_was_said_before() {
    check("bash");
}

#[test]
fn whatever_sh_runs_was_said_before() {
    check("sh");
}

/// `HAFT_ORACLE_CASES` says how many scripts there are, `HAFT_ORACLE_SEED` which.
#[expect(clippy::print_stdout, reason = "a reader of the log sees how much was checked")]
fn check(shell: &'static str) {
    let said = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&said("HAFT_ORACLE_SEED", 1).to_le_bytes());
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let oracle = Oracle::new(shell);
    let strategy = script();
    let (cases, mut checked) = (said("HAFT_ORACLE_CASES", 400), 0_usize);
    for _ in 0..cases {
        let mut script = strategy.new_tree(&mut runner).expect("a script");
        let text = script.current();
        if text.contains('\0') || text.trim().is_empty() {
            continue;
        }
        checked += usize::from(!oracle.accesses(&text).iter().any(Access::is_opaque));
        if oracle.unsaid(&text).is_none() {
            continue;
        }
        // The smallest script that still shows it.
        let mut smallest = text;
        while script.simplify() {
            let text = script.current();
            if oracle.unsaid(&text).is_some() {
                smallest = text;
            } else if !script.complicate() {
                break;
            }
        }
        let (command, accesses) = oracle.unsaid(&smallest).expect("it still does");
        panic!("{smallest:?} runs {command:?}, of which nothing was said: {accesses:#?}");
    }
    let commands = oracle.commands.get();
    println!(
        "{checked} of {cases} scripts were said to be known, and {shell} ran {commands} commands of them"
    );
    assert!(commands > checked, "most scripts run something");
}
