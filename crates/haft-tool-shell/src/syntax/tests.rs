use super::{Scanned, Unreadable, quoted, scan, split};
use proptest::prelude::*;

fn word(source: &str) -> Result<Scanned, Unreadable> {
    let (word, end) = scan(source, 0, 0, Some("/home/ann"))?;
    assert_eq!(end, source.len(), "{source:?} is one word");
    Ok(word)
}

#[test]
fn reads_literal_words_as_bash_does() {
    for (source, value) in [
        ("abc", "abc"),
        ("'a b'", "a b"),
        ("\"a b\"", "a b"),
        ("a\\ b", "a b"),
        ("a'b'\"c\"", "abc"),
        ("\"\\$\\`\\\"\\\\\\a\"", "$`\"\\\\a"),
        ("$'a\\n\\x41\\101\\'\\e'", "a\nAA'\u{1b}"),
        ("''", ""),
        ("a\\\nb", "ab"),
        ("\"a\\\nb\"", "ab"),
        ("'a\\\nb'", "a\\\nb"),
        ("{}", "{}"),
        ("{a}", "{a}"),
        ("@{u}", "@{u}"),
        ("a{1}", "a{1}"),
        ("[", "["),
        ("a]", "a]"),
        ("a#b", "a#b"),
        ("$", "$"),
        ("a$", "a$"),
        ("\"$\"", "$"),
        ("~", "/home/ann"),
        ("~/x", "/home/ann/x"),
        ("a~", "a~"),
        ("--a=~", "--a=~"),
        ("'~'", "~"),
        ("!", "!"),
        ("\u{e9}\\\u{e9}", "\u{e9}\u{e9}"),
        ("'*'", "*"),
        ("\\*", "*"),
        ("\"{a,b}\"", "{a,b}"),
        ("\\$X", "$X"),
    ] {
        let read = word(source).expect(source);
        assert_eq!((read.text.as_str(), read.is_literal), (value, true), "{source:?}");
    }
}

#[test]
fn knows_what_a_word_that_expands_begins_with() {
    for (source, beginning, splits, is_pattern) in [
        ("$X", "", true, false),
        ("\"$X\"", "", false, false),
        ("a$X", "a", true, false),
        ("\"a b$X\"c", "a b", false, false),
        ("*", "", false, true),
        ("src/*.rs", "src/", false, true),
        ("a{b,c}", "a", false, true),
        ("{1..3}", "", false, true),
        ("a[bc]d", "a", false, true),
        ("a?", "a", false, true),
        ("\"$@\"", "", true, false),
        ("\"${a[@]}\"", "", true, false),
        ("~root", "", false, false),
        ("A=~/x", "A=", false, false),
        ("$'\\u00e9'", "", false, false),
        ("$\"a\"", "", false, false),
        ("$((1+2))", "", true, false),
        ("\"${X:-a}\"", "", false, false),
        ("'a'*", "a", false, true),
    ] {
        let read = word(source).expect(source);
        assert!(!read.is_literal, "{source:?}");
        assert_eq!(
            (read.text.as_str(), read.splits, read.is_pattern),
            (beginning, splits, is_pattern),
            "{source:?}"
        );
    }
}

#[test]
fn finds_the_scripts_of_substitutions() {
    for (source, scripts) in [
        ("$(ls)", &["ls"][..]),
        ("\"$(ls \")\")\"", &["ls \")\""]),
        ("`ls \\`pwd\\``", &["ls `pwd`"]),
        ("a$(b)c`d`", &["b", "d"]),
        ("$(a $(b))", &["a $(b)"]),
        ("$(a # )\n)", &["a # )\n"]),
        ("$(cat <<E\n)\nE\n)", &["cat <<E\n)\nE\n"]),
        ("${X:-$(a)}", &["a"]),
        ("\"`a \\\"b\\\"`\"", &["a \"b\""]),
        ("$( (a) )", &[" (a) "]),
    ] {
        assert_eq!(word(source).expect(source).scripts, scripts, "{source:?}");
    }
}

#[test]
fn refuses_what_is_easily_got_wrong() {
    for source in [
        "'a",
        "\"a",
        "`a",
        "$(a",
        "${a",
        "${!a}",
        "${a@P}",
        "${ a;}",
        "$[1]",
        "$((a[1]))",
        "$((1)",
        "${a[b]}",
        "a\\",
        "a\rb",
        "\"${a:-'b'}\"",
        "$(case a in b) c;; esac)",
        "${a:$b}",
        "$((`a`))",
    ] {
        assert!(scan(source, 0, 0, None).is_err(), "{source:?}");
    }
}

proptest! {
    /// A word that is quoted is read as it was, alone and among others.
    #[test]
    fn quoting_loses_nothing(words in prop::collection::vec("(?s).{0,20}", 1..4)) {
        let text = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let read = split(&text).expect("it is a command");
        prop_assert!(read.iter().all(|(word, _)| word.is_literal));
        let texts: Vec<&str> = read.iter().map(|(word, _)| word.text.as_str()).collect();
        prop_assert_eq!(texts, words);
    }
}
