//! What OpenAI is told, strictly and otherwise.

use super::{check, edit_file, grep, odd, read_file, tree};
use expect_test::expect;
use haft_model::Dialect;
use serde_json::json;

#[test]
fn tells_openai_strict_of_read_file() {
    check(
        Dialect::OpenAiStrict,
        read_file(),
        &expect![[r#"
            {
              "additionalProperties": false,
              "properties": {
                "limit": {"description": "The most lines to give. (default: 2000)", "minimum": 1, "type": ["integer", "null"]},
                "offset": {"description": "The line to start at, counted from 1. (default: 1)", "type": ["integer", "null"]},
                "path": {"description": "The file to read, relative to the working directory.", "type": "string"}
              },
              "required": ["limit", "offset", "path"],
              "type": "object"
            }
            - `/properties/limit/default`: moved into the description
            - `/properties/limit/format`: left out
            - `/properties/offset/default`: moved into the description
            - `/properties/offset/format`: left out
        "#]],
    );
}

#[test]
fn tells_openai_strict_of_edit_file() {
    check(
        Dialect::OpenAiStrict,
        edit_file(),
        &expect![[r##"
            {
              "$defs": {
                "Edit": {
                  "additionalProperties": false,
                  "description": "One replacement.",
                  "properties": {
                    "all": {"description": "(default: false)", "type": ["boolean", "null"]},
                    "new": {"description": "The text to put in its place.", "type": "string"},
                    "old": {"type": "string"}
                  },
                  "required": ["all", "new", "old"],
                  "type": "object"
                }
              },
              "additionalProperties": false,
              "properties": {
                "edits": {
                  "description": "The replacements to make.",
                  "items": {"$ref": "#/$defs/Edit"},
                  "maxItems": 100,
                  "minItems": 1,
                  "type": "array"
                },
                "path": {"description": "The file to edit.", "type": "string"}
              },
              "required": ["edits", "path"],
              "type": "object"
            }
            - `/$defs/Edit/properties/all/default`: moved into the description
        "##]],
    );
}

#[test]
fn tells_openai_strict_of_grep() {
    check(
        Dialect::OpenAiStrict,
        grep(),
        &expect![[r#"
            {
              "additionalProperties": false,
              "properties": {
                "context": {"maximum": 255, "minimum": 0, "type": ["integer", "null"]},
                "glob": {"type": ["string", "null"]},
                "mode": {
                  "anyOf": [
                    {"const": "content", "description": "The lines.", "type": "string"},
                    {"const": "files", "description": "The names of the files.", "type": "string"},
                    {"type": "null"}
                  ],
                  "description": "What to give. (default: \"content\")"
                },
                "pattern": {"type": "string"}
              },
              "required": ["context", "glob", "mode", "pattern"],
              "type": "object"
            }
            - `/properties/context/format`: left out
            - `/properties/glob/default`: left out
            - `/$defs/Mode/oneOf`: said in a wider form
            - `/properties/mode/default`: moved into the description
        "#]],
    );
}

#[test]
fn tells_openai_of_grep() {
    check(
        Dialect::OpenAi,
        grep(),
        &expect![[r##"
            {
              "$defs": {
                "Mode": {
                  "oneOf": [
                    {"const": "content", "description": "The lines.", "type": "string"},
                    {"const": "files", "description": "The names of the files.", "type": "string"}
                  ]
                }
              },
              "additionalProperties": false,
              "properties": {
                "context": {"format": "uint8", "maximum": 255, "minimum": 0, "type": ["integer", "null"]},
                "glob": {"default": null, "type": ["string", "null"]},
                "mode": {"$ref": "#/$defs/Mode", "default": "content", "description": "What to give."},
                "pattern": {"type": "string"}
              },
              "required": ["pattern"],
              "type": "object"
            }
        "##]],
    );
}

#[test]
fn tells_openai_strict_of_tree() {
    check(
        Dialect::OpenAiStrict,
        tree(),
        &expect![[r##"
            {
              "$defs": {
                "branch": {
                  "additionalProperties": false,
                  "properties": {"children": {"items": {"$ref": "#/$defs/node"}, "type": "array"}},
                  "required": ["children"],
                  "type": "object"
                },
                "leaf": {
                  "additionalProperties": false,
                  "properties": {"value": {"type": "string"}},
                  "required": ["value"],
                  "type": "object"
                },
                "node": {"anyOf": [{"$ref": "#/$defs/leaf"}, {"$ref": "#/$defs/branch"}]}
              },
              "additionalProperties": false,
              "properties": {"root": {"$ref": "#/$defs/node"}},
              "required": ["root"],
              "type": "object"
            }
            - the top level: shown without further properties
            - `/definitions/node/oneOf`: said in a wider form
            - `/definitions/leaf`: shown without further properties
            - `/definitions/branch`: shown without further properties
        "##]],
    );
}

#[test]
fn tells_openai_strict_of_odd() {
    check(
        Dialect::OpenAiStrict,
        odd(),
        &expect![[r#"
        the schema cannot be strict: `/properties/pair` takes values of any type
    "#]],
    );
}

#[test]
fn tells_openai_strict_of_what_is_odd_but_can_be_said() {
    let mut odd = odd();
    let unsaid = ["pair", "filter[name]", "level", "kind"];
    odd["properties"].as_object_mut().unwrap().retain(|name, _| !unsaid.contains(&name.as_str()));
    odd["required"] = json!(["$top"]);
    check(
        Dialect::OpenAiStrict,
        odd,
        &expect![[r#"
            {
              "additionalProperties": false,
              "description": "Search (anyOf: [{\"required\":[\"when\"]},{\"required\":[\"who\"]}])",
              "properties": {
                "$top": {"exclusiveMinimum": 0, "type": "integer"},
                "both": {
                  "anyOf": [
                    {"additionalProperties": false, "properties": {"a": {"type": "string"}}, "required": ["a"], "type": "object"},
                    {"type": "null"}
                  ],
                  "description": "Both."
                },
                "id": {
                  "anyOf": [
                    {"description": "(maxLength: 8)", "type": "string"},
                    {"minimum": 1, "type": "integer"},
                    {"type": "null"}
                  ]
                },
                "when": {"format": "date-time", "type": ["string", "null"]},
                "who": {"description": "(minLength: 3, pattern: \"^(?!root@)\")", "format": "email", "type": ["string", "null"]}
              },
              "required": ["$top", "both", "id", "when", "who"],
              "type": "object"
            }
            - `/anyOf`: moved into the description
            - `/title`: moved into the description
            - the top level: shown without further properties
            - `/properties/both`: shown without further properties
            - `/properties/id/maxLength`: moved into the description
            - `/properties/when/nullable`: left out
            - `/properties/who/minLength`: moved into the description
            - `/properties/who/pattern`: moved into the description
        "#]],
    );
}

#[test]
fn tells_openai_of_odd() {
    check(
        Dialect::OpenAi,
        odd(),
        &expect![[r#"
            {
              "description": "Search (anyOf: [{\"required\":[\"when\"]},{\"required\":[\"who\"]}])",
              "properties": {
                "$top": {"exclusiveMinimum": 0, "type": "integer"},
                "both": {
                  "allOf": [
                    {"properties": {"a": {"type": "string"}}, "type": "object"},
                    {"description": "Both.", "required": ["a"]}
                  ]
                },
                "filter[name]": {"type": "string"},
                "id": {"maxLength": 8, "minimum": 1, "type": ["string", "integer", "null"]},
                "kind": {"const": "x"},
                "level": {"enum": [1, 2, 3]},
                "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "type": "array"},
                "when": {"format": "date-time", "type": "string"},
                "who": {"format": "email", "minLength": 3, "pattern": "^(?!root@)", "type": "string"}
              },
              "required": ["$top", "level"],
              "title": "Search",
              "type": "object"
            }
            - `/anyOf`: moved into the description
            - `/properties/when/nullable`: left out
        "#]],
    );
}

#[test]
fn refuses_free_properties_in_strict_wherever_they_stand() {
    let free = json!({ "type": "object" });
    let inline = json!({ "properties": { "env": free.clone() } });
    let defined = json!({
        "properties": { "env": { "$ref": "#/$defs/Env" } },
        "$defs": { "Env": free.clone() },
    });
    let passed_on = json!({
        "properties": { "env": { "$ref": "#/$defs/Env" } },
        "$defs": { "Env": { "$ref": "#/$defs/Free" }, "Free": free },
    });
    check(
        Dialect::OpenAiStrict,
        inline,
        &expect![[r#"
            the schema cannot be strict: `/properties/env` takes properties of any name
        "#]],
    );
    check(
        Dialect::OpenAiStrict,
        defined,
        &expect![[r#"
            the schema cannot be strict: `/$defs/Env` takes properties of any name
        "#]],
    );
    check(
        Dialect::OpenAiStrict,
        passed_on,
        &expect![[r#"
            the schema cannot be strict: `/$defs/Free` takes properties of any name
        "#]],
    );
}
