use super::super::{bounds::check_bounds, build};
use super::*;
use proptest::prelude::*;
use serde_json::json;

/// Tells whether the arguments are recognised.
fn check(schema: &Value, input: &Value) -> bool {
    PlainObject::of(schema).is_some_and(|plain| plain.recognises(input, usize::MAX))
}

#[test]
fn what_a_tool_with_three_fields_is_called_with_is_recognised() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Input",
        "type": "object",
        "properties": {
            "limit": { "description": "A number.", "type": ["integer", "null"], "format": "uint32", "minimum": 0 },
            "path": { "description": "A file.", "type": "string" },
            "recursive": { "type": "boolean", "default": false },
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    for fits in [
        json!({ "limit": 5, "path": "src", "recursive": true }),
        json!({ "limit": null, "path": "src" }),
        json!({ "path": "src", "recursive": true }),
        json!({ "path": "" }),
    ] {
        assert!(check(&schema, &fits), "{fits}");
    }
    for unfit in [
        json!({ "limit": 5, "recursive": true }),
        json!({ "limit": -1, "path": "src" }),
        json!({ "limit": 0.5, "path": "src" }),
        json!({ "path": 5 }),
        json!({ "path": "src", "recursive": null }),
        json!({ "path": "src", "paths": "src" }),
        json!({ "a": 1, "path": "src" }),
        json!({}),
        json!([]),
    ] {
        assert!(!check(&schema, &unfit), "{unfit}");
    }
}

#[test]
fn what_asks_for_more_than_a_type_is_left_to_the_whole_schema() {
    let of = |property: Value| json!({ "properties": { "a": property } });
    let (text, number) = (json!({ "a": "x" }), json!({ "a": 5 }));
    assert!(check(&of(json!({ "type": "string" })), &text));
    assert!(check(&of(json!({ "type": "integer", "maximum": 5 })), &number));
    assert!(check(&of(json!({ "type": "string", "maxLength": 1 })), &text));
    assert!(!check(&of(json!({ "type": "string", "maxLength": 1 })), &json!({ "a": "xy" })));
    // One character, of which the whole schema knows that it is one.
    assert!(!check(&of(json!({ "type": "string", "maxLength": 1 })), &json!({ "a": "ä" })));
    for (property, input) in [
        (json!({ "type": "string", "minLength": 1 }), &text),
        (json!({ "type": "string", "format": "uuid" }), &text),
        (json!({ "type": "string", "enum": ["x"] }), &text),
        (json!({ "type": ["string", "array"] }), &text),
        (json!({ "type": "integer", "multipleOf": 5 }), &number),
        (json!({ "type": "integer", "minimum": 0.5 }), &number),
        (json!({ "type": ["integer", "number"], "minimum": 0 }), &number),
        (json!({ "type": "number", "minimum": 0 }), &number),
        (json!({ "const": 5 }), &number),
        (json!({}), &number),
        (json!(true), &number),
    ] {
        assert!(!check(&of(property.clone()), input), "{property}");
    }
    for keyword in
        ["minProperties", "propertyNames", "$ref", "$id", "if", "allOf", "patternProperties", "x-own"]
    {
        let mut schema = of(json!({ "type": "string" }));
        schema[keyword] = json!(0);
        assert!(!check(&schema, &text), "{keyword}");
    }
}

#[test]
fn a_property_that_is_not_plain_matters_only_where_it_is_given_or_required() {
    let mut schema =
        json!({ "properties": { "a": { "type": "string" }, "b": { "type": "array" } }, "required": ["a"] });
    assert!(check(&schema, &json!({ "a": "x" })));
    assert!(!check(&schema, &json!({ "a": "x", "b": [] })));
    schema["required"] = json!(["a", "b"]);
    assert!(!check(&schema, &json!({ "a": "x" })));
    schema["required"] = json!(["c"]);
    assert!(!check(&schema, &json!({ "a": "x" })));
}

#[test]
fn arguments_are_recognised_up_to_the_bytes_they_may_have() {
    let plain = PlainObject::of(&json!({
        "properties": { "a": { "type": "string" }, "bc": { "type": "null" } },
    }))
    .unwrap();
    let input = json!({ "a": "four", "bc": null });
    let bytes = (0..100).find(|most| check_bounds(&input, 0, *most).is_ok()).unwrap();
    assert_eq!(bytes, 9);
    assert!(plain.recognises(&input, bytes));
    for fewer in 0..bytes {
        assert!(!plain.recognises(&input, fewer), "{fewer}");
    }
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3..4_i64).prop_map(Value::from),
        Just(json!(i64::MIN)),
        Just(json!(u64::MAX)),
        Just(json!(u64::MAX - 1)),
        Just(json!(1.0)),
        Just(json!(-0.0)),
        Just(json!(0.5)),
        Just(json!(1e300)),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        number(),
        "[a-b]{0,2}".prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(json!(null))
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![9 => scalar(), 1 => Just(json!([1])), 1 => Just(json!({ "a": 1 }))]
}

