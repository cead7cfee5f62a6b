use crate::typed::{Nothing, Slice, Tag};
use expect_test::{Expect, expect};
use haft_tools_core::input_schema;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::catch_unwind;

#[derive(Deserialize, JsonSchema)]
struct Flattened {
    #[expect(dead_code, reason = "only the schema counts")]
    path: String,
    #[serde(flatten)]
    #[expect(dead_code, reason = "only the schema counts")]
    rest: BTreeMap<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Edit {
    #[expect(dead_code, reason = "only the schema counts")]
    Insert { line: u8 },
    #[expect(dead_code, reason = "only the schema counts")]
    Delete { from: u8, to: u8 },
}

/// Holds definitions that stand alone, and others that are combined with something.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema counts")]
struct Combined {
    plain: Tag,
    maybe: Option<Tag>,
    tagged: Tagged,
    #[serde(flatten)]
    edit: Edit,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only the schema counts")]
enum Tagged {
    Slice(Slice),
}

fn check_schema<T: JsonSchema>(expect: Expect) {
    expect.assert_eq(&serde_json::to_string(input_schema::<T>().as_value()).unwrap());
}

#[test]
fn derived_schemas_are_closed_where_the_type_is() {
    check_schema::<Slice>(expect![[
        r##"{"$defs":{"Tag":{"additionalProperties":false,"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}},"additionalProperties":false,"properties":{"path":{"description":"The file to read.","type":"string"},"start":{"description":"The first line, from 1.","format":"uint32","minimum":0,"type":["integer","null"]},"tags":{"default":[],"items":{"$ref":"#/$defs/Tag"},"type":"array"}},"required":["path"],"type":"object"}"##
    ]]);
    check_schema::<Nothing>(expect![[r#"{"additionalProperties":false,"type":"object"}"#]]);
    check_schema::<Combined>(expect![[
        r##"{"$defs":{"Slice":{"properties":{"path":{"description":"The file to read.","type":"string"},"start":{"description":"The first line, from 1.","format":"uint32","minimum":0,"type":["integer","null"]},"tags":{"default":[],"items":{"$ref":"#/$defs/Tag"},"type":"array"}},"required":["path"],"type":"object"},"Tag":{"additionalProperties":false,"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"},"Tagged":{"oneOf":[{"$ref":"#/$defs/Slice","properties":{"kind":{"const":"Slice","type":"string"}},"required":["kind"],"type":"object"}]}},"oneOf":[{"properties":{"line":{"format":"uint8","maximum":255,"minimum":0,"type":"integer"},"op":{"const":"insert","type":"string"}},"required":["op","line"],"type":"object"},{"properties":{"from":{"format":"uint8","maximum":255,"minimum":0,"type":"integer"},"op":{"const":"delete","type":"string"},"to":{"format":"uint8","maximum":255,"minimum":0,"type":"integer"}},"required":["op","from","to"],"type":"object"}],"properties":{"maybe":{"anyOf":[{"$ref":"#/$defs/Tag"},{"type":"null"}]},"plain":{"$ref":"#/$defs/Tag"},"tagged":{"$ref":"#/$defs/Tagged"}},"required":["plain","tagged"],"type":"object"}"##
    ]]);
    check_schema::<Edit>(expect![[
        r#"{"oneOf":[{"additionalProperties":false,"properties":{"line":{"format":"uint8","maximum":255,"minimum":0,"type":"integer"},"op":{"const":"insert","type":"string"}},"required":["op","line"],"type":"object"},{"additionalProperties":false,"properties":{"from":{"format":"uint8","maximum":255,"minimum":0,"type":"integer"},"op":{"const":"delete","type":"string"},"to":{"format":"uint8","maximum":255,"minimum":0,"type":"integer"}},"required":["op","from","to"],"type":"object"}],"type":"object"}"#
    ]]);
}

#[test]
fn derived_schemas_are_open_where_the_type_takes_anything() {
    check_schema::<Flattened>(expect![[
        r#"{"additionalProperties":true,"properties":{"path":{"type":"string"}},"required":["path"],"type":"object"}"#
    ]]);
    check_schema::<BTreeMap<String, u8>>(expect![[
        r#"{"additionalProperties":{"format":"uint8","maximum":255,"minimum":0,"type":"integer"},"type":"object"}"#
    ]]);
}

#[test]
fn an_input_that_is_no_object_is_found_when_the_tool_is_made() {
    let check = |made: fn(), expect: Expect| {
        let panic = catch_unwind(made).unwrap_err();
        expect.assert_eq(panic.downcast_ref::<String>().unwrap());
    };
    check(
        || drop(input_schema::<String>()),
        expect![[
            r#"the input of a tool must be a struct or an enum of structs: the top level of a schema must have the type `object`, not "string""#
        ]],
    );
    check(
        || drop(input_schema::<Vec<Slice>>()),
        expect![[
            r#"the input of a tool must be a struct or an enum of structs: the top level of a schema must have the type `object`, not "array""#
        ]],
    );
    check(
        || drop(input_schema::<()>()),
        expect![[
            r#"the input of a tool must be a struct or an enum of structs: the top level of a schema must have the type `object`, not "null""#
        ]],
    );
}
