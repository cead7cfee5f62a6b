use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

const REGEX: PatternOptions = PatternOptions { case: Case::Smart, literal: false, multiline: false };
const LITERAL: PatternOptions = PatternOptions { literal: true, ..REGEX };
const MULTILINE: PatternOptions = PatternOptions { multiline: true, ..REGEX };

fn check_refusal(text: &str, options: PatternOptions, expected: &Expect) {
    expected.assert_eq(Pattern::compile(text, options).unwrap_err().message());
}

fn check_match(text: &str, options: PatternOptions, matching: &[&str], other: &[&str]) {
    let pattern = Pattern::compile(text, options).unwrap();
    let found: Vec<&str> = matching
        .iter()
        .chain(other)
        .copied()
        .filter(|line| pattern.find(line.as_bytes(), 0).is_some())
        .collect();
    assert_eq!(found, matching, "{text}");
}

#[test]
fn ignores_letter_case_unless_the_pattern_has_an_upper_case_letter() {
    check_match("foo", REGEX, &["foo", "FOO"], &["fo"]);
    check_match("Foo", REGEX, &["Foo"], &["foo"]);
    check_match(r"foo\S", REGEX, &["FOOx"], &["foo "]);
    check_match("a.B", LITERAL, &["a.B"], &["a.b", "axB"]);
    check_match("a.b", LITERAL, &["a.b", "A.B"], &["axb"]);
    check_match("Foo", PatternOptions { case: Case::Insensitive, ..REGEX }, &["foo"], &[]);
    check_match("foo", PatternOptions { case: Case::Sensitive, ..REGEX }, &["foo"], &["FOO"]);
    check_match("ÄB", PatternOptions { case: Case::Insensitive, ..REGEX }, &["äb"], &[]);
}

#[test]
fn knows_whether_letter_case_counts() {
    let check = |text, options, expected| {
        assert_eq!(Pattern::compile(text, options).unwrap().tells_case_apart(), expected, "{text}");
    };
    check("foo", REGEX, false);
    check("fOo", REGEX, true);
    check(r"foo\S", REGEX, false);
    check(r"foo\\S", REGEX, true);
    check(r"foo\S", LITERAL, true);
    check("foo", PatternOptions { case: Case::Sensitive, ..REGEX }, true);
    check("Foo", PatternOptions { case: Case::Insensitive, ..REGEX }, false);
}

#[test]
fn takes_both_line_ends_for_line_ends() {
    check_match("foo$", REGEX, &["foo", "foo\r"], &["foob"]);
    check_match(r"foo\r", REGEX, &["foo\r"], &["foo"]);
    check_match(r"\Afoo\z", REGEX, &["foo"], &["foo\n"]);
    check_match("a.b", MULTILINE, &["a\nb"], &["ab"]);
}

#[test]
fn refuses_what_matches_nothing_useful() {
    check_refusal(
        "",
        REGEX,
        &expect![
            "the pattern is empty and would match every line; write what to look for, or use `glob` to list files"
        ],
    );
    check_refusal(
        &"a".repeat(2001),
        REGEX,
        &expect!["the pattern has 2001 bytes and may have 2000; look for a part of it"],
    );
    check_refusal(
        "a\0",
        LITERAL,
        &expect![
            "the pattern has a NUL byte, but files with such bytes are binary and not searched; leave it out"
        ],
    );
    check_refusal(
        r"a\x00",
        REGEX,
        &expect![
            "the pattern has a NUL byte, but files with such bytes are binary and not searched; leave it out"
        ],
    );
}

#[test]
fn refuses_a_line_break_within_lines() {
    check_refusal(
        "a\nb",
        LITERAL,
        &expect![
            "the pattern has a line break but is matched within lines; set `multiline` to true, or look for one of its lines"
        ],
    );
    check_refusal(
        r"a\nb",
        REGEX,
        &expect![
            "the pattern has a line break but is matched within lines; set `multiline` to true, or look for one of its lines"
        ],
    );
    check_match("a\nb", PatternOptions { multiline: true, ..LITERAL }, &["a\nb"], &["a b"]);
}

