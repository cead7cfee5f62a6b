use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn check(pattern: &str, matching: &[&str], other: &[&str]) {
    let parsed = PathPattern::parse(pattern).unwrap();
    let taken: Vec<&str> =
        matching.iter().chain(other).copied().filter(|path| parsed.matches(path)).collect();
    assert_eq!(taken, matching, "{pattern}");
}

fn check_filter(filter: &str, taken: &[&str], other: &[&str]) {
    let parsed = PathFilter::parse(filter).unwrap();
    let found: Vec<&str> = taken.iter().chain(other).copied().filter(|path| parsed.takes(path)).collect();
    assert_eq!(found, taken, "{filter}");
}

fn check_refusal(pattern: &str, expected: &Expect) {
    let error = PathPattern::parse(pattern).unwrap_err();
    expected.assert_eq(error.refuse("pattern", pattern).message());
}

#[test]
fn a_pattern_without_a_slash_matches_at_any_depth() {
    check("*.rs", &["a.rs", "src/a.rs", "src/deep/.rs"], &["a.rsx", "rs/a"]);
    check("Cargo.toml", &["Cargo.toml", "x/Cargo.toml"], &["Cargo.toml.orig", "cargo.toml"]);
    check("src/", &["src", "a/src"], &["src/a"]);
}

#[test]
fn a_pattern_with_a_slash_matches_from_the_start() {
    check("/*.rs", &["a.rs"], &["src/a.rs"]);
    check("src/*.rs", &["src/a.rs"], &["src/b/a.rs", "x/src/a.rs"]);
    check("src//./*.rs", &["src/a.rs"], &["src/b/a.rs"]);
    check("./*.rs", &["a.rs", "src/a.rs"], &[]);
    check("/src/", &["src"], &["a/src"]);
}

#[test]
fn stars_braces_and_classes() {
    check("src/**/*.rs", &["src/a.rs", "src/b/a.rs", "src/b/c/a.rs"], &["a.rs"]);
    check("src/**", &["src/a", "src/a/b"], &["src", "a/src/b"]);
    check("**", &["a", "a/b"], &[]);
    check("*", &["a", "a/b", ".a"], &[]);
    check("a{,.txt}", &["a", "a.txt", "x/a"], &["ab"]);
    check("{a,b/{c,d}}", &["a", "b/c", "b/d"], &["b", "x/a"]);
    check("[a-c]?[!0-9]", &["bxy"], &["bx1", "dxy", "bx"]);
    check(r"\*\[\{", &["*[{"], &["a[{"]);
    check("[]]", &["]"], &["["]);
    check("é*", &["été"], &["ete"]);
}

#[test]
fn nearly_matches_other_depths_and_letter_case() {
    let pattern = PathPattern::parse("lib/Main.rs").unwrap();
    assert!(pattern.nearly_matches("src/lib/main.RS"));
    assert!(!pattern.matches("src/lib/Main.rs") && !pattern.nearly_matches("main.rs"));
}

#[test]
fn a_name_that_starts_with_a_dot_asks_for_hidden_entries() {
    for (pattern, expected) in [
        (".env", true),
        ("a/.b/c", true),
        ("{a,.b}", true),
        ("./a", false),
        ("*.rs", false),
        ("a.b/c.d", false),
    ] {
        assert_eq!(PathPattern::parse(pattern).unwrap().names_hidden(), expected, "{pattern}");
    }
    assert!(PathFilter::parse(".env*").unwrap().names_hidden());
    assert!(!PathFilter::parse("!.env*").unwrap().names_hidden());
}

#[test]
fn a_filter_takes_files() {
    check_filter("*.rs", &["a.rs", "b/a.rs"], &["a.rs/b", "a"]);
    check_filter("tests/", &["tests/a", "b/tests/c/d"], &["tests", "a"]);
    check_filter("!tests/", &["tests", "a"], &["tests/a", "b/tests/c/d"]);
    check_filter("!tests", &["a"], &["tests", "tests/a", "b/tests/c/d"]);
    check_filter("!src/*.rs", &["a.rs", "src/b/a.rs"], &["src/a.rs"]);
}

#[test]
fn says_what_is_wrong_and_where() {
    check_refusal("", &expect!["`pattern` is empty; write a pattern such as `*.rs` or `src/**/*.rs`"]);
    check_refusal("./", &expect!["`pattern` is empty; write a pattern such as `*.rs` or `src/**/*.rs`"]);
    check_refusal(
        "src/../lib",
        &expect![
            "`pattern` `src/../lib` has a `..`; leave it out and set `path` to the directory to start in"
        ],
    );
    check_refusal(
        &"a".repeat(1001),
        &expect!["`pattern` is longer than 1000 bytes; write a shorter pattern"],
    );
    check_refusal(
        "é/[ab",
        &expect![
            "`pattern` `é/[ab` is not a pattern: `[` without a `]` at character 3; close it, or write `\\[` for the character itself"
        ],
    );
    check_refusal(
        "*.{rs,toml",
        &expect![
            "`pattern` `*.{rs,toml` is not a pattern: `{` without a `}` at character 3; close it, or write `\\{` for the character itself"
        ],
    );
    check_refusal(
        "a}",
        &expect![
            "`pattern` `a}` is not a pattern: `}` without a `{` at character 2; open it, or write `\\}` for the character itself"
        ],
    );
    check_refusal(
        "a\\",
        &expect![
            "`pattern` `a\\` is not a pattern: `\\` with nothing behind it at character 2; leave it out, or write `\\\\` for the character itself"
        ],
    );
    check_refusal(
        "[z-a]",
        &expect![
            "`pattern` `[z-a]` is not a pattern: the range `z-a` holds nothing at character 2; write `a-z`"
        ],
    );
    check_refusal(
        "[aö]",
        &expect![
            "`pattern` `[aö]` is not a pattern: `ö`, which is not ASCII, in a `[..]` at character 3; list the alternatives as in `{a,ö}`"
        ],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn globset_agrees_on_what_is_a_pattern(pattern in r"[ab/*?.,\[\]!^{}\\-]{0,10}") {
        let compiled = GlobBuilder::new(&pattern).empty_alternates(true).build();
        prop_assert_eq!(find_fault(&pattern).is_none(), compiled.is_ok(), "{:?}", compiled.err());
    }

    #[test]
    fn nothing_panics(pattern in "\\PC{0,30}", path in "\\PC{0,30}") {
        if let Ok(filter) = PathFilter::parse(&pattern) {
            filter.takes(&path);
        }
    }
}
