mod gemini;
mod openai;

use super::{ALL, outline, schema};
use expect_test::{Expect, expect};
use haft_core::ToolSpec;
use haft_model::Dialect;
use serde_json::{Value, json};

fn check(dialect: Dialect, original: Value, expected: &Expect) {
    expected.assert_eq(&outline(dialect, &schema(original)));
}

/// The schema that `read_file` has.
fn read_file() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "The file to read, relative to the working directory." },
            "offset": {
                "type": "integer",
                "format": "int64",
                "default": 1,
                "description": "The line to start at, counted from 1.",
            },
            "limit": {
                "type": "integer",
                "format": "uint64",
                "minimum": 1,
                "default": 2000,
                "description": "The most lines to give.",
            },
        },
        "required": ["path"],
        "additionalProperties": false,
    })
}

/// The schema that `edit_file` has.
fn edit_file() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "The file to edit." },
            "edits": {
                "type": "array",
                "items": { "$ref": "#/$defs/Edit" },
                "minItems": 1,
                "maxItems": 100,
                "description": "The replacements to make.",
            },
        },
        "required": ["edits", "path"],
        "additionalProperties": false,
        "$defs": { "Edit": {
            "description": "One replacement.",
            "type": "object",
            "properties": {
                "old": { "type": "string" },
                "new": { "type": "string", "description": "The text to put in its place." },
                "all": { "type": "boolean", "default": false },
            },
            "required": ["new", "old"],
            "additionalProperties": false,
        } },
    })
}

/// The parts of the schema that `grep` has in which it differs from the others.
fn grep() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": { "type": "string" },
            "glob": { "type": ["string", "null"], "default": null },
            "mode": { "$ref": "#/$defs/Mode", "description": "What to give.", "default": "content" },
            "context": { "type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255 },
        },
        "required": ["pattern"],
        "additionalProperties": false,
        "$defs": { "Mode": { "oneOf": [
            { "const": "content", "type": "string", "description": "The lines." },
            { "const": "files", "type": "string", "description": "The names of the files." },
        ] } },
    })
}

/// A tree with a choice of two kinds of nodes.
fn tree() -> Value {
    json!({
        "type": "object",
        "properties": { "root": { "$ref": "#/definitions/node" } },
        "required": ["root"],
        "definitions": {
            "node": { "oneOf": [{ "$ref": "#/definitions/leaf" }, { "$ref": "#/definitions/branch" }] },
            "leaf": { "type": "object", "properties": { "value": { "type": "string" } }, "required": ["value"] },
            "branch": {
                "type": "object",
                "properties": { "children": { "type": "array", "items": { "$ref": "#/definitions/node" } } },
                "required": ["children"],
            },
        },
    })
}

/// What is seldom and hard.
fn odd() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Search",
        "properties": {
            "$top": { "type": "integer", "exclusiveMinimum": 0 },
            "filter[name]": { "type": "string" },
            "level": { "enum": [1, 2, 3] },
            "when": { "type": "string", "format": "date-time", "nullable": true },
            "who": { "type": "string", "format": "email", "minLength": 3, "pattern": "^(?!root@)" },
            "pair": { "type": "array", "items": [{ "type": "string" }, { "type": "integer" }] },
            "id": { "type": ["string", "integer", "null"], "minimum": 1, "maxLength": 8 },
            "both": { "allOf": [{ "type": "object", "properties": { "a": { "type": "string" } } },
                                { "required": ["a"], "description": "Both." }] },
            "kind": { "const": "x" },
        },
        "required": ["$top", "level"],
        "anyOf": [{ "required": ["when"] }, { "required": ["who"] }],
    })
}

