use expect_test::{Expect, expect};
use haft_core::Schema;
use serde_json::{Value, json};

/// Takes a schema and shows what became of it.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(schema: Value, expected: Expect) {
    let read = serde_json::from_value::<Schema>(schema.clone()).map_err(|error| error.to_string());
    let made = Schema::new(schema).map_err(|error| error.to_string());
    assert_eq!(read, made, "reading a schema checks it as making one does");
    expected.assert_eq(&made.map_or_else(|error| error, |schema| schema.as_value().to_string()));
}

#[test]
fn takes_schemas_of_objects() {
    check(json!({ "type": "object" }), expect![[r#"{"type":"object"}"#]]);
    check(json!({ "properties": {}, "type": "object" }), expect![[r#"{"properties":{},"type":"object"}"#]]);
    assert_eq!(Schema::new(Schema::empty().as_value().clone()), Ok(Schema::empty()));
}

#[test]
fn fills_in_the_type() {
    check(json!({}), expect![[r#"{"type":"object"}"#]]);
    check(json!({ "$ref": "#/$defs/a" }), expect![[r##"{"$ref":"#/$defs/a","type":"object"}"##]]);
}

#[test]
fn refuses_what_is_no_object() {
    check(json!(null), expect!["a schema must be a JSON object, not null"]);
    check(json!(true), expect!["a schema must be a JSON object, not a boolean"]);
    check(json!(1), expect!["a schema must be a JSON object, not a number"]);
    check(json!("object"), expect!["a schema must be a JSON object, not a string"]);
    check(json!([]), expect!["a schema must be a JSON object, not an array"]);
}

#[test]
fn refuses_schemas_of_anything_else() {
    check(
        json!({ "type": "string" }),
        expect![[r#"the top level of a schema must have the type `object`, not "string""#]],
    );
    check(
        json!({ "type": ["object"] }),
        expect![[r#"the top level of a schema must have the type `object`, not ["object"]"#]],
    );
    check(
        json!({ "type": ["object", "null"] }),
        expect![[r#"the top level of a schema must have the type `object`, not ["object","null"]"#]],
    );
    check(
        json!({ "type": null }),
        expect!["the top level of a schema must have the type `object`, not null"],
    );
    check(
        json!({ "type": "Object" }),
        expect![[r#"the top level of a schema must have the type `object`, not "Object""#]],
    );
}
