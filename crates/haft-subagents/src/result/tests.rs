#![expect(clippy::needless_pass_by_value, reason = "a snapshot is written where it is used")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::ExpectedResult;
use crate::AgentSpec;
use expect_test::{Expect, expect};
use haft_core::{Message, Schema};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn expected(schema: Value) -> ExpectedResult {
    let spec = AgentSpec::new("a".parse().unwrap(), "Does it.").output(Schema::new(schema).unwrap());
    ExpectedResult::of(&spec).unwrap()
}

fn lister() -> ExpectedResult {
    expected(json!({
        "required": ["files"],
        "properties": { "files": { "type": "array", "items": { "type": "string" } }, "sure": { "type": "boolean" } },
        "additionalProperties": false,
    }))
}

/// Reads a text as the result of an agent that lists files.
fn check(text: &str, expect: Expect) {
    let said = match lister().read(text) {
        Ok(value) => value.unwrap().to_string(),
        Err(unfit) => format!("unfit: {unfit}"),
    };
    expect.assert_eq(&said);
}

#[test]
fn any_text_is_a_result_where_there_is_no_schema() {
    let spec = AgentSpec::new("a".parse().unwrap(), "Does it.");
    let expected = ExpectedResult::of(&spec).unwrap();
    assert_eq!((expected.read(""), expected.read("{"), expected.instructions()), (Ok(None), Ok(None), None));
}

#[test]
fn json_is_found_where_models_put_it() {
    check(r#"{ "files": ["a"] }"#, expect![[r#"{"files":["a"]}"#]]);
    check(
        "Here it is:\n\n```json\n{ \"files\": [\"a\"] }\n```\nThat is all.",
        expect![[r#"{"files":["a"]}"#]],
    );
    check("```\n{ \"files\": [\"a\"] }", expect![[r#"{"files":["a"]}"#]]);
    check("The result is {\"files\": []}, as asked.", expect![[r#"{"files":[]}"#]]);
    // The last block that fits counts, and one that does not is no answer.
    check(
        "First:\n```json\n{ \"files\": [\"a\"] }\n```\nNo:\n```json\n{ \"files\": [\"b\"] }\n```\n```sh\nls\n```",
        expect![[r#"{"files":["b"]}"#]],
    );
    check(
        "```json\n{ \"files\": [\"a\"] }\n```\n```json\n{ \"other\": 1 }\n```",
        expect![[r#"{"files":["a"]}"#]],
    );
}

#[test]
fn what_does_not_fit_is_told_with_its_places() {
    check(
        r#"{ "files": ["a", 7], "sure": "yes", "more": 1 }"#,
        expect![[
            r#"unfit: at `/files/1`: 7 is not a string; at `/sure`: "yes" is not a boolean; at the top: unknown property `more`; it takes `files` and `sure`"#
        ]],
    );
    check("{}", expect!["unfit: at the top: the property `files` is missing"]);
    check("[]", expect!["unfit: there is no JSON object in it"]);
    check("", expect!["unfit: there is no JSON object in it"]);
    check("I found nothing.", expect!["unfit: there is no JSON object in it"]);
    check(
        "{ \"files\": [\"a\", ] }",
        expect!["unfit: it is not valid JSON: trailing comma at line 1 column 18"],
    );
    check(
        "{ \"files\": [\"a\"",
        expect!["unfit: it is not valid JSON: EOF while parsing a list at line 1 column 15"],
    );
    check(
        &format!("{{ \"files\": {}{} }}", "[".repeat(300), "]".repeat(300)),
        expect!["unfit: it is not valid JSON: recursion limit exceeded at line 1 column 138"],
    );
    check(&"x".repeat(2_000_000), expect!["unfit: it is larger than 1048576 bytes; say less"]);
}

#[test]
fn what_is_told_is_bounded() {
    let wide = "x".repeat(50_000);
    let unfit = lister().read(&json!({ "files": [1, 2, 3], "sure": wide }).to_string()).unwrap_err();
    assert!(unfit.repair().chars().count() < 4_500);
    let many: Vec<u32> = (0..1_000).collect();
    let unfit = lister().read(&json!({ "files": many }).to_string()).unwrap_err();
    assert!(unfit.to_string().ends_with("and 988 more"), "{unfit}");
}

#[test]
fn a_result_is_asked_for_again_in_words_that_are_known_again() {
    let unfit = lister().read("{}").unwrap_err();
    expect![[r#"
        Your result does not fit the schema that is asked for: at the top: the property `files` is missing
        Say the whole result once more, corrected: by calling `report`, or as one JSON object alone."#]]
    .assert_eq(&unfit.repair());
    expect!["its result does not fit the schema that it has, though it was asked twice: at the top: the property `files` is missing; use what it said last, or delegate the task anew"].assert_eq(&unfit.reason());
    let messages =
        |texts: &[&str]| texts.iter().map(|text| Arc::new(Message::user(*text))).collect::<Vec<_>>();
    let repair = unfit.repair();
    assert!(ExpectedResult::was_asked_again(&messages(&["List them.", &repair])));
    assert!(!ExpectedResult::was_asked_again(&messages(&[&repair, "List them all."])));
    assert!(!ExpectedResult::was_asked_again(&[]));
}

#[test]
fn an_agent_is_told_of_its_schema() {
    expect![[r#"
        When you are done, call `report` with your result, or say it as your last message: one JSON object that fits this schema, and nothing else.
        {"properties":{"a":{}},"type":"object"}"#]].assert_eq(&expected(json!({ "properties": { "a": {} } })).instructions().unwrap());
}

#[test]
fn a_schema_that_cannot_be_used_is_refused() {
    let schema = Schema::new(json!({ "properties": { "a": { "type": "strange" } } })).unwrap();
    let spec = AgentSpec::new("a".parse().unwrap(), "Does it.").output(schema);
    expect![[r#"the output schema of the agent `a` cannot be used: at `/properties/a/type`: "strange" is not valid under any of the schemas listed in the 'anyOf' keyword"#]].assert_eq(&ExpectedResult::of(&spec).unwrap_err().to_string());
}

proptest! {
    #[test]
    fn a_result_that_fits_is_found_in_any_fence(
        files in prop::collection::vec("[ -~]{0,8}", 0..4),
        before in "[a-z \n]{0,20}",
        pretty: bool,
    ) {
        let value = json!({ "files": files });
        let written = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let text = format!("{before}\n```json\n{written}\n```\n");
        prop_assert_eq!(lister().read(&text).unwrap(), Some(value));
    }

    #[test]
    fn no_text_makes_it_panic(text in "([{}`\n\"\\[\\]a:,]|```|json|é){0,40}") {
        let _ = lister().read(&text);
    }
}
