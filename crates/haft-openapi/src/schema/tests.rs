use crate::{Document, LoadOptions};
use expect_test::{Expect, expect};
use haft_tools_core::CompiledSchema;
use serde_json::{Value, json};
use std::fmt::Write as _;

fn document(version: &str, body: &Value, schemas: &Value) -> Document {
    let value = json!({
        "openapi": version,
        "paths": { "/a": { "post": {
            "operationId": "op",
            "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
            "responses": { "200": { "content": { "application/json": { "schema": body } } } },
        } } },
        "components": { "schemas": schemas },
    });
    Document::from_value(value, &LoadOptions::default()).unwrap()
}

/// Shows what becomes of the schema of a body.
#[track_caller]
fn check(version: &str, body: &Value, schemas: &Value, expected: &Expect) {
    let operation = document(version, body, schemas).operation("op").unwrap();
    let made = operation.input_schema();
    let mut shown = made.schema().as_value().clone();
    CompiledSchema::compile(shown.clone()).unwrap();
    let members = shown.as_object_mut().unwrap();
    members.remove("type");
    members.remove("additionalProperties");
    let mut text = shown.to_string();
    for note in made.notes() {
        let _ = write!(text, "\n{note}");
    }
    expected.assert_eq(&text);
}

#[test]
fn what_3_0_says_in_its_own_way_is_said_as_in_2020_12() {
    check(
        "3.0.3",
        &json!({ "type": "array", "items": { "type": "string", "nullable": true } }),
        &json!({}),
        &expect![[
            r#"{"properties":{"body":{"items":{"type":["string","null"]},"type":"array"}},"required":["body"]}"#
        ]],
    );
    check(
        "3.0.3",
        &json!({ "properties": {
            "a": { "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false },
            "b": { "type": "string", "enum": [1, true, "x"], "example": "x" },
            "c": { "$ref": "#/components/schemas/C", "nullable": true, "description": "kept" },
        } }),
        &json!({ "C": { "type": "number", "format": "double", "xml": {}, "title": "C", "minLength": -1, "multipleOf": 0 } }),
        &expect![[
            r##"{"$defs":{"C":{"format":"double","type":"number"}},"properties":{"a":{"exclusiveMinimum":1,"maximum":5,"type":"integer"},"b":{"enum":["1","true","x"],"examples":["x"],"type":"string"},"c":{"$ref":"#/$defs/C","description":"kept"}}}"##
        ]],
    );
}

#[test]
fn what_does_not_go_this_way_is_left_out() {
    let body = json!({
        "type": "object",
        "required": ["id", "name", "secret"],
        "properties": {
            "id": { "type": "integer", "readOnly": true },
            "name": { "$ref": "#/components/schemas/Name" },
            "secret": { "type": "string", "writeOnly": true },
        },
    });
    let schemas = json!({ "Name": { "allOf": [
        { "properties": { "of": { "type": "string", "readOnly": true } } }, { "required": ["of", "x"] },
    ], "required": ["of"] } });
    check(
        "3.1.0",
        &body,
        &schemas,
        &expect![[
            r##"{"$defs":{"Name":{"allOf":[{"properties":{}},{"required":["x"]}]}},"properties":{"name":{"$ref":"#/$defs/Name"},"secret":{"type":"string"}},"required":["name","secret"]}"##
        ]],
    );
    let operation = document("3.1.0", &body, &schemas).operation("op").unwrap();
    let output = operation.output_schema().unwrap();
    expect![[r##"{"$defs":{"Name":{"allOf":[{"properties":{"of":{"type":"string"}}},{"required":["of","x"]}],"required":["of"]}},"properties":{"id":{"type":"integer"},"name":{"$ref":"#/$defs/Name"}},"required":["id","name"],"type":"object"}"##]].assert_eq(&output.schema().as_value().to_string());
}

#[test]
fn only_what_is_referred_to_is_defined_and_recursion_stays() {
    check(
        "3.1.0",
        &json!({ "$ref": "#/components/schemas/Tree" }),
        &json!({
            "Tree": { "type": "object", "additionalProperties": true, "properties": {
                "children": { "type": "array", "items": { "$ref": "#/components/schemas/Tree" } },
                "leaf": { "$ref": "#/components/schemas/Tree/properties/other" },
                "other": { "type": "string" },
                "lost": { "$ref": "#/nowhere" },
                "circle": { "$ref": "#/components/schemas/Circle" } } },
            "Circle": { "$ref": "#/components/schemas/Circle" },
            "Unused": { "type": "string" },
        }),
        &expect![[r##"
            {"$defs":{"Tree":{"additionalProperties":true,"properties":{"children":{"items":{"$ref":"#/$defs/Tree"},"type":"array"},"circle":{},"leaf":{"$ref":"#/$defs/other"},"lost":{},"other":{"type":"string"}},"type":"object"},"other":{"type":"string"}},"properties":{"body":{"$ref":"#/$defs/Tree"}},"required":["body"]}
            the reference `#/components/schemas/Circle` leads back to itself; everything fits there (at ``)
            the reference `#/nowhere` leads nowhere; everything fits there (at ``)"##]],
    );
}

#[test]
fn a_base_and_its_variants_do_not_refer_to_each_other_without_end() {
    let schemas = json!({
        "Pet": { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" } },
            "discriminator": { "propertyName": "kind" },
            "oneOf": [{ "$ref": "#/components/schemas/Cat" }, { "$ref": "#/components/schemas/Dog" }] },
        "Cat": { "allOf": [{ "$ref": "#/components/schemas/Pet" }, { "properties": { "claws": { "type": "integer" } } }] },
        "Dog": { "allOf": [{ "$ref": "#/components/schemas/Pet" }] },
    });
    let operation =
        document("3.0.0", &json!({ "$ref": "#/components/schemas/Pet" }), &schemas).operation("op").unwrap();
    let schema = CompiledSchema::compile(operation.input_schema().into_schema().as_value().clone()).unwrap();
    assert!(schema.check(&json!({ "body": { "kind": "cat", "claws": 1 } })).is_ok());
    assert!(schema.check(&json!({ "body": { "claws": 1 } })).is_err());
}

#[test]
fn wrong_types_everywhere_make_no_wrong_schema() {
    check(
        "3.1.0",
        &json!({ "type": ["object", "Any"], "properties": { "a": 1, "b": { "type": {}, "enum": "x", "required": true,
            "properties": [], "items": 5, "allOf": {}, "oneOf": [], "minimum": "1", "pattern": 7, "format": null,
            "additionalProperties": "yes", "not": [], "description": 5, "$ref": 5 },
            "c": { "type": "list", "enum": ["x"] }, "d": { "type": "String" }, "e": null, "f": { "items": [{}, true] } },
            "required": ["a", "a", 5], "oneOf": [1] }),
        &json!({}),
        &expect![[r#"
            {"properties":{"body":{"oneOf":[{}],"properties":{"a":{},"b":{},"c":{"items":{"enum":["x"]},"type":"array"},"d":{"type":"string"},"e":{},"f":{"prefixItems":[{},true]}},"required":["a"]}},"required":["body"]}
            a schema is neither an object nor a truth value; everything fits it (at ``)
            a schema is neither an object nor a truth value; everything fits it (at ``)
            a schema is neither an object nor a truth value; everything fits it (at ``)"#]],
    );
}

#[test]
fn a_schema_that_is_too_large_is_shortened_and_says_so() {
    let wide: Value = (0..3000)
        .map(|index| (format!("p{index}"), json!({ "type": "string", "description": "x".repeat(50) })))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let mut deep = json!({ "type": "string", "description": "y".repeat(900) });
    for _ in 0..60 {
        deep = json!({ "type": "object", "description": "z".repeat(900), "properties": { "in": deep } });
    }
    let schemas = json!({
        "Wide": { "type": "object", "properties": wide }, "Deep": deep,
        "All": { "type": "object", "properties": {
            "wide": { "$ref": "#/components/schemas/Wide" }, "deep": { "$ref": "#/components/schemas/Deep" } } } });
    for (name, most) in [("Deep", 24 << 10), ("All", 100 << 10)] {
        let body = json!({ "$ref": format!("#/components/schemas/{name}") });
        let operation = document("3.1.0", &body, &schemas).operation("op").unwrap();
        let made = operation.input_schema();
        assert!(made.is_shortened(), "{name}");
        let size = made.schema().as_value().to_string().len();
        assert!(size <= most, "{name} has {size}");
        CompiledSchema::compile(made.into_schema().as_value().clone()).unwrap();
    }
}

#[test]
fn descriptions_are_clean_and_bounded() {
    let long = format!("a\u{202e}b\n\n\n\n{}", "é".repeat(10_000_000));
    let operation = document("3.1.0", &json!({ "properties": { "a": { "description": long } } }), &json!({}))
        .operation("op")
        .unwrap();
    let schema = operation.input_schema().into_schema();
    let text = schema.as_value()["properties"]["a"]["description"].as_str().unwrap();
    assert!(text.starts_with("a\\u{202e}b\n\né") && text.len() < 1100, "{}", text.len());
}

#[test]
fn what_is_required_outside_of_the_body_cannot_be_empty_since_nothing_would_be_sent() {
    let value = json!({
        "openapi": "3.1.0",
        "paths": { "/a/{path}": { "get": { "operationId": "op", "parameters": [
            { "name": "path", "in": "path", "required": true, "schema": { "$ref": "#/components/schemas/List" } },
            { "name": "query", "in": "query", "required": true, "schema": { "type": "object", "minProperties": 2 } },
            { "name": "header", "in": "header", "required": true, "schema": { "type": ["array", "null"], "minItems": 0 } },
            { "name": "free", "in": "query", "schema": { "type": "array" } },
            { "name": "json", "in": "query", "required": true,
              "content": { "application/json": { "schema": { "type": "array" } } } },
        ] } } },
        "components": { "schemas": { "List": { "type": "array" } } },
    });
    let document = Document::from_value(value, &LoadOptions::default()).unwrap();
    let schema = document.operation("op").unwrap().input_schema().into_schema();
    expect![[r##"{"free":{"type":"array"},"header":{"minItems":1,"type":["array","null"]},"json":{"type":"array"},"path":{"$ref":"#/$defs/List","minItems":1},"query":{"minProperties":2,"type":"object"}}"##]].assert_eq(&schema.as_value()["properties"].to_string());
}

#[test]
fn patterns_that_nobody_can_compile_can_be_taken_away() {
    let body = json!({ "properties": { "pattern": { "pattern": "(" }, "b": { "items": { "patternProperties": { "[": {} } } } } });
    let made = document("3.1.0", &body, &json!({})).operation("op").unwrap().input_schema();
    assert!(CompiledSchema::compile(made.schema().as_value().clone()).is_err());
    let made = made.without_patterns();
    assert_eq!(made.schema().as_value()["properties"], json!({ "pattern": {}, "b": { "items": {} } }));
}
