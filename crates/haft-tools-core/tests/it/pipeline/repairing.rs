use super::edit;
use crate::fixture::{Probe, outline, permissive, reply};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// Calls a tool of this schema that answers with its arguments.
async fn check(schema: Value, input: Value, expect: Expect) {
    let executor = permissive([Probe::new("edit").schema(schema)]).build();
    expect.assert_eq(&outline(&reply(&executor, "edit", input).await));
}

fn property(schema: Value) -> Value {
    json!({ "properties": { "a": schema }, "additionalProperties": false })
}

#[tokio::test]
async fn what_was_sent_as_a_string_is_taken_as_what_it_spells() {
    let a = |input: &str| json!({ "a": input });
    check(
        property(json!({ "type": "integer" })),
        a("5"),
        expect![[r#"
        ok
        {"a":5}
        [the arguments were changed: /a: took a string as the value it spells ("5" → 5)]"#]],
    )
    .await;
    check(
        property(json!({ "type": "integer" })),
        a(" -5\n"),
        expect![[r#"
        ok
        {"a":-5}
        [the arguments were changed: /a: took a string as the value it spells (" -5\n" → -5)]"#]],
    )
    .await;
    check(
        property(json!({ "type": "number" })),
        a("0.5"),
        expect![[r#"
        ok
        {"a":0.5}
        [the arguments were changed: /a: took a string as the value it spells ("0.5" → 0.5)]"#]],
    )
    .await;
    check(
        property(json!({ "type": "boolean" })),
        a("true"),
        expect![[r#"
        ok
        {"a":true}
        [the arguments were changed: /a: took a string as the value it spells ("true" → true)]"#]],
    )
    .await;
    check(
        property(json!({ "type": ["integer", "null"] })),
        a("null"),
        expect![[r#"
        ok
        {"a":null}
        [the arguments were changed: /a: took a string as the value it spells ("null" → null)]"#]],
    )
    .await;
    check(
        property(json!({ "type": "array" })),
        a("[1, \"b\"]"),
        expect![[r#"
        ok
        {"a":[1,"b"]}
        [the arguments were changed: /a: decoded JSON that was sent as a string ("[1, \"b\"]" → [1,"b"])]"#]],
    )
    .await;
    check(
        property(json!({ "type": "object" })),
        a("{\"b\": 1}"),
        expect![[r#"
        ok
        {"a":{"b":1}}
        [the arguments were changed: /a: decoded JSON that was sent as a string ("{\"b\": 1}" → {"b":1})]"#]],
    )
    .await;
    check(
        property(json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] })),
        a("5"),
        expect![[r#"
        ok
        {"a":5}
        [the arguments were changed: /a: took a string as the value it spells ("5" → 5)]"#]],
    )
    .await;
}

#[tokio::test]
async fn null_is_taken_as_absent_and_one_thing_as_a_list_of_it() {
    check(
        property(json!({ "type": "integer" })),
        json!({ "a": null }),
        expect![[r#"
            ok
            {}"#]],
    )
    .await;
    check(
        property(json!({ "enum": ["b", "c"] })),
        json!({ "a": null }),
        expect![[r#"
            ok
            {}"#]],
    )
    .await;
    check(
        property(json!({ "type": "array", "items": { "type": "string" } })),
        json!({ "a": "b" }),
        expect![[r#"
            ok
            {"a":["b"]}
            [the arguments were changed: /a: took a single value as a list of one ("b" → ["b"])]"#]],
    )
    .await;
    check(
        property(json!({ "type": "array", "items": { "type": "object" } })),
        json!({ "a": { "b": 1 } }),
        expect![[r#"
            ok
            {"a":[{"b":1}]}
            [the arguments were changed: /a: took a single value as a list of one ({"b":1} → [{"b":1}])]"#]],
    )
    .await;
    check(
        json!({ "properties": { "a/b~": { "type": "integer" } } }),
        json!({ "a/b~": null }),
        expect![[r#"
            ok
            {}"#]],
    )
    .await;
}

#[tokio::test]
async fn arguments_that_are_not_an_object_are_taken_as_one_where_they_can_be() {
    check(edit(), json!("{\"path\": \"b\"}"), expect![[r#"
        ok
        {"path":"b"}
        [the arguments were changed: the whole: decoded JSON that was sent as a string ("{\"path\": \"b\"}" → {"path":"b"})]"#]]).await;
    check(
        json!({}),
        json!(null),
        expect![[r#"
        ok
        {}
        [the arguments were changed: the whole: took null as no arguments (null → {})]"#]],
    )
    .await;
    check(
        json!({}),
        json!(" \n"),
        expect![[r#"
        ok
        {}
        [the arguments were changed: the whole: took an empty text as no arguments (" \n" → {})]"#]],
    )
    .await;
    check(
        edit(),
        json!(null),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: null is not an object
        correct them and call the tool again"#]],
    )
    .await;
}

#[tokio::test]
async fn repairs_combine_and_reach_as_deep_as_the_arguments() {
    let input = json!({
        "path": "b",
        "line": "3",
        "mode": null,
        "marks": "[{\"name\": \"m\", \"column\": \"4\"}, {\"name\": \"n\"}]",
    });
    check(edit(), input, expect![[r#"
        ok
        {"line":3,"marks":[{"column":4,"name":"m"},{"name":"n"}],"path":"b"}
        [the arguments were changed: /line: took a string as the value it spells ("3" → 3); /marks: decoded JSON that was sent as a string ("[{\"name\": \"m\", \"column\": \"4\"}, {\"name\": \"n\"}]" → [{"column":"4","name":"m"},{"name":"n"}]); /marks/0/column: took a string as the value it spells ("4" → 4)]"#]]).await;
    // JSON in JSON in JSON: each round decodes one layer.
    let marks = json!([{ "name": "m", "column": "4" }]).to_string();
    let whole = json!({ "path": "b", "marks": marks }).to_string();
    check(edit(), json!(whole), expect![[r#"
        ok
        {"marks":[{"column":4,"name":"m"}],"path":"b"}
        [the arguments were changed: the whole: decoded JSON that was sent as a string ("{\"marks\":\"[{\\\"column\\\":\\\"4\\\",\\\"name\\\":\\\"m\\\"}]\",\"path\":\"b… → {"marks":"[{\"column\":\"4\",\"name\":\"m\"}]","path":"b"}); /marks: decoded JSON that was sent as a string ("[{\"column\":\"4\",\"name\":\"m\"}]" → [{"column":"4","name":"m"}]); /marks/0/column: took a string as the value it spells ("4" → 4)]"#]]).await;
    check(edit(), json!({ "path": "b", "marks": { "name": "m", "column": "4" } }), expect![[r#"
        ok
        {"marks":[{"column":4,"name":"m"}],"path":"b"}
        [the arguments were changed: /marks: took a single value as a list of one ({"column":"4","name":"m"} → [{"column":"4","name":"m"}]); /marks/0/column: took a string as the value it spells ("4" → 4)]"#]]).await;
    check(
        property(json!({ "type": "array", "items": { "type": "integer" } })),
        json!({ "a": "5" }),
        expect![[r#"
            ok
            {"a":[5]}
            [the arguments were changed: /a: took a single value as a list of one ("5" → ["5"]); /a/0: took a string as the value it spells ("5" → 5)]"#]],
    )
    .await;
}

#[tokio::test]
async fn an_alternative_that_was_not_meant_is_not_repaired() {
    let schema = property(json!({ "oneOf": [
        {
            "type": "object",
            "properties": { "op": { "const": "insert" }, "text": { "type": "array", "items": { "type": "string" } } },
            "required": ["op", "text"],
        },
        {
            "type": "object",
            "properties": { "op": { "const": "replace" }, "text": { "type": "string" }, "line": { "type": "integer" } },
            "required": ["op", "text", "line"],
        },
    ] }));
    check(
        schema.clone(),
        json!({ "a": { "op": "replace", "text": "b", "line": "5" } }),
        expect![[r#"
        ok
        {"a":{"line":5,"op":"replace","text":"b"}}
        [the arguments were changed: /a/line: took a string as the value it spells ("5" → 5)]"#]],
    )
    .await;
    check(
        schema,
        json!({ "a": { "op": "insert", "text": "b" } }),
        expect![[r#"
        ok
        {"a":{"op":"insert","text":["b"]}}
        [the arguments were changed: /a/text: took a single value as a list of one ("b" → ["b"])]"#]],
    )
    .await;
}

#[tokio::test]
async fn what_a_repair_does_not_make_whole_is_refused_as_it_was_sent() {
    check(
        edit(),
        json!({ "line": "3" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/line`: "3" is not an integer
        - at the top: the property `path` is missing
        correct them and call the tool again"#]],
    )
    .await;
    check(
        edit(),
        json!({ "path": null }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/path`: null is not a string
        correct them and call the tool again"#]],
    )
    .await;
    check(
        property(json!({ "type": "integer" })),
        json!({ "a": "five" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a`: "five" is not an integer
        correct them and call the tool again"#]],
    )
    .await;
    check(
        property(json!({ "type": "integer", "maximum": 3 })),
        json!({ "a": "5" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a`: "5" is not an integer
        correct them and call the tool again"#]],
    )
    .await;
    check(
        property(json!({ "type": "array", "items": { "type": "integer" } })),
        json!({ "a": [null] }),
        expect![[r#"
            error: invalid input
            the arguments do not fit `edit`:
            - at `/a/0`: null is not an integer
            correct them and call the tool again"#]],
    )
    .await;
    check(
        property(json!({ "type": "string" })),
        json!({ "a": 5 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a`: 5 is not a string
        correct them and call the tool again"#]],
    )
    .await;
    check(
        property(json!({ "oneOf": [{ "type": "string" }, { "minLength": 1 }] })),
        json!({ "a": "5" }),
        expect![[r#"
            error: invalid input
            the arguments do not fit `edit`:
            - at `/a`: "5" can be read in more than one of the allowed ways
            correct them and call the tool again"#]],
    )
    .await;
}

#[tokio::test]
async fn a_number_that_would_lose_digits_is_not_taken_from_a_string() {
    check(
        property(json!({ "type": "number" })),
        json!({ "a": "12345678901234567890123" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a`: "12345678901234567890123" is not a number
        correct them and call the tool again"#]],
    )
    .await;
    check(property(json!({ "type": "integer" })), json!({ "a": "18446744073709551615" }), expect![[r#"
        ok
        {"a":18446744073709551615}
        [the arguments were changed: /a: took a string as the value it spells ("18446744073709551615" → 18446744073709551615)]"#]]).await;
    check(
        property(json!({ "type": "integer" })),
        json!({ "a": "1e999" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a`: "1e999" is not an integer
        correct them and call the tool again"#]],
    )
    .await;
}
