use super::{check, edit};
use expect_test::expect;
use serde_json::json;

#[tokio::test]
async fn what_is_not_json_is_answered_with_where_it_breaks() {
    check(edit(), json!("{\"path\": \"a\""), expect![[r#"
        error: invalid input
        the arguments of `edit` are not valid JSON: EOF while parsing an object at line 1 column 12; send them again as one JSON object"#]]).await;
    check(edit(), json!("path=a"), expect![[r#"
        error: invalid input
        the arguments of `edit` are not valid JSON: expected value at line 1 column 1; send them again as one JSON object"#]]).await;
    check(edit(), json!(""), expect![[r#"
        error: invalid input
        the arguments of `edit` are not valid JSON: EOF while parsing a value at line 1 column 0; send them again as one JSON object"#]]).await;
    check(edit(), json!("{'path': 'a'}"), expect![[r#"
        error: invalid input
        the arguments of `edit` are not valid JSON: key must be a string at line 1 column 2; send them again as one JSON object"#]]).await;
    // Half of a character that takes two, which is no text in any encoding.
    check(edit(), json!(r#"{"path": "\ud83d"}"#), expect![[r#"
        error: invalid input
        the arguments of `edit` are not valid JSON: unexpected end of hex escape at line 1 column 17; send them again as one JSON object"#]]).await;
}

#[tokio::test]
async fn what_is_not_an_object_is_refused() {
    check(
        edit(),
        json!([1, 2]),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: [1,2] is not an object
        correct them and call the tool again"#]],
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
    check(
        edit(),
        json!("5"),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: "5" is not an object
        correct them and call the tool again"#]],
    )
    .await;
    check(
        edit(),
        json!("{\"path\": \"a\"}"),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: "{\"path\": \"a\"}" is not an object
        correct them and call the tool again"#]],
    )
    .await;
}

#[tokio::test]
async fn every_violation_is_named_with_its_place() {
    let everything = json!({
        "path": 5,
        "line": 0,
        "mode": "inset",
        "marks": [{ "name": "a" }, { "column": "x" }, { "nme": "b", "column": 1.5 }],
    });
    check(
        edit(),
        everything,
        expect![[r#"
            error: invalid input
            the arguments do not fit `edit`:
            - at `/line`: 0 is less than the minimum of 1
            - at `/marks/1/column`: "x" is not an integer or null
            - at `/marks/1`: the property `name` is missing
            - at `/marks/2/column`: 1.5 is not an integer or null
            - at `/marks/2`: unknown property `nme`; did you mean `name`?
            - at `/marks/2`: the property `name` is missing
            - at `/mode`: "inset" is not "insert" or "replace"
            - at `/path`: 5 is not a string
            correct them and call the tool again"#]],
    )
    .await;
}

#[tokio::test]
async fn unknown_properties_are_answered_with_the_nearest_that_is_free() {
    check(
        edit(),
        json!({ "pth": "a" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: unknown property `pth`; did you mean `path`?
        - at the top: the property `path` is missing
        correct them and call the tool again"#]],
    )
    .await;
    check(
        edit(),
        json!({ "path": "a", "Path": "b" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: unknown property `Path`; it takes `line`, `marks`, `mode` and `path`
        correct them and call the tool again"#]],
    )
    .await;
    check(
        edit(),
        json!({ "path": "a", "frobnicate": true, "lines": 3 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: unknown property `frobnicate`; it takes `line`, `marks`, `mode` and `path`
        - at the top: unknown property `lines`; did you mean `line`?
        correct them and call the tool again"#]],
    )
    .await;
    check(
        edit(),
        json!({ "path": "a", "marks": [{ "name": "b", "colum": 1 }] }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/marks/0`: unknown property `colum`; did you mean `column`?
        correct them and call the tool again"#]],
    )
    .await;
    check(
        json!({ "additionalProperties": false }),
        json!({ "a": 1, "b": 2 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: unknown property `a`; it takes none
        - at the top: unknown property `b`; it takes none
        correct them and call the tool again"#]],
    )
    .await;
    check(
        json!({ "properties": {}, "additionalProperties": false }),
        json!({ "a": 1 }),
        expect![[r#"
            error: invalid input
            the arguments do not fit `edit`:
            - at the top: unknown property `a`; it takes none
            correct them and call the tool again"#]],
    )
    .await;
    let many: serde_json::Map<_, _> = (10..30).map(|number| (format!("p{number}"), json!({}))).collect();
    check(
        json!({ "properties": many, "additionalProperties": false }),
        json!({ "frobnicate": 1 }),
        expect![[r#"
            error: invalid input
            the arguments do not fit `edit`:
            - at the top: unknown property `frobnicate`; it takes `p10`, `p11`, `p12`, `p13`, `p14`, `p15`, `p16`, `p17`, `p18`, `p19`, `p20`, `p21` and 8 more
            correct them and call the tool again"#]],
    )
    .await;
    let patterned = json!({ "patternProperties": { "^x-": {} }, "additionalProperties": false });
    check(
        patterned,
        json!({ "a": 1 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: unknown property `a`
        correct them and call the tool again"#]],
    )
    .await;
}

#[tokio::test]
async fn properties_of_combined_schemas_are_known_too() {
    let combined = json!({
        "allOf": [{ "$ref": "#/$defs/place" }],
        "properties": { "text": {} },
        "unevaluatedProperties": false,
        "$defs": { "place": { "properties": { "line": {}, "column": {} } } },
    });
    check(
        combined.clone(),
        json!({ "colum": 1 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: unknown property `colum`; did you mean `column`?
        correct them and call the tool again"#]],
    )
    .await;
    check(
        combined,
        json!({ "frobnicate": 1 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: unknown property `frobnicate`; it takes `text`, `column` and `line`
        correct them and call the tool again"#]],
    )
    .await;
}
