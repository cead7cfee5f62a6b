use super::{ALL, rules, schema};
use haft_core::Schema;
use haft_model::Dialect;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Any JSON that is made of the words that schemas are made of.
fn nonsense() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..4).prop_map(Value::from),
        prop::sample::select(vec![
            "string",
            "object",
            "array",
            "integer",
            "number",
            "null",
            "a",
            "b",
            "",
            "#",
            "#/properties/a",
            "#/$defs/a",
            "date-time",
            "uint8",
            "^a",
        ])
        .prop_map(Value::from),
        Just(json!(["a"])),
        Just(json!(["string", "null"])),
    ];
    let word = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "$ref",
        "$defs",
        "definitions",
        "enum",
        "const",
        "additionalProperties",
        "patternProperties",
        "prefixItems",
        "description",
        "default",
        "format",
        "minimum",
        "exclusiveMinimum",
        "minLength",
        "nullable",
        "dependencies",
        "a",
        "b",
        "$c",
    ]);
    leaf.prop_recursive(6, 64, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(word.clone(), inner, 0..5).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// A schema with all that the strict dialect says exactly, and no more.
fn exact() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!({ "type": "string" }),
        json!({ "type": "string", "pattern": "^[ab]*$" }),
        json!({ "type": "integer", "minimum": 0, "maximum": 3 }),
        json!({ "type": "boolean" }),
        json!({ "type": ["integer", "null"] }),
        json!({ "type": ["string", "boolean"] }),
        json!({ "enum": ["a", "b", 3, null] }),
        json!({ "const": "a" }),
        json!({ "$ref": "#/$defs/leaf" }),
        json!({ "$ref": "#/$defs/chain", "description": "A chain." }),
    ]);
    leaf.prop_recursive(3, 24, 4, |inner| {
        let array = inner.clone().prop_map(|items| json!({ "type": "array", "items": items, "maxItems": 2 }));
        let choice = vec(inner.clone(), 1..3).prop_map(|branches| json!({ "anyOf": branches }));
        let joined = inner.clone().prop_map(|part| json!({ "allOf": [part] }));
        prop_oneof![array, choice, joined, object(inner)]
    })
}

fn object(of: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    btree_map(prop::sample::select(vec!["a", "b", "c"]), (of, any::<bool>()), 1..4).prop_map(|members| {
        let required: Vec<&str> = members.iter().filter(|(_, (_, needed))| *needed).map(|(name, _)| *name).collect();
        let properties: Map<String, Value> =
            members.iter().map(|(name, (schema, _))| ((*name).to_owned(), schema.clone())).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    })
}

fn with_definitions(mut schema: Value) -> Schema {
    schema["$defs"] = json!({
        "leaf": { "type": "number", "exclusiveMinimum": 0 },
        "chain": {
            "type": "object",
            "properties": {
                "next": { "$ref": "#/$defs/chain" },
                "other": { "anyOf": [{ "$ref": "#/$defs/chain" }, { "type": "null" }] },
                "value": { "$ref": "#/$defs/leaf" } },
            "required": ["value"],
            "additionalProperties": false,
        },
    });
    Schema::new(schema).unwrap()
}

/// Makes a value that may fit a strict schema, by what a row of numbers says.
fn instance(top: &Value, schema: &Value, choices: &mut dyn Iterator<Item = usize>, depth: usize) -> Value {
    let mut choose = |of: usize| choices.next().unwrap_or(usize::MAX) % of;
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return instance(top, top.pointer(&reference[1..]).unwrap(), choices, depth + 1);
    }
    if let Some(Value::Array(branches)) = schema.get("anyOf") {
        // The last is null, if null is among them, and so it ends.
        let chosen = if depth > 6 { branches.len() - 1 } else { choose(branches.len()) };
        return instance(top, &branches[chosen], choices, depth + 1);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values[choose(values.len())].clone();
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[choose(kinds.len())].as_str().unwrap(),
        kind => kind.as_str().unwrap(),
    };
    match kind {
        "null" => Value::Null,
        "boolean" => json!(choose(2) == 0),
        "integer" | "number" => json!(choose(6)),
        "string" => json!(["", "a", "abba", "x"][choose(4)]),
        "array" => {
            let length = if depth > 6 { 0 } else { choose(3) };
            (0..length).map(|_| instance(top, &schema["items"], choices, depth + 1)).collect()
        }
        _ => {
            let properties = schema["properties"].as_object().unwrap();
            let of = properties
                .iter()
                .map(|(name, schema)| (name.clone(), instance(top, schema, choices, depth + 1)));
            Value::Object(of.collect())
        }
    }
}

