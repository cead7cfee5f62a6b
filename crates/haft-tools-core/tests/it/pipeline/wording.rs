use super::check;
use crate::fixture::{Probe, permissive, reply};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

#[tokio::test]
async fn an_alternative_is_described_by_the_one_that_was_meant() {
    let option = json!({ "properties": { "at": { "anyOf": [{ "$ref": "#/$defs/at" }, { "type": "null" }] } }, "$defs": {
        "at": { "type": "object", "properties": { "line": { "type": "integer" } }, "required": ["line"], "additionalProperties": false },
    } });
    check(
        option.clone(),
        json!({ "at": { "lin": 1 } }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/at`: unknown property `lin`; did you mean `line`?
        - at `/at`: the property `line` is missing
        correct them and call the tool again"#]],
    )
    .await;
    check(
        option,
        json!({ "at": "top" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/at`: "top" is not an object or null
        correct them and call the tool again"#]],
    )
    .await;
    let scalar = json!({ "properties": { "id": { "anyOf": [{ "type": "integer" }, { "type": "string", "pattern": "^#" }] } } });
    check(
        scalar.clone(),
        json!({ "id": "7a" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/id`: "7a" does not match "^#"
        correct them and call the tool again"#]],
    )
    .await;
    check(
        scalar,
        json!({ "id": [7] }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/id`: [7] is not an integer or a string
        correct them and call the tool again"#]],
    )
    .await;
    let units = json!({ "properties": { "mode": { "oneOf": [{ "const": "fast" }, { "const": "slow" }] } } });
    check(
        units,
        json!({ "mode": "medium" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/mode`: "medium" is not "fast" or "slow"
        correct them and call the tool again"#]],
    )
    .await;
}

#[tokio::test]
async fn an_alternative_with_a_tag_is_described_by_its_tag() {
    let insert = json!({
        "type": "object",
        "properties": { "op": { "const": "insert" }, "line": { "type": "integer" } },
        "required": ["op", "line"],
    });
    let delete = json!({
        "type": "object",
        "properties": { "op": { "const": "delete" }, "from": { "type": "integer" }, "to": { "type": "integer" } },
        "required": ["op", "from", "to"],
    });
    let schema = json!({ "properties": { "edit": { "oneOf": [insert, delete] } } });
    let check =
        async |edit: Value, expect: Expect| check(schema.clone(), json!({ "edit": edit }), expect).await;
    check(
        json!({ "op": "delete", "from": "a" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/edit`: the property `to` is missing
        - at `/edit/from`: "a" is not an integer
        correct them and call the tool again"#]],
    )
    .await;
    check(
        json!({ "op": "insert", "line": "a" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/edit/line`: "a" is not an integer
        correct them and call the tool again"#]],
    )
    .await;
    check(
        json!({ "op": "replace", "line": 1 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/edit/op`: "replace" is not "insert" or "delete"
        correct them and call the tool again"#]],
    )
    .await;
    check(
        json!({ "line": 1 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/edit`: the property `op` is missing
        correct them and call the tool again"#]],
    )
    .await;
    check(
        json!("delete"),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/edit`: "delete" is not an object
        correct them and call the tool again"#]],
    )
    .await;
}

#[tokio::test]
async fn each_keyword_is_put_into_words() {
    let check = async |schema: Value, input: Value, expect: Expect| {
        let executor = permissive([Probe::new("t").schema(json!({ "properties": { "a": schema } }))]).build();
        let text = reply(&executor, "t", json!({ "a": input })).await.output.to_text();
        let said: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        expect.assert_eq(&said.join("\n").replace("at `/a`: ", ""));
    };
    check(json!({ "const": "x" }), json!("y"), expect![[r#""y" is not "x""#]]).await;
    check(
        json!({ "enum": ["celsius", "kelvin", "fahrenheit", "rankine"] }),
        json!("celcius"),
        expect![[r#""celcius" is not "celsius", "kelvin", "fahrenheit" or "rankine""#]],
    )
    .await;
    check(
        json!({ "enum": (0..40).collect::<Vec<_>>() }),
        json!(41),
        expect!["41 is not 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 or one of 28 others"],
    )
    .await;
    check(json!({ "pattern": "^[a-z]+$" }), json!("A"), expect![[r#""A" does not match "^[a-z]+$""#]]).await;
    check(
        json!({ "minLength": 2, "maxLength": 1 }),
        json!(""),
        expect![[r#""" is shorter than 2 characters"#]],
    )
    .await;
    check(
        json!({ "maxItems": 1, "uniqueItems": true }),
        json!([1, 1]),
        expect![[r#"
        [1,1] has more than 1 item
        [1,1] has non-unique elements"#]],
    )
    .await;
    check(
        json!({ "contains": { "type": "string" } }),
        json!([1]),
        expect!["[1] lacks an item of the form it must have"],
    )
    .await;
    check(
        json!({ "prefixItems": [{}], "items": false }),
        json!([1, 2]),
        expect!["at `/a/1`: no value is allowed here"],
    )
    .await;
    check(
        json!({ "multipleOf": 3, "exclusiveMaximum": 4 }),
        json!(4),
        expect![[r#"
        4 is greater than or equal to the maximum of 4
        4 is not a multiple of 3"#]],
    )
    .await;
    check(
        json!({ "not": { "type": "string" } }),
        json!("x"),
        expect![[r#""x" is of a form that is ruled out"#]],
    )
    .await;
    check(json!(false), json!("x"), expect!["no value is allowed here"]).await;
    check(
        json!({ "propertyNames": { "pattern": "^[a-z]+$" } }),
        json!({ "A b": 1 }),
        expect![[r#"the property name "A b" is not allowed: it does not match "^[a-z]+$""#]],
    )
    .await;
    check(
        json!({ "maxProperties": 0 }),
        json!({ "b": 1 }),
        expect![[r#"{"b":1} has more than 0 properties"#]],
    )
    .await;
    check(
        json!({ "dependentRequired": { "b": ["c"] } }),
        json!({ "b": 1 }),
        expect!["the property `c` is missing"],
    )
    .await;
    check(
        json!({ "oneOf": [{ "type": "integer" }, { "minimum": 2 }] }),
        json!(3),
        expect!["3 can be read in more than one of the allowed ways"],
    )
    .await;
    check(
        json!({ "type": ["integer", "boolean", "null"] }),
        json!("x"),
        expect![[r#""x" is not a boolean, an integer or null"#]],
    )
    .await;
    check(json!({ "pattern": "^(?:(a|a)*)*\\1b$" }), json!("a".repeat(60)), expect![[r#""aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" takes too long to compare with its pattern"#]]).await;
}
