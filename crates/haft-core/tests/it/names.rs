use expect_test::{Expect, expect};
use haft_core::{CallId, RunId, ToolName};
use proptest::prelude::*;
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Debug;
use std::str::FromStr;

/// Parses a text and shows what became of it.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check<T: FromStr<Err: Error> + Debug>(text: &str, expected: Expect) {
    let shown = match text.parse::<T>() {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn takes_tool_names() {
    check::<ToolName>("read_file", expect![[r#"ToolName("read_file")"#]]);
    check::<ToolName>("-", expect![[r#"ToolName("-")"#]]);
    assert!("x".repeat(64).parse::<ToolName>().is_ok());
}

#[test]
fn says_what_is_wrong_with_a_tool_name() {
    check::<ToolName>("", expect!["a tool name cannot be empty"]);
    check::<ToolName>(
        "read file",
        expect![[r#"the tool name "read file" holds ' '; use letters, digits, `_` and `-` only"#]],
    );
    check::<ToolName>(
        "naïve",
        expect![[r#"the tool name "naïve" holds 'ï'; use letters, digits, `_` and `-` only"#]],
    );
    check::<ToolName>(
        "a\n\u{1b}[2J",
        expect![[r#"the tool name "a\n\u{1b}[2J" holds '\n'; use letters, digits, `_` and `-` only"#]],
    );
    check::<ToolName>(
        &"x".repeat(65),
        expect![
            "the tool name `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` has 65 characters; at most 64 are allowed"
        ],
    );
    check::<ToolName>(
        &format!("{}é", "x".repeat(500)),
        expect![[
            r#"the tool name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" holds 'é'; use letters, digits, `_` and `-` only"#
        ]],
    );
}

#[test]
fn takes_ids() {
    check::<CallId>("toolu_01A", expect![[r#"CallId("toolu_01A")"#]]);
    check::<RunId>("über \"run\" 7", expect![[r#"RunId("über \"run\" 7")"#]]);
    assert!("x".repeat(256).parse::<CallId>().is_ok());
}

#[test]
fn says_what_is_wrong_with_an_id() {
    check::<CallId>("", expect!["an identifier cannot be empty"]);
    check::<RunId>("", expect!["an identifier cannot be empty"]);
    check::<CallId>(&"x".repeat(257), expect!["an identifier has at most 256 bytes, not 257"]);
    check::<CallId>(&"ü".repeat(129), expect!["an identifier has at most 256 bytes, not 258"]);
    check::<CallId>("a\nb", expect![[r#"an identifier cannot hold the control character '\n'"#]]);
    check::<CallId>("\u{7f}", expect![[r#"an identifier cannot hold the control character '\u{7f}'"#]]);
    check::<RunId>("\u{85}", expect![[r#"an identifier cannot hold the control character '\u{85}'"#]]);
}

#[test]
fn are_found_by_their_text() {
    let name: ToolName = "read_file".parse().unwrap();
    let map = HashMap::from([(name, 7)]);
    assert_eq!(map.get("read_file"), Some(&7));
}

proptest! {
    /// A name is what parses, and it is the text it was parsed from.
    #[test]
    fn parses_names_by_the_rule(text in prop_oneof![any::<String>(), "[A-Za-z0-9_-]{0,70}"]) {
        let is_name = (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        match text.parse::<ToolName>() {
            Ok(name) => prop_assert!(is_name && name.as_str() == text && name.to_string() == text),
            Err(error) => prop_assert!(!is_name && error.to_string().chars().count() < 800),
        }
    }

    /// An id is what parses, and it is the text it was parsed from.
    #[test]
    fn parses_ids_by_the_rule(text in prop_oneof![any::<String>(), "\\PC{0,260}"]) {
        let is_id = (1..=256).contains(&text.len()) && !text.contains(char::is_control);
        match text.parse::<CallId>() {
            Ok(id) => prop_assert!(is_id && id.as_str() == text && id.to_string() == text),
            Err(_) => prop_assert!(!is_id),
        }
    }
}