/// Lists the value without each choice of the nulls in its objects, and tells whether these are all.
///
/// Of many nulls only all or none are taken away.
fn without_nulls(value: &Value) -> (Vec<Value>, bool) {
    fn places(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    if member.is_null() {
                        found.push((at.to_owned(), name.clone()));
                    }
                    places(member, &format!("{at}/{name}"), found);
                }
            }
            Value::Array(elements) => {
                elements
                    .iter()
                    .enumerate()
                    .for_each(|(index, value)| places(value, &format!("{at}/{index}"), found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    places(value, "", &mut found);
    let choices = if found.len() > 6 { vec![0, u64::MAX] } else { (0..1 << found.len()).collect() };
    let without = |choice: u64| {
        let mut value = value.clone();
        for (_, (parent, name)) in found.iter().enumerate().filter(|(at, _)| choice >> (at % 64) & 1 == 1) {
            value.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
        }
        value
    };
    (choices.into_iter().map(without).collect(), found.len() <= 6)
}

proptest! {
    #[test]
    fn any_schema_is_projected_by_the_rules_and_the_same_every_time(
        members in btree_map(prop::sample::select(vec!["properties", "$defs", "anyOf", "allOf", "oneOf", "required", "$ref", "not"]), nonsense(), 0..5),
        parts in btree_map(prop::sample::select(vec!["a", "b", "$c"]), nonsense(), 0..4),
    ) {
        let mut original: Map<String, Value> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let parts: Map<String, Value> = parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        if !parts.is_empty() {
            original.insert("properties".to_owned(), Value::Object(parts));
        }
        original.insert("type".to_owned(), json!("object"));
        let original = schema(Value::Object(original));
        for dialect in ALL {
            let once = dialect.project(&original);
            prop_assert_eq!(&once, &dialect.project(&original));
            let Ok(once) = once else { continue };
            rules::check(dialect, &once.schema);
            if dialect != Dialect::Gemini {
                let again = dialect.project(&schema(once.schema.clone())).unwrap();
                prop_assert_eq!((again.schema, again.losses), (once.schema, Vec::new()), "{:?}", dialect);
            }
        }
    }

    #[test]
    fn what_fits_the_strict_form_fits_the_original_and_the_other_forms_take_the_same(
        original in object(exact()).prop_map(with_definitions),
        choices in vec(any::<usize>(), 0..60),
    ) {
        let strict = match Dialect::OpenAiStrict.project(&original) {
            Ok(strict) => strict,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        rules::check(Dialect::OpenAiStrict, &strict.schema);
        let validator = jsonschema::draft202012::new(original.as_value()).unwrap();
        let value = instance(&strict.schema, &strict.schema, &mut choices.into_iter(), 0);
        let (all, is_complete) = without_nulls(&value);
        for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
            let projection = dialect.project(&original).unwrap();
            let projected = jsonschema::draft202012::new(&projection.schema).unwrap();
            for value in &all {
                let (fits, fitted) = (projected.is_valid(value), validator.is_valid(value));
                prop_assert_eq!(fits, fitted, "{} in {}", value, projection.schema);
            }
        }
        if is_complete && jsonschema::draft202012::is_valid(&strict.schema, &value) {
            prop_assert!(all.iter().any(|value| validator.is_valid(value)), "{value} in {}", strict.schema);
        }
    }
}