#[test]
fn tells_anthropic_of_tree() {
    check(
        Dialect::Anthropic,
        tree(),
        &expect![[r##"
            {
              "$defs": {
                "branch": {
                  "properties": {"children": {"items": {"$ref": "#/$defs/node"}, "type": "array"}},
                  "required": ["children"],
                  "type": "object"
                },
                "leaf": {"properties": {"value": {"type": "string"}}, "required": ["value"], "type": "object"},
                "node": {"oneOf": [{"$ref": "#/$defs/leaf"}, {"$ref": "#/$defs/branch"}]}
              },
              "properties": {"root": {"$ref": "#/$defs/node"}},
              "required": ["root"],
              "type": "object"
            }
        "##]],
    );
}

#[test]
fn shows_the_properties_of_alternatives_at_the_top() {
    let original = json!({ "properties": { "id": { "type": "string" } }, "oneOf": [
        { "properties": { "kind": { "const": "file" }, "path": { "type": "string" } }, "required": ["kind", "path"] },
        { "properties": { "kind": { "const": "link" }, "to": { "type": "string" } }, "required": ["kind", "to"] },
    ] });
    for (dialect, expected) in [
        (
            Dialect::OpenAiStrict,
            expect![[r#"
                the schema cannot be strict: the top level is a choice between alternatives
            "#]],
        ),
        (
            Dialect::Anthropic,
            expect![[r#"
                {
                  "properties": {
                    "id": {"type": "string"},
                    "kind": {"anyOf": [{"const": "file"}, {"const": "link"}]},
                    "path": {"type": "string"},
                    "to": {"type": "string"}
                  },
                  "required": ["kind"],
                  "type": "object"
                }
                - `/oneOf`: said in a wider form
            "#]],
        ),
        (
            Dialect::Gemini,
            expect![[r#"
                {
                  "properties": {
                    "id": {"type": "STRING"},
                    "kind": {"anyOf": [{"enum": ["file"], "type": "STRING"}, {"enum": ["link"], "type": "STRING"}]},
                    "path": {"type": "STRING"},
                    "to": {"type": "STRING"}
                  },
                  "required": ["kind"],
                  "type": "OBJECT"
                }
                - `/oneOf`: said in a wider form
            "#]],
        ),
    ] {
        check(dialect, original.clone(), &expected);
    }
}

#[test]
fn tells_anthropic_of_odd() {
    check(
        Dialect::Anthropic,
        odd(),
        &expect![[r#"
            {
              "description": "Search (anyOf: [{\"required\":[\"when\"]},{\"required\":[\"who\"]}], also requires the property \"$top\": {\"exclusiveMinimum\":0,\"type\":\"integer\"}, also takes the property \"filter[name]\": {\"type\":\"string\"})",
              "properties": {
                "both": {
                  "allOf": [
                    {"properties": {"a": {"type": "string"}}, "type": "object"},
                    {"description": "Both.", "required": ["a"]}
                  ]
                },
                "id": {"maxLength": 8, "minimum": 1, "type": ["string", "integer", "null"]},
                "kind": {"const": "x"},
                "level": {"enum": [1, 2, 3]},
                "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "type": "array"},
                "when": {"format": "date-time", "type": "string"},
                "who": {"format": "email", "minLength": 3, "pattern": "^(?!root@)", "type": "string"}
              },
              "required": ["level"],
              "title": "Search",
              "type": "object"
            }
            - `/anyOf`: moved into the description
            - `/properties/$top`: moved into the description
            - `/properties/filter[name]`: moved into the description
            - `/properties/when/nullable`: left out
            - `/required`: left out
        "#]],
    );
}

#[test]
fn leaves_what_is_plain_as_it_is() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let projection = dialect.project(&schema(edit_file())).unwrap();
        assert_eq!((projection.schema, projection.losses), (edit_file(), Vec::new()));
    }
}

#[test]
fn writes_a_tool_in_the_form_of_each_provider() {
    let original = json!({ "properties": { "q": { "type": "string" } }, "required": ["q"], "additionalProperties": false });
    let spec = ToolSpec::new("search".parse().unwrap(), "Searches.", schema(original));
    let tools: Vec<String> = ALL.iter().map(|dialect| dialect.tool(&spec).to_string()).collect();
    expect![[r#"
        {"function":{"description":"Searches.","name":"search","parameters":{"additionalProperties":false,"properties":{"q":{"type":"string"}},"required":["q"],"type":"object"},"strict":true},"type":"function"}
        {"function":{"description":"Searches.","name":"search","parameters":{"additionalProperties":false,"properties":{"q":{"type":"string"}},"required":["q"],"type":"object"},"strict":false},"type":"function"}
        {"description":"Searches.","input_schema":{"additionalProperties":false,"properties":{"q":{"type":"string"}},"required":["q"],"type":"object"},"name":"search"}
        {"description":"Searches.","name":"search","parameters":{"properties":{"q":{"type":"STRING"}},"required":["q"],"type":"OBJECT"}}"#]].assert_eq(&tools.join("\n"));
}

#[test]
fn a_tool_that_cannot_be_strict_is_written_without_the_promise() {
    let map = json!({ "properties": { "headers": { "type": "object", "additionalProperties": { "type": "string" } } } });
    let spec = ToolSpec::new("fetch".parse().unwrap(), "Fetches.", schema(map));
    let mut lax = Dialect::OpenAi.tool(&spec);
    assert_eq!(Dialect::OpenAiStrict.tool(&spec), lax);
    assert_eq!(lax["function"]["strict"].take(), false);
    let refused = Dialect::OpenAiStrict.project(spec.input_schema()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the schema cannot be strict: `/properties/headers` takes properties of any name"
    );
}
