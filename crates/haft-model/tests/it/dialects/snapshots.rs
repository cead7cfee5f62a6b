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
fn tells_openai_strict_of_read_file() {
    check(
        Dialect::OpenAiStrict,
        read_file(),
        &expect![[r#"
        {
          "additionalProperties": false,
          "properties": {
            "limit": {
              "description": "The most lines to give. (default: 2000)",
              "minimum": 1,
              "type": [
                "integer",
                "null"
              ]
            },
            "offset": {
              "description": "The line to start at, counted from 1. (default: 1)",
              "type": [
                "integer",
                "null"
              ]
            },
            "path": {
              "description": "The file to read, relative to the working directory.",
              "type": "string"
            }
          },
          "required": [
            "limit",
            "offset",
            "path"
          ],
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
fn tells_gemini_of_read_file() {
    check(
        Dialect::Gemini,
        read_file(),
        &expect![[r#"
        {
          "properties": {
            "limit": {
              "description": "The most lines to give. (default: 2000)",
              "minimum": 1,
              "type": "INTEGER"
            },
            "offset": {
              "description": "The line to start at, counted from 1. (default: 1)",
              "format": "int64",
              "type": "INTEGER"
            },
            "path": {
              "description": "The file to read, relative to the working directory.",
              "type": "STRING"
            }
          },
          "required": [
            "path"
          ],
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
                "all": {
                  "description": "(default: false)",
                  "type": [
                    "boolean",
                    "null"
                  ]
                },
                "new": {
                  "description": "The text to put in its place.",
                  "type": "string"
                },
                "old": {
                  "type": "string"
                }
              },
              "required": [
                "all",
                "new",
                "old"
              ],
              "type": "object"
            }
          },
          "additionalProperties": false,
          "properties": {
            "edits": {
              "description": "The replacements to make.",
              "items": {
                "$ref": "#/$defs/Edit"
              },
              "maxItems": 100,
              "minItems": 1,
              "type": "array"
            },
            "path": {
              "description": "The file to edit.",
              "type": "string"
            }
          },
          "required": [
            "edits",
            "path"
          ],
          "type": "object"
        }
        - `/$defs/Edit/properties/all/default`: moved into the description
    "##]],
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
                  "all": {
                    "description": "(default: false)",
                    "type": "BOOLEAN"
                  },
                  "new": {
                    "description": "The text to put in its place.",
                    "type": "STRING"
                  },
                  "old": {
                    "type": "STRING"
                  }
                },
                "required": [
                  "new",
                  "old"
                ],
                "type": "OBJECT"
              },
              "maxItems": 100,
              "minItems": 1,
              "type": "ARRAY"
            },
            "path": {
              "description": "The file to edit.",
              "type": "STRING"
            }
          },
          "required": [
            "edits",
            "path"
          ],
          "type": "OBJECT"
        }
        - `/additionalProperties`: left out
        - `/$defs/Edit/additionalProperties`: left out
        - `/$defs/Edit/properties/all/default`: moved into the description
    "#]],
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
            "context": {
              "maximum": 255,
              "minimum": 0,
              "type": [
                "integer",
                "null"
              ]
            },
            "glob": {
              "type": [
                "string",
                "null"
              ]
            },
            "mode": {
              "anyOf": [
                {
                  "const": "content",
                  "description": "The lines.",
                  "type": "string"
                },
                {
                  "const": "files",
                  "description": "The names of the files.",
                  "type": "string"
                },
                {
                  "type": "null"
                }
              ],
              "description": "What to give. (default: \"content\")"
            },
            "pattern": {
              "type": "string"
            }
          },
          "required": [
            "context",
            "glob",
            "mode",
            "pattern"
          ],
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
                {
                  "const": "content",
                  "description": "The lines.",
                  "type": "string"
                },
                {
                  "const": "files",
                  "description": "The names of the files.",
                  "type": "string"
                }
              ]
            }
          },
          "additionalProperties": false,
          "properties": {
            "context": {
              "format": "uint8",
              "maximum": 255,
              "minimum": 0,
              "type": [
                "integer",
                "null"
              ]
            },
            "glob": {
              "default": null,
              "type": [
                "string",
                "null"
              ]
            },
            "mode": {
              "$ref": "#/$defs/Mode",
              "default": "content",
              "description": "What to give."
            },
            "pattern": {
              "type": "string"
            }
          },
          "required": [
            "pattern"
          ],
          "type": "object"
        }
    "##]],
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
            "context": {
              "maximum": 255,
              "minimum": 0,
              "nullable": true,
              "type": "INTEGER"
            },
            "glob": {
              "nullable": true,
              "type": "STRING"
            },
            "mode": {
              "anyOf": [
                {
                  "description": "What to give. (default: \"content\") The lines.",
                  "enum": [
                    "content"
                  ],
                  "type": "STRING"
                },
                {
                  "description": "The names of the files.",
                  "enum": [
                    "files"
                  ],
                  "type": "STRING"
                }
              ]
            },
            "pattern": {
              "type": "STRING"
            }
          },
          "required": [
            "pattern"
          ],
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
fn tells_openai_strict_of_tree() {
    check(
        Dialect::OpenAiStrict,
        tree(),
        &expect![[r##"
            {
              "$defs": {
                "branch": {
                  "additionalProperties": false,
                  "properties": {
                    "children": {
                      "items": {
                        "$ref": "#/$defs/node"
                      },
                      "type": "array"
                    }
                  },
                  "required": [
                    "children"
                  ],
                  "type": "object"
                },
                "leaf": {
                  "additionalProperties": false,
                  "properties": {
                    "value": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "value"
                  ],
                  "type": "object"
                },
                "node": {
                  "anyOf": [
                    {
                      "$ref": "#/$defs/leaf"
                    },
                    {
                      "$ref": "#/$defs/branch"
                    }
                  ]
                }
              },
              "additionalProperties": false,
              "properties": {
                "root": {
                  "$ref": "#/$defs/node"
                }
              },
              "required": [
                "root"
              ],
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
fn tells_anthropic_of_tree() {
    check(
        Dialect::Anthropic,
        tree(),
        &expect![[r##"
            {
              "$defs": {
                "branch": {
                  "properties": {
                    "children": {
                      "items": {
                        "$ref": "#/$defs/node"
                      },
                      "type": "array"
                    }
                  },
                  "required": [
                    "children"
                  ],
                  "type": "object"
                },
                "leaf": {
                  "properties": {
                    "value": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "value"
                  ],
                  "type": "object"
                },
                "node": {
                  "oneOf": [
                    {
                      "$ref": "#/$defs/leaf"
                    },
                    {
                      "$ref": "#/$defs/branch"
                    }
                  ]
                }
              },
              "properties": {
                "root": {
                  "$ref": "#/$defs/node"
                }
              },
              "required": [
                "root"
              ],
              "type": "object"
            }
        "##]],
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
                    {
                      "properties": {
                        "value": {
                          "type": "STRING"
                        }
                      },
                      "required": [
                        "value"
                      ],
                      "type": "OBJECT"
                    },
                    {
                      "properties": {
                        "children": {
                          "items": {
                            "anyOf": [
                              {
                                "type": "STRING"
                              },
                              {
                                "type": "NUMBER"
                              },
                              {
                                "type": "BOOLEAN"
                              },
                              {
                                "items": {
                                  "type": "STRING"
                                },
                                "type": "ARRAY"
                              }
                            ]
                          },
                          "type": "ARRAY"
                        }
                      },
                      "required": [
                        "children"
                      ],
                      "type": "OBJECT"
                    }
                  ]
                }
              },
              "required": [
                "root"
              ],
              "type": "OBJECT"
            }
            - `/definitions/node/oneOf`: said in a wider form
            - `/definitions/branch/properties/children/items`: cut: it repeats itself, is nested too deep or is too large
            - `/definitions/branch/properties/children/items`: shown with fewer types
        "#]],
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
                "$top": {
                  "exclusiveMinimum": 0,
                  "type": "integer"
                },
                "both": {
                  "anyOf": [
                    {
                      "additionalProperties": false,
                      "properties": {
                        "a": {
                          "type": "string"
                        }
                      },
                      "required": [
                        "a"
                      ],
                      "type": "object"
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "Both."
                },
                "id": {
                  "anyOf": [
                    {
                      "description": "(maxLength: 8)",
                      "type": "string"
                    },
                    {
                      "minimum": 1,
                      "type": "integer"
                    },
                    {
                      "type": "null"
                    }
                  ]
                },
                "when": {
                  "format": "date-time",
                  "type": [
                    "string",
                    "null"
                  ]
                },
                "who": {
                  "description": "(minLength: 3, pattern: \"^(?!root@)\")",
                  "format": "email",
                  "type": [
                    "string",
                    "null"
                  ]
                }
              },
              "required": [
                "$top",
                "both",
                "id",
                "when",
                "who"
              ],
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
                "id": {
                  "type": "string"
                },
                "kind": {
                  "anyOf": [
                    {
                      "const": "file"
                    },
                    {
                      "const": "link"
                    }
                  ]
                },
                "path": {
                  "type": "string"
                },
                "to": {
                  "type": "string"
                }
              },
              "required": [
                "kind"
              ],
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
                "id": {
                  "type": "STRING"
                },
                "kind": {
                  "anyOf": [
                    {
                      "enum": [
                        "file"
                      ],
                      "type": "STRING"
                    },
                    {
                      "enum": [
                        "link"
                      ],
                      "type": "STRING"
                    }
                  ]
                },
                "path": {
                  "type": "STRING"
                },
                "to": {
                  "type": "STRING"
                }
              },
              "required": [
                "kind"
              ],
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
fn tells_openai_of_odd() {
    check(
        Dialect::OpenAi,
        odd(),
        &expect![[r#"
        {
          "description": "Search (anyOf: [{\"required\":[\"when\"]},{\"required\":[\"who\"]}])",
          "properties": {
            "$top": {
              "exclusiveMinimum": 0,
              "type": "integer"
            },
            "both": {
              "allOf": [
                {
                  "properties": {
                    "a": {
                      "type": "string"
                    }
                  },
                  "type": "object"
                },
                {
                  "description": "Both.",
                  "required": [
                    "a"
                  ]
                }
              ]
            },
            "filter[name]": {
              "type": "string"
            },
            "id": {
              "maxLength": 8,
              "minimum": 1,
              "type": [
                "string",
                "integer",
                "null"
              ]
            },
            "kind": {
              "const": "x"
            },
            "level": {
              "enum": [
                1,
                2,
                3
              ]
            },
            "pair": {
              "prefixItems": [
                {
                  "type": "string"
                },
                {
                  "type": "integer"
                }
              ],
              "type": "array"
            },
            "when": {
              "format": "date-time",
              "type": "string"
            },
            "who": {
              "format": "email",
              "minLength": 3,
              "pattern": "^(?!root@)",
              "type": "string"
            }
          },
          "required": [
            "$top",
            "level"
          ],
          "title": "Search",
          "type": "object"
        }
        - `/anyOf`: moved into the description
        - `/properties/when/nullable`: left out
    "#]],
    );
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
                    {
                      "properties": {
                        "a": {
                          "type": "string"
                        }
                      },
                      "type": "object"
                    },
                    {
                      "description": "Both.",
                      "required": [
                        "a"
                      ]
                    }
                  ]
                },
                "id": {
                  "maxLength": 8,
                  "minimum": 1,
                  "type": [
                    "string",
                    "integer",
                    "null"
                  ]
                },
                "kind": {
                  "const": "x"
                },
                "level": {
                  "enum": [
                    1,
                    2,
                    3
                  ]
                },
                "pair": {
                  "prefixItems": [
                    {
                      "type": "string"
                    },
                    {
                      "type": "integer"
                    }
                  ],
                  "type": "array"
                },
                "when": {
                  "format": "date-time",
                  "type": "string"
                },
                "who": {
                  "format": "email",
                  "minLength": 3,
                  "pattern": "^(?!root@)",
                  "type": "string"
                }
              },
              "required": [
                "level"
              ],
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
fn tells_gemini_of_odd() {
    check(
        Dialect::Gemini,
        odd(),
        &expect![[r#"
            {
              "description": "Search (anyOf: [{\"required\":[\"when\"]},{\"required\":[\"who\"]}])",
              "properties": {
                "$top": {
                  "minimum": 1,
                  "type": "INTEGER"
                },
                "both": {
                  "description": "Both.",
                  "properties": {
                    "a": {
                      "type": "STRING"
                    }
                  },
                  "required": [
                    "a"
                  ],
                  "type": "OBJECT"
                },
                "filter[name]": {
                  "type": "STRING"
                },
                "id": {
                  "anyOf": [
                    {
                      "maxLength": 8,
                      "nullable": true,
                      "type": "STRING"
                    },
                    {
                      "minimum": 1,
                      "nullable": true,
                      "type": "INTEGER"
                    }
                  ]
                },
                "kind": {
                  "enum": [
                    "x"
                  ],
                  "type": "STRING"
                },
                "level": {
                  "description": "(enum: [1,2,3])",
                  "type": "INTEGER"
                },
                "pair": {
                  "description": "(the items have different schemas in this order)",
                  "items": {
                    "anyOf": [
                      {
                        "type": "STRING"
                      },
                      {
                        "type": "INTEGER"
                      }
                    ]
                  },
                  "type": "ARRAY"
                },
                "when": {
                  "format": "date-time",
                  "type": "STRING"
                },
                "who": {
                  "description": "(format: \"email\")",
                  "minLength": 3,
                  "pattern": "^(?!root@)",
                  "type": "STRING"
                }
              },
              "required": [
                "$top",
                "level"
              ],
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
                    {
                      "type": "STRING"
                    },
                    {
                      "type": "NUMBER"
                    },
                    {
                      "type": "BOOLEAN"
                    },
                    {
                      "items": {
                        "type": "STRING"
                      },
                      "type": "ARRAY"
                    }
                  ]
                },
                "either": {
                  "nullable": true,
                  "type": "STRING"
                },
                "env": {
                  "description": "The variables. (additionalProperties: {\"type\":\"string\"}, minProperties: 1) (JSON object as text)",
                  "type": "STRING"
                },
                "needs": {
                  "description": "(JSON object as text)",
                  "type": "STRING"
                },
                "shared": {
                  "description": "(JSON object as text)",
                  "nullable": true,
                  "type": "STRING"
                },
                "some": {
                  "anyOf": [
                    {
                      "items": {
                        "description": "(JSON object as text)",
                        "type": "STRING"
                      },
                      "type": "ARRAY"
                    },
                    {
                      "description": "(JSON object as text)",
                      "type": "STRING"
                    }
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
