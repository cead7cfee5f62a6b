//! Documents that are wrong in every way still make no panic, and no schema or request that is wrong.

use crate::{Document, LoadOptions};
use haft_tools_core::CompiledSchema;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

fn rich() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "T", "version": "1" },
        "servers": [{ "url": "https://{a}.example/", "variables": { "a": { "default": "x" } } }],
        "paths": { "/a/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
            "post": {
                "operationId": "op", "tags": ["t"], "summary": "S", "description": "D",
                "parameters": [
                    { "$ref": "#/components/parameters/p" },
                    { "name": "f", "in": "query", "style": "deepObject", "explode": true,
                      "schema": { "type": "object", "properties": { "a b": { "type": "array", "items": {} } } } },
                    { "name": "c", "in": "cookie", "content": { "application/json": { "schema": {} } } }
                ],
                "requestBody": { "required": true, "content": { "multipart/form-data": {
                    "schema": { "$ref": "#/components/schemas/S" },
                    "encoding": { "file": { "contentType": "image/png", "style": "form", "explode": false } } } } },
                "responses": { "200": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/S" } } } } },
                "x-mcp": { "name": "n", "enabled": true }
            }
        } },
        "components": {
            "parameters": { "p": { "name": "X-P", "in": "header", "schema": { "type": "integer", "enum": [1, 2] } } },
            "schemas": { "S": { "type": "object", "required": ["file"], "properties": {
                "file": { "type": "string", "format": "binary" },
                "self": { "$ref": "#/components/schemas/S" },
                "n": { "type": "number", "minimum": 1, "exclusiveMinimum": 2, "multipleOf": 2, "default": 3 },
                "o": { "oneOf": [{ "$ref": "#/components/schemas/S" }, { "const": 1 }], "readOnly": true }
            }, "additionalProperties": false, "allOf": [{ "required": ["o"] }] } },
            "securitySchemes": { "k": { "type": "apiKey", "in": "query", "name": "key" } }
        }
    })
}

fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!(-1)),
        Just(json!(1e308)),
        Just(json!(true)),
        Just(json!("")),
        Just(json!("a".repeat(5000))),
        Just(json!("{")),
        Just(json!("\r\n\0\u{202e}")),
        Just(json!([[[[null]]]])),
        Just(json!({ "": { "/~": 1 } })),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "$ref": "#/paths" })),
        Just(json!({ "$ref": "#/components/schemas/S" })),
        Just(json!({ "$ref": 5 })),
        Just(
            json!({ "type": ["null", 5], "items": [false], "allOf": [{ "$ref": "#/components/schemas/S" }] })
        ),
        any::<String>().prop_map(Value::from),
    ]
}

/// Puts a value in the place of one within another, or beside it.
fn replace(value: &mut Value, at: &mut usize, with: &Value, name: &str) {
    if *at == 0 {
        *value = with.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, at, with, name)),
        Value::Object(members) => {
            if *at == 0 && !name.is_empty() {
                members.insert(name.to_owned(), with.clone());
            }
            members.values_mut().for_each(|member| replace(member, at, with, name));
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_document_breaks_anything(
        version in proptest::sample::select(vec!["3.0.0", "3.1.0", "2.0"]),
        changes in proptest::collection::vec((0_usize..130, odd(), "[a-z$]{0,3}"), 1..5),
        arguments in odd(),
    ) {
        let mut value = rich();
        if version == "2.0" {
            value["swagger"] = json!("2.0");
            value.as_object_mut().unwrap().remove("openapi");
        } else {
            value["openapi"] = json!(version);
        }
        for (at, with, name) in &changes {
            replace(&mut value, &mut at.clone(), with, name);
        }
        let text = value.to_string();
        let of_value = Document::from_value(value, &LoadOptions::default());
        let of_text = Document::from_text(&text, &LoadOptions::default());
        prop_assert_eq!(of_value.is_ok(), of_text.is_ok());
        let Ok(document) = of_text else { return Ok(()) };
        for operation in document.operations() {
            let schema = operation.input_schema().without_patterns().into_schema();
            let compiled = CompiledSchema::compile(schema.as_value().clone());
            prop_assert!(compiled.is_ok(), "{:?} of {}", compiled.err(), schema.as_value());
            if let Some(output) = operation.output_schema() {
                let value = output.without_patterns().into_schema().as_value().clone();
                prop_assert!(CompiledSchema::compile(value).is_ok());
            }
            let keys = schema.as_value()["properties"].as_object().unwrap().keys();
            let all: Map<String, Value> = keys.map(|key| (key.clone(), arguments.clone())).collect();
            if let Ok(request) = operation.encode(&Value::Object(all)) {
                prop_assert!(request.url().starts_with("https://") || request.url().starts_with("http://"));
            }
            let _ = (operation.title(), operation.description(), operation.hints(), operation.spec("d"));
        }
    }

    #[test]
    fn no_text_breaks_the_reader(text in ".{0,200}", yaml in "[a-c:\\- \n\\[\\]{}&*!|>'\"#?,]{0,80}") {
        let _ = Document::from_text(&text, &LoadOptions::default());
        let _ = Document::from_text(&format!("openapi: 3.0.0\npaths:\n  {yaml}"), &LoadOptions::default());
    }
}

