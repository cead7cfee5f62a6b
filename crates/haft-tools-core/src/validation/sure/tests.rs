use super::super::build;
use super::is_surely_valid;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Makes values that a keyword may have, and some that it may not.
fn value() -> impl Strategy<Value = Value> {
    let names = prop::collection::vec(
        prop::sample::select(vec!["string", "null", "object", "a", "b"]).prop_map(Value::from),
        0..3,
    );
    prop_oneof![
        Just(json!("string")),
        Just(json!("#/$defs/a")),
        Just(json!("#/$defs/none")),
        Just(json!({ "$ref": "https://example.com/x" })),
        Just(json!({ "$id": ":bad" })),
        Just(json!("#/$defs/a%20")),
        Just(json!("https://json-schema.org/draft/2020-12/schema")),
        Just(json!("http://json-schema.org/draft-07/schema#")),
        any::<bool>().prop_map(Value::from),
        (-3_i64..300).prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        Just(Value::Null),
        names.prop_map(Value::from),
    ]
}

/// Makes schemas, most of which are good ones, with what is wrong anywhere.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({ "type": "string", "minLength": 1 })),
        Just(json!({ "type": ["integer", "null"], "minimum": 0 })),
        Just(json!({ "$ref": "#/$defs/a" })),
        Just(json!({ "enum": ["x", 1, null] })),
        any::<bool>().prop_map(Value::from),
        value(),
    ];
    let keyword = prop::sample::select(vec![
        "title",
        "format",
        "default",
        "const",
        "examples",
        "enum",
        "deprecated",
        "uniqueItems",
        "$schema",
        "type",
        "minimum",
        "exclusiveMaximum",
        "minLength",
        "maxItems",
        "maxProperties",
        "required",
        "properties",
        "$defs",
        "items",
        "additionalProperties",
        "not",
        "allOf",
        "anyOf",
        "oneOf",
        "prefixItems",
        "$ref",
        "pattern",
        "$id",
        "$dynamicRef",
        "x-other",
    ]);
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let by_name =
            prop::collection::btree_map(prop::sample::select(vec!["a", "b", "$ref"]), inner.clone(), 0..3)
                .prop_map(|schemas| json!(schemas));
        let listed = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from);
        let given = prop_oneof![2 => inner, 2 => by_name, 2 => listed, 3 => value()];
        prop::collection::btree_map(keyword.clone(), given, 0..4).prop_map(|keywords| json!(keywords))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_surely_valid_can_be_compiled(inner in schema(), definition in schema()) {
        let mut root = inner.as_object().cloned().unwrap_or_else(|| Map::from_iter([("not".to_owned(), inner)]));
        root.entry("$defs").or_insert_with(|| json!({ "a": definition }));
        let root = Value::from(root);
        // Compiling what refers to itself without end is bounded before.
        if is_surely_valid(&root) && super::super::bounds::longest_chain(&root).is_ok() {
            prop_assert!(build(&root).is_ok(), "{root}: {:?}", build(&root).err());
        }
    }
}

#[test]
fn usual_schemas_are_surely_valid() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Edit", "type": "object", "additionalProperties": false, "required": ["path"],
        "properties": {
            "path": { "type": "string", "minLength": 1, "description": "A file." },
            "edits": { "type": ["array", "null"], "items": { "$ref": "#/$defs/Edit_1" }, "maxItems": 64 },
            "mode": { "anyOf": [{ "enum": ["a", "b"] }, { "type": "null" }], "default": null },
        },
        "$defs": { "Edit_1": { "oneOf": [{ "const": 1 }, true], "format": "uint32" } },
    });
    assert!(is_surely_valid(&schema));
}

#[test]
fn what_could_fail_is_not_surely_valid() {
    for doubtful in [
        json!({ "pattern": "(" }),
        json!({ "$ref": "#/$defs/none" }),
        json!({ "$ref": "https://example.com/schema" }),
        json!({ "$defs": { "a/b": {} }, "$ref": "#/$defs/a~1b" }),
        json!({ "$id": "x", "$ref": "#/$defs/a", "$defs": { "a": {} } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#" }),
        json!({ "items": { "$schema": "https://json-schema.org/draft/2020-12/schema" } }),
        json!({ "items": { "$defs": { "a": 7 } } }),
        json!({ "type": "text" }),
        json!({ "type": [] }),
        json!({ "type": ["null", "null"] }),
        json!({ "required": ["a", "a"] }),
        json!({ "allOf": [] }),
        json!({ "minLength": -1 }),
        json!({ "properties": { "a": 1 } }),
        json!({ "x-other": true }),
        json!(7),
    ] {
        assert!(!is_surely_valid(&doubtful), "{doubtful}");
    }
}
