//! What Gemini is told.

use super::{check, edit_file, grep, odd, read_file, tree};
use expect_test::expect;
use haft_model::Dialect;
use serde_json::json;

#[test]
fn tells_gemini_of_read_file() {
    check(
        Dialect::Gemini,
        read_file(),
        &expect![[r#"
            {
              "properties": {
                "limit": {"description": "The most lines to give. (default: 2000)", "minimum": 1, "type": "INTEGER"},
                "offset": {
                  "description": "The line to start at, counted from 1. (default: 1)",
                  "format": "int64",
                  "type": "INTEGER"
                },
                "path": {"description": "The file to read, relative to the working directory.", "type": "STRING"}
              },
              "required": ["path"],
              "type": "OBJECT"
            }
            - `/additionalProperties`: left out
            - `/properties/limit/default`: moved into the description
            - `/properties/limit/format`: left out
            - `/properties/offset/default`: moved into the description
        "#]],
    );
}

#[test]
fn tells_gemini_of_edit_file() {
    check(
        Dialect::Gemini,
        edit_file(),
        &expect![[r#"
            {
              "properties": {
                "edits": {
                  "description": "The replacements to make.",
                  "items": {
                    "description": "One replacement.",
                    "properties": {
                      "all": {"description": "(default: false)", "type": "BOOLEAN"},
                      "new": {"description": "The text to put in its place.", "type": "STRING"},
                      "old": {"type": "STRING"}
                    },
                    "required": ["new", "old"],
                    "type": "OBJECT"
                  },
                  "maxItems": 100,
                  "minItems": 1,
                  "type": "ARRAY"
                },
                "path": {"description": "The file to edit.", "type": "STRING"}
              },
              "required": ["edits", "path"],
              "type": "OBJECT"
            }
            - `/additionalProperties`: left out
            - `/$defs/Edit/additionalProperties`: left out
            - `/$defs/Edit/properties/all/default`: moved into the description
        "#]],
    );
}

#[test]
fn tells_gemini_of_grep() {
    check(
        Dialect::Gemini,
        grep(),
        &expect![[r#"
            {
              "properties": {
                "context": {"maximum": 255, "minimum": 0, "nullable": true, "type": "INTEGER"},
                "glob": {"nullable": true, "type": "STRING"},
                "mode": {
                  "anyOf": [
                    {"description": "What to give. (default: \"content\") The lines.", "enum": ["content"], "type": "STRING"},
                    {"description": "The names of the files.", "enum": ["files"], "type": "STRING"}
                  ]
                },
                "pattern": {"type": "STRING"}
              },
              "required": ["pattern"],
              "type": "OBJECT"
            }
            - `/additionalProperties`: left out
            - `/properties/context/format`: left out
            - `/properties/glob/default`: left out
            - `/$defs/Mode/oneOf`: said in a wider form
            - `/properties/mode/default`: moved into the description
        "#]],
    );
}

#[test]
fn tells_gemini_of_tree() {
    check(
        Dialect::Gemini,
        tree(),
        &expect![[r#"
            {
              "properties": {
                "root": {
                  "anyOf": [
                    {"properties": {"value": {"type": "STRING"}}, "required": ["value"], "type": "OBJECT"},
                    {
                      "properties": {
                        "children": {
                          "items": {
                            "anyOf": [
                              {"type": "STRING"},
                              {"type": "NUMBER"},
                              {"type": "BOOLEAN"},
                              {"items": {"type": "STRING"}, "type": "ARRAY"}
                            ]
                          },
                          "type": "ARRAY"
                        }
                      },
                      "required": ["children"],
                      "type": "OBJECT"
                    }
                  ]
                }
              },
              "required": ["root"],
              "type": "OBJECT"
            }
            - `/definitions/node/oneOf`: said in a wider form
            - `/definitions/branch/properties/children/items`: cut: it repeats itself, is nested too deep or is too large
            - `/definitions/branch/properties/children/items`: shown with fewer types
        "#]],
    );
}

#[test]
fn tells_gemini_of_odd() {
    check(
        Dialect::Gemini,
        odd(),
        &expect![[r#"
            {
              "description": "Search (anyOf: [{\"required\":[\"when\"]},{\"required\":[\"who\"]}])",
              "properties": {
                "$top": {"minimum": 1, "type": "INTEGER"},
                "both": {"description": "Both.", "properties": {"a": {"type": "STRING"}}, "required": ["a"], "type": "OBJECT"},
                "filter[name]": {"type": "STRING"},
                "id": {
                  "anyOf": [
                    {"maxLength": 8, "nullable": true, "type": "STRING"},
                    {"minimum": 1, "nullable": true, "type": "INTEGER"}
                  ]
                },
                "kind": {"enum": ["x"], "type": "STRING"},
                "level": {"description": "(enum: [1,2,3])", "type": "INTEGER"},
                "pair": {
                  "description": "(the items have different schemas in this order)",
                  "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
                  "type": "ARRAY"
                },
                "when": {"format": "date-time", "type": "STRING"},
                "who": {"description": "(format: \"email\")", "minLength": 3, "pattern": "^(?!root@)", "type": "STRING"}
              },
              "required": ["$top", "level"],
              "type": "OBJECT"
            }
            - `/anyOf`: moved into the description
            - `/title`: moved into the description
            - `/properties/level/enum`: moved into the description
            - `/properties/pair/items`: said in a wider form
            - `/properties/when/nullable`: left out
            - `/properties/who/format`: moved into the description
        "#]],
    );
}

#[test]
fn asks_gemini_for_free_properties_as_text() {
    let original = json!({ "properties": {
        "env": { "type": "object", "description": "The variables.", "minProperties": 1, "additionalProperties": { "type": "string" } },
        "either": { "type": ["string", "object", "null"] },
        "some": { "type": ["array", "object"], "items": { "type": "object" } },
        "shared": { "$ref": "#/$defs/Free" },
        "any": {},
        "needs": { "required": ["a"] },
    }, "$defs": { "Free": { "type": ["object", "null"], "properties": {} } } });
    check(
        Dialect::Gemini,
        original,
        &expect![[r#"
            {
              "properties": {
                "any": {
                  "anyOf": [
                    {"type": "STRING"},
                    {"type": "NUMBER"},
                    {"type": "BOOLEAN"},
                    {"items": {"type": "STRING"}, "type": "ARRAY"}
                  ]
                },
                "either": {"nullable": true, "type": "STRING"},
                "env": {
                  "description": "The variables. (additionalProperties: {\"type\":\"string\"}, minProperties: 1) (JSON object as text)",
                  "type": "STRING"
                },
                "needs": {"description": "(JSON object as text)", "type": "STRING"},
                "shared": {"description": "(JSON object as text)", "nullable": true, "type": "STRING"},
                "some": {
                  "anyOf": [
                    {"items": {"description": "(JSON object as text)", "type": "STRING"}, "type": "ARRAY"},
                    {"description": "(JSON object as text)", "type": "STRING"}
                  ]
                }
              },
              "type": "OBJECT"
            }
            - `/properties/any`: shown with fewer types
            - `/properties/either`: shown with fewer types
            - `/properties/env/additionalProperties`: moved into the description
            - `/properties/env/minProperties`: moved into the description
            - `/properties/env`: moved into the description
            - `/properties/needs`: shown with fewer types
            - `/properties/needs/required`: left out
            - `/properties/needs`: moved into the description
            - `/properties/shared`: moved into the description
            - `/properties/some/items`: moved into the description
            - `/properties/some`: moved into the description
        "#]],
    );
}