fn kind() -> impl Strategy<Value = Value> {
    let one =
        || prop::sample::select(vec!["string", "integer", "number", "boolean", "null", "array", "object"]);
    prop_oneof![
        4 => one().prop_map(Value::from),
        2 => prop::collection::btree_set(one(), 1..4).prop_map(|kinds| json!(kinds)),
    ]
}

fn property() -> impl Strategy<Value = Value> {
    let keyword = prop_oneof![
        4 => number().prop_map(|least| ("minimum", least)),
        4 => number().prop_map(|most| ("maximum", most)),
        1 => (0..3_u64).prop_map(|length| ("minLength", json!(length))),
        3 => (0..3_u64).prop_map(|length| ("maxLength", json!(length))),
        1 => scalar().prop_map(|only| ("const", only)),
        1 => Just(("exclusiveMinimum", json!(0))),
        2 => prop::sample::select(vec!["uint32", "uuid", "date"]).prop_map(|format| ("format", json!(format))),
        2 => Just(("description", json!("A thing."))),
    ];
    (kind(), prop::collection::vec(keyword, 0..3)).prop_map(|(kind, keywords)| {
        let mut schema = json!({ "type": kind });
        for (keyword, value) in keywords {
            schema[keyword] = value;
        }
        schema
    })
}

fn name() -> impl Strategy<Value = String> {
    "[a-d]"
}

fn schema() -> impl Strategy<Value = Value> {
    let draft = prop::sample::select(vec![
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2020-12/schema",
    ]);
    let properties = prop::collection::btree_map(name(), property(), 0..5);
    let required = prop::collection::btree_set(name(), 1..3);
    let definitions = prop::option::weighted(0.2, prop::collection::btree_map(name(), property(), 0..2));
    (
        prop::option::of(draft),
        properties,
        prop::option::weighted(0.4, required),
        any::<Option<bool>>(),
        definitions,
    )
        .prop_map(|(draft, properties, required, others, definitions)| {
            let mut schema = json!({ "type": "object", "properties": properties });
            let keywords = [
                ("$schema", draft.map(Value::from)),
                ("required", required.map(|names| json!(names))),
                ("additionalProperties", others.map(Value::from)),
                ("$defs", definitions.map(|definitions| json!(definitions))),
            ];
            for (keyword, value) in keywords {
                if let Some(value) = value {
                    schema[keyword] = value;
                }
            }
            schema
        })
}

/// Tells whether a property asks for nothing but types and whole bounds of whole numbers.
fn is_plain(property: &Value) -> bool {
    Takes::of(property.as_object().unwrap()).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_recognised_fits_the_whole_schema(
        schema in schema(),
        inputs in prop::collection::vec(prop::collection::btree_map(name(), value(), 0..5), 8),
        most_bytes in prop_oneof![0..20_usize, Just(usize::MAX)],
    ) {
        // Drafts differ in what they take for a schema.
        let Ok(whole) = build(&schema) else { return Ok(()) };
        let Some(plain) = PlainObject::of(&schema) else { return Ok(()) };
        for input in inputs {
            let input = json!(input);
            if plain.recognises(&input, most_bytes) {
                prop_assert!(whole.is_valid(&input), "{schema} does not take {input}");
                prop_assert!(check_bounds(&input, 0, most_bytes).is_ok(), "{input} has more than {most_bytes} bytes");
            }
        }
    }

    #[test]
    fn what_fits_a_schema_of_plain_properties_is_recognised(
        schema in schema(),
        input in prop::collection::btree_map(name(), scalar(), 0..4),
    ) {
        let Ok(whole) = build(&schema) else { return Ok(()) };
        let properties = schema["properties"].as_object().unwrap();
        let is_known = |name: &String| properties.get(name).is_some_and(is_plain);
        // A whole number can also be written as a fraction, which is left to the whole schema.
        let is_expected = input.iter().all(|(name, value)| is_known(name) && !value.is_f64());
        let input = json!(input);
        if is_expected && whole.is_valid(&input) {
            let plain = PlainObject::of(&schema).unwrap();
            prop_assert!(plain.recognises(&input, usize::MAX), "{schema} takes {input}");
        }
    }
}
