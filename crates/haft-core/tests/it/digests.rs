use crate::strategies;
use expect_test::expect;
use haft_core::{Digest, DigestError, Exposure, Origin, Schema, ToolHints, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;

fn digest(text: &str) -> Digest {
    Digest::of(&serde_json::from_str(text).unwrap())
}

#[test]
fn stays_what_it_is() {
    let texts = ["null", "{}", r#"{"path":"src/lib.rs","limit":5}"#, r#"[true,1.5,-7,"ü"]"#];
    let lines: Vec<_> = texts.iter().map(|text| format!("{} {text}", digest(text))).collect();
    expect![[r#"
        1b16b1df538ba12dc3f97edbb85caa7050d46c148134290feba80f8236c83db9 null
        5a3590fbe3ffbfe0a65167de3111dcd0cde5e8025d0fc5db3aec6ee0f4cedcfb {}
        7d4efe23749fa59db15c2aa59d3871553ee1dd7da540f2eee051626145c53f9a {"path":"src/lib.rs","limit":5}
        29107f4d7cbd0435ff864be164fbb06b3f2c2d0bf30246fc30f467089239620a [true,1.5,-7,"ü"]
    "#]]
    .assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn is_the_same_in_any_order_and_layout() {
    let written = [
        r#"{"a":{"x":1,"y":[{"p":1,"q":2}]},"b":"t"}"#,
        r#"{"b":"\u0074","a":{"y":[{"q":2,"p":1}],"x":1}}"#,
        "{ \"b\": \"t\",\n \"a\": { \"y\": [ {\"q\":2,\"p\":1} ], \"x\": 1 } }",
    ];
    for text in written {
        assert_eq!(digest(text), digest(written[0]), "{text}");
    }
}

#[test]
fn differs_for_what_nearly_is_the_same() {
    let texts = [
        "null",
        "false",
        "true",
        "0",
        "0.0",
        "-0.0",
        "1",
        "1.0",
        "10",
        "1e300",
        "-1",
        "\"\"",
        "\"1\"",
        "\"null\"",
        "\"true\"",
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "[null]",
        "[1,23]",
        "[12,3]",
        "[123]",
        "[1,2,3]",
        "[[1],23]",
        "[[1,23]]",
        "[\"a\",\"b\"]",
        "[\"ab\"]",
        "[\"a\\\",\\\"b\"]",
        "[\"a\",[\"b\"]]",
        "[[\"a\"],\"b\"]",
        "[\"b\",\"a\"]",
        "{\"a\":\"b\"}",
        "{\"ab\":\"\"}",
        "{\"\":\"ab\"}",
        "{\"a\":null}",
        "{\"\":null}",
        "{\"a\":{}}",
        "{\"a\":[]}",
        "{\"a\":1,\"b\":2}",
        "{\"a\":2,\"b\":1}",
        "{\"a\":{\"b\":2}}",
        "{\"a\":[1],\"b\":2}",
        "{\"a\":{\"a\":1},\"b\":2}",
        "{\"a\":{\"a\":1,\"b\":2}}",
        "\"e\u{301}\"",
        "\"\u{e9}\"",
        "\"a\\u0000\"",
        "\"a\"",
    ];
    let mut seen: HashMap<Digest, &str> = HashMap::new();
    for text in texts {
        if let Some(other) = seen.insert(digest(text), text) {
            panic!("{other} and {text} have one digest");
        }
    }
}

#[test]
fn reads_only_64_hexadecimal_digits() {
    let digits = digest("null").to_string();
    assert_eq!(digits.to_uppercase().parse(), Ok(digest("null")));
    let signed = format!("+{}", &digits[1..]);
    let wide = "ü".repeat(32);
    for text in ["", "12", &digits[1..], &format!("{digits}0"), &format!(" {}", &digits[1..]), &signed, &wide]
    {
        assert_eq!(text.parse::<Digest>(), Err(DigestError), "{text}");
    }
    expect!["a digest is written as 64 hexadecimal digits"].assert_eq(&DigestError.to_string());
}

#[test]
fn changes_with_whatever_the_model_sees_of_a_tool() {
    let schema = |name: &str| Schema::new(json!({ "properties": { name: {} } })).unwrap();
    let spec = || ToolSpec::new("a".parse().unwrap(), "Does it.", schema("x"));
    let seen = [
        spec(),
        spec().renamed("b".parse().unwrap()),
        ToolSpec::new("a".parse().unwrap(), "Does it!", schema("x")),
        ToolSpec::new("a".parse().unwrap(), "Does it.", schema("y")),
        spec().with_title("A"),
        spec().with_output_schema(schema("x")),
        spec().with_hints(ToolHints { read_only: true, ..ToolHints::default() }),
        spec().with_hints(ToolHints { destructive: true, ..ToolHints::default() }),
        spec().with_hints(ToolHints { idempotent: true, ..ToolHints::default() }),
        spec().with_hints(ToolHints { open_world: true, ..ToolHints::default() }),
        spec().with_hints(ToolHints { streaming: true, ..ToolHints::default() }),
        spec().with_origin(Origin::Builtin),
        spec().with_origin(Origin::Mcp { server: "a/b".into(), tool: "c".into() }),
        spec().with_origin(Origin::Mcp { server: "a".into(), tool: "b/c".into() }),
    ];
    for (number, one) in seen.iter().enumerate() {
        for other in &seen[..number] {
            assert_ne!(one.version(), other.version(), "{one:?} and {other:?}");
        }
    }
    let unseen = spec().with_exposure(Exposure::Hidden).explicit_only();
    assert_eq!(unseen.version(), spec().version());
}

/// Puts the members of every object in the opposite order, as far as the map keeps an order.
fn turned(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(turned).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().rev().map(|(key, member)| (key.clone(), turned(member))).collect())
        }
        leaf => leaf.clone(),
    }
}

proptest! {
    /// Two values have one digest when they are written alike, and only then.
    #[test]
    fn tells_values_apart(one in strategies::json_value(), other in strategies::json_value()) {
        let written = [&one, &other].map(Value::to_string);
        prop_assert_eq!(Digest::of(&one) == Digest::of(&other), written[0] == written[1]);
    }

    /// The order of members does not count.
    #[test]
    fn does_not_see_the_order(value in strategies::json_value()) {
        prop_assert_eq!(Digest::of(&turned(&value)), Digest::of(&value));
    }

    /// A value that was stored and read back has the digest it had.
    #[test]
    fn survives_the_store(value in strategies::json_value()) {
        let read: Value = serde_json::from_str(&value.to_string()).unwrap();
        prop_assert_eq!(Digest::of(&read), Digest::of(&value));
    }

    /// A digest reads as what it was written as.
    #[test]
    fn reads_its_own_digits(value in strategies::json_value()) {
        let digest = Digest::of(&value);
        prop_assert_eq!(digest.to_string().parse(), Ok(digest));
        let shown = format!("{digest:?}");
        prop_assert!(digest.to_string().starts_with(&shown[7..15]));
    }

    /// No text makes reading a digest panic, and what reads is the text.
    #[test]
    fn reads_any_text(text in prop_oneof![any::<String>(), "[0-9a-fA-F+é]{62,66}"]) {
        if let Ok(digest) = text.parse::<Digest>() {
            prop_assert_eq!(digest.to_string(), text.to_lowercase());
        }
    }
}