#[test]
fn references_that_multiply_cost_no_more_than_what_is_kept() {
    // Each level refers to the next one twice: written out, there would be 2^40 of the last.
    let schemas: Map<String, Value> = (0..40)
        .map(|level| {
            let next = json!({ "$ref": format!("#/components/schemas/L{}", level + 1) });
            (
                format!("L{level}"),
                json!({ "type": "object", "properties": { "a": next, "b": next }, "allOf": [next, next] }),
            )
        })
        .collect();
    let value = json!({ "openapi": "3.0.0", "paths": { "/a": { "post": { "operationId": "op", "requestBody": {
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/L0" } } } } } } },
        "components": { "schemas": schemas } });
    let start = Instant::now();
    let document = Document::from_value(value, &LoadOptions::default()).unwrap();
    let schema = document.operation("op").unwrap().input_schema();
    assert!(schema.schema().as_value().to_string().len() < 30_000);
    let compiled = CompiledSchema::compile(schema.schema().as_value().clone()).unwrap();
    assert_eq!(compiled.check(&json!({ "body": { "a": {} } })), Ok(()));
    assert!(start.elapsed() < Duration::from_mins(2));
}

#[test]
fn what_refers_to_everything_costs_no_more_than_there_is() {
    let all: Vec<Value> =
        (0..1000).map(|one| json!({ "$ref": format!("#/components/schemas/S{one}") })).collect();
    let schemas: Map<String, Value> =
        (0..1000).map(|one| (format!("S{one}"), json!({ "allOf": all, "required": ["x"] }))).collect();
    let parameters: Vec<Value> =
        (0..2000).map(|one| json!({ "name": format!("p{one}"), "in": "query" })).collect();
    let value = json!({ "openapi": "3.0.0", "components": { "schemas": schemas }, "paths": {
        "/a": { "post": { "operationId": "op", "requestBody": {
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/S0" } } } } } },
        "/b": { "parameters": parameters, "get": {}, "put": {} },
        "/{a}".repeat(1000): { "get": {} } } });
    let start = Instant::now();
    let document = Document::from_value(value, &LoadOptions::default()).unwrap();
    assert_eq!((document.len(), document.problems().len()), (1, 3));
    assert!(document.operation("op").unwrap().input_schema().is_shortened());
    assert!(start.elapsed() < Duration::from_mins(2), "{:?}", start.elapsed());
}

#[test]
fn texts_of_ten_megabytes_are_carried_and_not_shown() {
    let long = "é".repeat(5 << 20);
    let value = json!({ "openapi": "3.1.0", "info": { "title": "t" }, "paths": {
        "/a": { "get": { "operationId": long, "summary": long, "description": long, "tags": [long],
            "parameters": [{ "name": long, "in": "query", "description": long, "schema": { "enum": [long], "default": long } }] } },
        format!("/{long}"): { "get": { "parameters": [{ "$ref": long }] }, "put": {} },
    } });
    let document = Document::from_value(value, &LoadOptions::default()).unwrap();
    let operation = document.operations().next().unwrap();
    assert!(operation.name().as_str().len() <= 64);
    assert!(operation.description().len() < 9_000 && operation.title().unwrap().len() < 200);
    assert!(document.operations().all(|operation| operation.description().len() < 9_000));
    assert!(document.problems().iter().all(|problem| problem.to_string().len() < 1_500));
    let size = operation.input_schema().schema().as_value().to_string().len();
    assert!(size < 30_000, "{size}");
}

fn loaded(value: Value) -> Document {
    Document::from_value(value, &LoadOptions::default()).unwrap()
}

fn messages(document: &Document) -> Vec<&str> {
    document.problems().iter().map(crate::OpenApiProblem::message).collect()
}

#[test]
fn what_operations_share_is_not_looked_at_without_end() {
    // Each of 3,001 operations has the same thousand parameters, all but one of them doubles.
    let parameters = vec![json!({ "name": "a", "in": "query" }); 1000];
    let mut paths: Map<String, Value> =
        (0..3000).map(|one| (format!("/{one}"), json!({ "$ref": "#/paths/~1p" }))).collect();
    paths.insert("/p".to_owned(), json!({ "parameters": parameters, "get": {} }));
    let document = loaded(json!({ "openapi": "3.0.0", "paths": paths }));
    assert!((500..1_500).contains(&document.len()), "{}", document.len());
    let said = messages(&document);
    assert_eq!(said.len(), 10_001);
    assert!(said[100].ends_with("more problems, which are not listed"), "{}", said[100]);
    assert!(said[10_000].ends_with("more problems, which are not listed"), "{}", said[10_000]);
}

#[test]
fn media_types_and_replies_are_not_multiplied() {
    let replies: Map<String, Value> = (0..20_000).map(|one| (format!("2{one:06}"), json!({}))).collect();
    let document = loaded(json!({ "swagger": "2.0", "produces": vec!["a/b"; 20_000],
        "paths": { "/a": { "get": { "responses": replies } } } }));
    let request = document.operation("get_a").unwrap().encode(&json!({}));
    assert!(request.is_err(), "no server is said");
    let content: Map<String, Value> = (0..20_000).map(|one| (format!("a/b{one}"), json!({}))).collect();
    let paths: Map<String, Value> = (0..2_000)
        .map(|one| (format!("/{one}"), json!({ "post": { "requestBody": { "$ref": "#/x" }, "responses": { "200": { "$ref": "#/x" } } } })))
        .collect();
    assert_eq!(
        loaded(json!({ "openapi": "3.0.0", "x": { "content": content }, "paths": paths })).len(),
        2_000
    );
}

#[test]
fn methods_without_end_are_not_taken() {
    let methods: Map<String, Value> = (0..2_000).map(|one| (format!("M{one}"), json!({}))).collect();
    let mut paths: Map<String, Value> =
        (0..2_000).map(|one| (format!("/{one}"), json!({ "$ref": "#/paths/~1p" }))).collect();
    paths.insert("/p".to_owned(), json!({ "additionalOperations": methods }));
    let document = loaded(json!({ "openapi": "3.2.0", "paths": paths }));
    assert_eq!(document.len(), 100_000);
}

#[test]
fn servers_and_names_that_many_operations_share_are_bounded() {
    let long = "a".repeat(1 << 20);
    let item = json!({ "get": { "operationId": long, "parameters": [{ "name": long, "in": "query" }] } });
    let mut paths: Map<String, Value> =
        (0..3_000).map(|one| (format!("/{one}"), json!({ "$ref": "#/paths/~1p" }))).collect();
    paths.insert("/p".to_owned(), item);
    let server = json!({ "url": format!("https://x/{}{long}", "{v}".repeat(1_000)), "variables": { "v": { "default": long } } });
    let document = loaded(json!({ "openapi": "3.0.0", "servers": [server], "paths": paths }));
    assert_eq!(document.len(), 3_001);
    let error = document.operations().next().unwrap().encode(&json!({})).unwrap_err();
    assert_eq!(error.to_string(), "it is not said which server the operation is on: the address is too long");
    assert_eq!(messages(&document)[0], "a parameter has a name that is too long; it is left out");
}

/// Makes the schema of a body, and gives how large it is.
fn size_of_body(schema: &Value, more: &Value) -> usize {
    let mut value = json!({ "openapi": "3.0.0", "paths": { "/a": { "post": { "operationId": "op",
        "requestBody": { "content": { "application/json": { "schema": schema } } } } } } });
    value["x"] = more.clone();
    let made = loaded(value).operation("op").unwrap().input_schema();
    assert!(made.is_shortened());
    CompiledSchema::compile(made.schema().as_value().clone()).unwrap();
    made.schema().as_value().to_string().len()
}

#[test]
fn schemas_without_end_are_cut_to_what_they_may_have() {
    let properties: Map<String, Value> =
        (0..100_000).map(|one| (format!("a{one}"), json!({ "type": "string" }))).collect();
    let names: Vec<String> = properties.keys().cloned().collect();
    for schema in [
        json!({ "type": "object", "properties": properties, "additionalProperties": false }),
        json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": true, "required": names }),
        json!({ "type": "object", "properties": { "b": { "anyOf": vec![json!({ "type": "object" }); 50_000] } } }),
    ] {
        let size = size_of_body(&schema, &json!(null));
        assert!(size < 60_000, "{size}");
    }
    // Twenty thousand definitions want one name.
    let all: Map<String, Value> = (0..20_000).map(|one| (one.to_string(), json!({ "S": {} }))).collect();
    let properties: Map<String, Value> =
        (0..20_000).map(|one| (format!("a{one}"), json!({ "$ref": format!("#/x/{one}/S") }))).collect();
    let size = size_of_body(&json!({ "type": "object", "properties": properties }), &all.into());
    assert!(size < 120_000, "{size}");
}

#[test]
fn what_all_operations_share_is_not_walked_for_each_of_them() {
    // A default, an enumeration and properties of a hundred thousand values each, for hundreds of operations.
    let many: Vec<Value> = (0..100_000).map(Value::from).collect();
    let properties: Map<String, Value> = (0..100_000).map(|one| (format!("a{one}"), json!({}))).collect();
    let shared = json!({ "type": "object", "required": ["x"], "properties": {
        "a": { "default": many }, "b": { "enum": many }, "c": { "allOf": [{ "properties": properties }], "required": ["y"] } } });
    let paths: Map<String, Value> = (0..300)
        .map(|one| {
            let content = json!({ "application/json": { "schema": { "$ref": "#/x" } } });
            (format!("/{one}"), json!({ "post": { "requestBody": { "content": content } } }))
        })
        .collect();
    let document = loaded(json!({ "openapi": "3.1.0", "x": shared, "paths": paths }));
    assert_eq!(document.len(), 300);
    for operation in document.operations() {
        assert!(operation.input_schema().is_shortened());
    }
}
