//! What each provider refuses, written down apart from the code that heeds it.

use haft_model::Dialect;
use serde_json::{Map, Value};

pub(crate) fn check(dialect: Dialect, schema: &Value) {
    assert_eq!(schema["type"], if dialect == Dialect::Gemini { "OBJECT" } else { "object" });
    match dialect {
        Dialect::OpenAiStrict => check_strict(schema),
        Dialect::OpenAi => {
            check_loose(schema, &["oneOf", "anyOf", "allOf", "enum", "not"]);
            each(schema, &mut |schema| {
                assert!(schema.get("type") != Some(&"array".into()) || has_items(schema), "{schema:?}");
            });
        }
        Dialect::Anthropic => {
            check_loose(schema, &["oneOf", "anyOf", "allOf"]);
            jsonschema::draft202012::meta::validate(schema)
                .unwrap_or_else(|error| panic!("{error}: {schema}"));
            each(schema, &mut |schema| {
                for name in
                    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys)
                {
                    let plain = name.chars().all(|char| char.is_ascii_alphanumeric() || "_.-".contains(char));
                    assert!(plain && (1..=64).contains(&name.len()), "{name}");
                }
            });
        }
        Dialect::Gemini => check_gemini(schema),
        _ => panic!("a dialect without rules"),
    }
}

fn has_items(schema: &Map<String, Value>) -> bool {
    schema.contains_key("items") || schema.contains_key("prefixItems")
}

fn check_loose(schema: &Value, refused: &[&str]) {
    let members = schema.as_object().unwrap();
    assert!(refused.iter().all(|keyword| !members.contains_key(*keyword)), "{schema}");
    assert!(schema["properties"].is_object());
    jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{error}: {schema}"));
}

fn check_strict(top: &Value) {
    jsonschema::draft202012::new(top).unwrap_or_else(|error| panic!("{error}: {top}"));
    assert!(top.get("anyOf").is_none());
    let known = [
        "type",
        "description",
        "enum",
        "const",
        "anyOf",
        "$ref",
        "$defs",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ];
    let (mut properties, mut values) = (0, 0);
    each(top, &mut |schema| {
        for keyword in schema.keys() {
            assert!(known.contains(&keyword.as_str()), "{keyword}");
        }
        assert!(!schema.contains_key("$ref") || schema.len() == 1, "{schema:?}");
        assert!(["type", "anyOf", "$ref"].iter().any(|name| schema.contains_key(*name)), "{schema:?}");
        if let Some(all) = schema.get("properties").and_then(Value::as_object) {
            assert_eq!(schema["additionalProperties"], false);
            assert_eq!(schema["required"], all.keys().cloned().collect::<Value>());
            properties += all.len();
        }
        assert_eq!(schema.get("type") == Some(&"object".into()), schema.contains_key("properties"));
        assert_eq!(schema.get("type") == Some(&"array".into()), schema.contains_key("items"));
        values += schema.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
    });
    assert!(properties <= 5000 && values <= 1000);
}

fn check_gemini(schema: &Value) {
    let top = schema.as_object().unwrap();
    let known = [
        "type",
        "description",
        "enum",
        "anyOf",
        "properties",
        "required",
        "items",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minProperties",
        "maxProperties",
        "nullable",
    ];
    let types = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
    each(schema, &mut |schema| {
        for keyword in schema.keys() {
            assert!(known.contains(&keyword.as_str()), "{keyword}");
        }
        if schema.contains_key("anyOf") {
            assert_eq!(schema.len(), 1, "{schema:?}");
            return;
        }
        let kind = schema["type"].as_str().unwrap();
        assert!(types.contains(&kind), "{kind}");
        assert_eq!(schema.contains_key("items"), kind == "ARRAY");
        let lists = schema.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        assert!(kind != "OBJECT" || lists || std::ptr::eq(schema, top), "{schema:?}");
        assert!(kind == "OBJECT" || !(schema.contains_key("properties") || schema.contains_key("required")));
        let formats: &[&str] = match kind {
            "STRING" => &["date-time"],
            "INTEGER" => &["int32", "int64"],
            "NUMBER" => &["float", "double"],
            _ => &[],
        };
        assert!(schema.get("format").is_none_or(|format| formats.contains(&format.as_str().unwrap())));
        if let Some(values) = schema.get("enum") {
            assert_eq!(kind, "STRING");
            assert!(
                values
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
            );
        }
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            assert!(schema["properties"].get(name.as_str().unwrap()).is_some(), "{name}");
        }
    });
}

/// Goes through a schema and all that are in it.
fn each(top: &Value, look: &mut dyn FnMut(&Map<String, Value>)) {
    let mut open = vec![top];
    while let Some(schema) = open.pop() {
        let Value::Object(members) = schema else { continue };
        look(members);
        for (keyword, value) in members {
            match keyword.as_str() {
                "properties" | "$defs" | "patternProperties" | "dependentSchemas" => {
                    open.extend(value.as_object().unwrap().values());
                }
                "anyOf" | "oneOf" | "allOf" | "prefixItems" => open.extend(value.as_array().unwrap()),
                "items" | "not" | "if" | "then" | "else" | "additionalProperties" | "contains" => {
                    open.push(value);
                }
                _ => {}
            }
        }
    }
}