#[test]
fn says_where_a_pattern_is_wrong_and_what_to_write() {
    check_refusal(
        "struct Foo {",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 12, `{`: unclosed counted repetition; escape it, as in `struct Foo \{`, or set `literal` to true to look for this very text"
        ]],
    );
    check_refusal(
        "foo(bar",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 4, `(bar`: unclosed group; escape it, as in `foo\(bar`, or set `literal` to true to look for this very text"
        ]],
    );
    check_refusal(
        "fn f() {}",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 9, `}`: repetition quantifier expects a valid decimal; escape it, as in `fn f() \{}`, or set `literal` to true to look for this very text"
        ]],
    );
    check_refusal(
        "*.rs",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 1, `*.rs`: repetition operator missing expression; escape it, as in `\*.rs`, or set `literal` to true to look for this very text"
        ]],
    );
    check_refusal(
        "é[ab",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 2, `[ab`: unclosed character class; escape it, as in `é\[ab`, or set `literal` to true to look for this very text"
        ]],
    );
    check_refusal(
        "a)",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 2, `)`: unopened group; escape it, as in `a\)`, or set `literal` to true to look for this very text"
        ]],
    );
    check_refusal(
        "((((((",
        REGEX,
        &expect![
            "the pattern is not a regular expression, at character 6, `(`: unclosed group; correct it, or set `literal` to true to look for this very text"
        ],
    );
    check_refusal(
        r"a\",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 2, `\`: incomplete escape sequence, reached end of pattern prematurely; correct it, or set `literal` to true to look for this very text"
        ]],
    );
    check_refusal(
        r"\Qa",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 1, `\Qa`: unrecognized escape sequence; correct it, or set `literal` to true to look for this very text"
        ]],
    );
    check_refusal(
        r"\p{Nope}",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 1, `\p{Nope}`: Unicode property not found; correct it, or set `literal` to true to look for this very text"
        ]],
    );
    check_refusal(
        "[z-a]",
        REGEX,
        &expect![
            "the pattern is not a regular expression, at character 2, `z-a]`: invalid character class range, the start must be <= the end; correct it, or set `literal` to true to look for this very text"
        ],
    );
}

#[test]
fn says_what_is_not_supported() {
    check_refusal(
        "foo(?=bar)",
        REGEX,
        &expect![
            "the pattern is not a regular expression, at character 4, `(?=bar)`: look-around, including look-ahead and look-behind, is not supported; match what is around as well, or search for the core of the pattern and look at the lines around it with `context`"
        ],
    );
    check_refusal(
        "(?<!x)foo",
        REGEX,
        &expect![
            "the pattern is not a regular expression, at character 1, `(?<!x)foo`: look-around, including look-ahead and look-behind, is not supported; match what is around as well, or search for the core of the pattern and look at the lines around it with `context`"
        ],
    );
    check_refusal(
        r"(a)\1",
        REGEX,
        &expect![[
            r"the pattern is not a regular expression, at character 4, `\1`: backreferences are not supported; write out what is repeated, or search for the first part and look through the matches"
        ]],
    );
}

#[test]
fn refuses_what_is_too_large_when_compiled() {
    check_refusal(
        "x{1000}{1000}{1000}",
        REGEX,
        &expect![[
            r"the pattern `x{1000}{1000}{1000}` is too large when compiled; make the counts of its repetitions smaller, or use ASCII classes such as `[0-9A-Za-z_]` in place of `\w`"
        ]],
    );
    check_refusal(
        &format!("{}a{}", "(".repeat(200), ")".repeat(200)),
        REGEX,
        &expect![
            "the pattern is not a regular expression, at character 101, `((((((((((((((((((((((((((((((((((((((((`: exceed the maximum number of nested parentheses/brackets (100); correct it, or set `literal` to true to look for this very text"
        ],
    );
}

#[test]
fn gives_a_larger_pattern_smaller_pieces() {
    let effort = |text| Pattern::compile(text, REGEX).unwrap().effort();
    assert_eq!(effort(r"\bfn\s+\w+\s*\(\w+"), COMMON);
    assert_eq!(effort(r"\w{10}"), LARGE);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_suggested_can_be_used(text in r"[ab(){}\[\]*+?|.^$\\]{1,12}") {
        if let Err(error) = Pattern::compile(&text, REGEX)
            && let Some((_, rest)) = error.message().split_once("escape it, as in `")
            && let Some((suggested, _)) = rest.split_once("`, or set")
        {
            prop_assert!(Pattern::compile(suggested, REGEX).is_ok(), "{}", error.message());
            let escapes = |text: &str| text.matches('\\').count();
            prop_assert!(escapes(suggested) > escapes(&text));
        }
    }

    #[test]
    fn a_literal_pattern_finds_itself(text in "[^\u{0}\r\n]{1,40}") {
        let pattern = Pattern::compile(&text, LITERAL).unwrap();
        prop_assert_eq!(pattern.find(text.as_bytes(), 0), Some(0..text.len()));
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,40}", case in prop::sample::select(vec![Case::Smart, Case::Sensitive, Case::Insensitive]), literal: bool, multiline: bool) {
        let _ = Pattern::compile(&text, PatternOptions { case, literal, multiline });
    }
}
