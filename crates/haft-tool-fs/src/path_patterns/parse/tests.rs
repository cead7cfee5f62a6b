use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn check_refusal(pattern: &str, expected: &Expect) {
    let Fault { range, reason } = parse(pattern).unwrap_err();
    expected.assert_eq(&format!("`{}`: {reason}", pattern[range].escape_debug()));
}

fn check_same(pattern: &str, other: &str) {
    assert_eq!(parse(pattern).unwrap(), parse(other).unwrap(), "{pattern} and {other}");
}

#[test]
fn writes_one_meaning_in_one_way() {
    check_same("*", "**");
    check_same("docs/", "docs");
    check_same("./src//a/.", "src/a");
    check_same("src/**/*", "src/**");
    check_same("src/**/**/a", "src/**/a");
    check_same("**/.env", ".env");
    check_same(r"\a*".trim_start_matches('\\'), "a*");
    check_same("/etc/", "/etc");
    assert_ne!(parse("./a"), parse("a"));
    assert_ne!(parse("./*"), parse("*"));
    assert_ne!(parse("src/*"), parse("src/**"));
}

#[test]
fn writes_alternatives_out() {
    let same = |pattern: &str, others: &[&str]| {
        let others: Vec<PathPattern> = others.iter().flat_map(|other| parse(other).unwrap()).collect();
        assert_eq!(parse(pattern).unwrap(), others, "{pattern}");
    };
    same("*.{rs,toml}", &["*.rs", "*.toml"]);
    same("{a,b/{c,d}}", &["a", "b/c", "b/d"]);
    same("a{,.txt}", &["a", "a.txt"]);
    same("a,b", &[r"a\,b"]);
}

#[test]
fn says_what_is_wrong_and_what_to_write_instead() {
    check_refusal(
        "",
        &expect!["``: the pattern is empty; write `**` for everything in the working directory"],
    );
    check_refusal(
        "./",
        &expect!["`./`: the pattern names nothing; write `**` for everything in the working directory"],
    );
    check_refusal(
        "{,}",
        &expect!["`{,}`: the pattern names nothing; write `**` for everything in the working directory"],
    );
    let long = parse(&"a".repeat(1_001)).unwrap_err();
    assert_eq!(long.reason, "the pattern is longer than 1000 bytes; write a shorter one");
    check_refusal(
        "!src/**",
        &expect![[
            r"`!`: a pattern cannot take back what another one gives; write a rule that denies or asks, or `\!` for the character itself"
        ]],
    );
    check_refusal(
        "src/../lib",
        &expect!["`..`: a `..` leads out of the directory before it; write where it leads to"],
    );
    check_refusal(
        "{.,a}{.,b}",
        &expect!["`{.,a}{.,b}`: a `..` leads out of the directory before it; write where it leads to"],
    );
    check_refusal(
        "~root/x",
        &expect![[
            r"`~root`: only the own home directory can be named by `~`; write `~/`, the directory's absolute path, or `\~` for the character itself"
        ]],
    );
    check_refusal("a\0b", &expect![[r"`\0`: no path has a NUL in it; leave it out"]]);
    check_refusal(
        "é/[ab",
        &expect![[r"`[`: `[` without a `]`; close it, or write `\[` for the character itself"]],
    );
    check_refusal(
        "[a/b]",
        &expect!["`/`: a `[..]` stands for one character of a name; close it before the `/`"],
    );
    check_refusal("[z-a]", &expect!["`[z-a`: the range `z-a` holds nothing; write `a-z`"]);
    check_refusal(
        "[[:alpha:]]*",
        &expect!["`[:`: named classes are not known here; write the characters, as in `[a-zA-Z]`"],
    );
    check_refusal(
        "*.{rs,toml",
        &expect![[r"`{`: `{` without a `}`; close it, or write `\{` for the character itself"]],
    );
    check_refusal(
        "a}",
        &expect![[r"`}`: `}` without a `{`; open it, or write `\}` for the character itself"]],
    );
    check_refusal(
        "a\\",
        &expect![[r"`\\`: `\` with nothing behind it; leave it out, or write `\\` for the character itself"]],
    );
    check_refusal(
        r"src\lib",
        &expect![[
            r"`\\l`: `\` escapes nothing here; write `/` between names, or `\\` for the character itself"
        ]],
    );
    check_refusal("{a,/b}", &expect!["`{a,/b}`: an alternative cannot start with `/`; write two rules"]);
    check_refusal(
        "{{{{{{{{{a}}}}}}}}}",
        &expect!["`{`: alternatives stand too deep in one another; write several rules"],
    );
    check_refusal(
        &"{a,b}".repeat(7),
        &expect![
            "`{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}`: the alternatives in `{..}` make too many patterns; write several rules"
        ],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(pattern in r"[ab.é/~*?\[\]!^{},\\\-]{0,20}|\PC{0,20}") {
        if let Err(Fault { range, .. }) = parse(&pattern) {
            prop_assert!(pattern.get(range).is_some());
        }
    }
}
