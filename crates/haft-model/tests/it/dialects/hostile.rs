use super::{ALL, outline, rules, schema};
use expect_test::expect;
use haft_core::Schema;
use haft_model::{Dialect, LossKind};
use serde_json::{Map, Value, json};

/// Projects into every dialect and tells how each fared, and how large the largest projection is.
fn fates(original: &Schema) -> (Vec<String>, usize) {
    let mut largest = 0;
    let fates = ALL.iter().map(|dialect| match dialect.project(original) {
        Ok(projection) => {
            rules::check(*dialect, &projection.schema);
            largest = largest.max(projection.schema.to_string().len());
            let is_cut = projection.losses.iter().any(|loss| loss.kind == LossKind::Cut);
            format!("{dialect:?}: {}", if is_cut { "cut" } else { "whole" })
        }
        Err(error) => format!("{dialect:?}: {error}"),
    });
    (fates.collect(), largest)
}

#[test]
fn what_is_nested_too_deep_is_cut() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..10_000 {
        let properties = Value::Object(Map::from_iter([("a".to_owned(), deep)]));
        let mut object = json!({ "type": "object", "required": ["a"], "additionalProperties": false });
        object["properties"] = properties;
        deep = object;
    }
    let deep = schema(deep);
    let (fates, largest) = fates(&deep);
    expect![[r#"
        [
            "OpenAiStrict: the schema cannot be strict: `/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a` exceeds the limit of 24 nested schemas",
            "OpenAi: cut",
            "Anthropic: cut",
            "Gemini: cut",
        ]
    "#]].assert_debug_eq(&fates);
    assert!(largest < 10_000, "{largest}");
    // Letting go of it goes as deep as it is nested.
    std::mem::forget(deep);
}

#[test]
fn what_is_deep_inside_a_literal_is_left_out() {
    let nested = || (0..10_000).fold(json!(1), |deep, _| Value::Array(vec![deep]));
    let mut deep = json!({ "properties": { "a": { "type": "string" } } });
    deep["properties"]["a"]["default"] = nested();
    deep["properties"]["a"]["enum"] = Value::Array(vec![nested(), json!("x")]);
    let deep = schema(deep);
    fates(&deep);
    std::mem::forget(deep);
}

#[test]
fn references_that_multiply_are_bounded() {
    let mut definitions = Map::new();
    for level in 0..64 {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        let properties = json!({ "a": next, "b": { "$ref": next["$ref"], "description": "x" }, "c": next });
        definitions.insert(format!("l{level}"), json!({ "type": "object", "properties": properties }));
    }
    definitions.insert("l64".to_owned(), json!({ "type": "string" }));
    let bomb = schema(json!({ "properties": { "a": { "$ref": "#/$defs/l0" } }, "$defs": definitions }));
    let (fates, largest) = fates(&bomb);
    expect![[r#"
        [
            "OpenAiStrict: the schema cannot be strict: `/$defs/l23/properties/b` exceeds the limit of 24 nested schemas",
            "OpenAi: whole",
            "Anthropic: whole",
            "Gemini: cut",
        ]
    "#]].assert_debug_eq(&fates);
    assert!(largest < 4 * 1024 * 1024, "{largest}");
}

#[test]
fn parts_that_hold_together_and_multiply_are_bounded() {
    let mut definitions = Map::new();
    for level in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        let more = json!({ "allOf": [next] });
        definitions.insert(format!("l{level}"), json!({ "anyOf": [next, more, { "allOf": [next, more] }] }));
    }
    definitions.insert("l30".to_owned(), json!({ "type": "string" }));
    let bomb = schema(json!({ "properties": { "a": { "$ref": "#/$defs/l0" } }, "$defs": definitions }));
    let (_, largest) = fates(&bomb);
    assert!(largest < 4 * 1024 * 1024, "{largest}");
}

#[test]
fn definitions_of_one_name_are_told_apart() {
    let members: Map<String, Value> = (0..4000)
        .map(|at| (format!("g{at}"), json!({ "properties": { "a": { "type": "string" }, "b": { "$ref": format!("#/properties/g{at}/properties/a") } } })))
        .collect();
    let projection = Dialect::Anthropic.project(&schema(json!({ "properties": members }))).unwrap();
    rules::check(Dialect::Anthropic, &projection.schema);
    assert_eq!(projection.schema["$defs"].as_object().unwrap().len(), 4000);
}

#[test]
fn long_texts_that_are_repeated_cost_little() {
    let members: Map<String, Value> =
        (0..5000).map(|at| (format!("p{at}"), json!({ "$ref": "#/$defs/d", "description": "x" }))).collect();
    let original = schema(json!({ "properties": members, "$defs": { "d": {
        "type": "string",
        "pattern": "a".repeat(2_000_000),
        "anyOf": [{ "$ref": format!("#/$defs/{}", "d".repeat(2_000_000)) }, { "$ref": "#/$defs/d" }],
    } } }));
    let (_, largest) = fates(&original);
    assert!(largest < 4 * 1024 * 1024, "{largest}");
}

#[test]
fn references_that_go_round_end() {
    let round = |reference: Value| {
        schema(json!({ "properties": { "a": reference }, "$defs": {
        "x": { "$ref": "#/$defs/y" }, "y": { "$ref": "#/$defs/x" },
        "z": { "allOf": [{ "$ref": "#/$defs/z" }], "type": "string" },
        "w": { "type": "object", "properties": { "w": { "$ref": "#/$defs/w", "description": "Again." } } },
    } }))
    };
    for reference in ["#/$defs/x", "#/$defs/z", "#/$defs/w", "#", "#/properties/a"] {
        fates(&round(json!({ "$ref": reference })));
        fates(&round(json!({ "$ref": reference, "description": "d" })));
        fates(&round(json!({ "$ref": reference, "minProperties": 1 })));
        fates(&round(json!({ "anyOf": [{ "$ref": reference }, { "type": "null" }] })));
    }
}

#[test]
fn references_to_nowhere_are_told() {
    for reference in ["#/$defs/none", "#anchor", "https://example.com/schema.json", "", "#/%ff"] {
        let original = schema(json!({ "properties": { "a": { "$ref": reference } } }));
        for dialect in [Dialect::OpenAi, Dialect::Anthropic, Dialect::Gemini] {
            let projection = dialect.project(&original).unwrap();
            rules::check(dialect, &projection.schema);
            assert_eq!(projection.losses[0].to_string(), "`/properties/a/$ref`: the reference leads nowhere");
        }
        assert_eq!(
            Dialect::OpenAiStrict.project(&original).unwrap_err().to_string(),
            "the schema cannot be strict: `/properties/a` is a reference that leads nowhere",
        );
    }
}

#[test]
fn what_is_too_large_for_the_strict_dialect_is_refused() {
    let refusal = |original: Value| {
        let original = schema(original);
        fates(&original);
        Dialect::OpenAiStrict.project(&original).unwrap_err().reason.to_string()
    };
    let many = |count: usize, of: &dyn Fn(usize) -> Value| -> Value {
        let members: Map<String, Value> = (0..count).map(|at| (format!("p{at}"), of(at))).collect();
        json!({ "properties": members })
    };
    let string = |_| json!({ "type": "string" });
    assert_eq!(refusal(many(5001, &string)), "exceeds the limit of 5000 properties");
    let values =
        |at: usize| json!({ "enum": (0..101).map(|value| format!("{at}.{value}")).collect::<Vec<_>>() });
    assert_eq!(refusal(many(10, &values)), "exceeds the limit of 1000 enum values");
    let long: Vec<String> = (0..251).map(|at| format!("{at:060}")).collect();
    assert_eq!(
        refusal(json!({ "properties": { "a": { "enum": long } } })),
        "exceeds the limit of 15000 characters in the values of one enum"
    );
    let name = "n".repeat(120_001);
    assert_eq!(
        refusal(json!({ "properties": { name: { "type": "string" } } })),
        "exceeds the limit of 120000 characters in names and enum values"
    );
    let mut nested = json!({ "type": "string" });
    for _ in 0..11 {
        nested = json!({ "type": "object", "properties": { "a": nested }, "additionalProperties": false });
    }
    assert_eq!(refusal(nested), "exceeds the limit of 10 nested objects");
}

#[test]
fn huge_lists_and_texts_are_bounded() {
    let values: Vec<Value> = (0..100_000).map(Value::from).collect();
    let text = "long ".repeat(400_000);
    let members: Map<String, Value> =
        (0..1000).map(|at| (format!("p{at}"), json!({ "$ref": "#/$defs/d" }))).collect();
    let original = schema(json!({
        "properties": members,
        "$defs": { "d": { "type": "string", "description": text, "enum": values } },
    }));
    let (_, largest) = fates(&original);
    assert!(largest < 4 * 1024 * 1024, "{largest}");
}

#[test]
fn only_so_many_losses_are_listed() {
    let members: Map<String, Value> =
        (0..300).map(|at| (format!("p{at:03}"), json!({ "type": "string", "x-odd": 1 }))).collect();
    let losses = Dialect::OpenAi.project(&schema(json!({ "properties": members }))).unwrap().losses;
    assert_eq!(losses.len(), 257);
    assert_eq!(losses[256].to_string(), "44 further changes");
}

#[test]
fn keywords_of_a_wrong_form_are_left_out() {
    let original = schema(json!({
        "properties": {
            "a": { "type": "any", "required": true, "description": 5, "enum": [], "items": 3 },
            "b": { "properties": [], "minimum": "1", "anyOf": {}, "$ref": 7, "type": [] },
            "c": 12,
            "d": false,
            "e": true,
            "\u{0}/~\"": { "type": "string" },
        },
        "required": "a",
    }));
    for dialect in ALL {
        outline(dialect, &original);
    }
    expect![[r#"
        {
          "description": "(also takes the property \"\\0/~\\\"\": {\"type\":\"string\"})",
          "properties": {"a": {}, "b": {}, "c": {}, "d": {"not": {}}, "e": {}},
          "type": "object"
        }
        - `/required`: left out, since it is malformed
        - `/properties/\u{0}~1~0"`: moved into the description
        - `/properties/a/required`: left out, since it is malformed
        - `/properties/a/description`: left out, since it is malformed
        - `/properties/a/enum`: left out, since it is malformed
        - `/properties/a/items`: left out, since it is malformed
        - `/properties/a/type`: left out, since it is malformed
        - `/properties/b/properties`: left out, since it is malformed
        - `/properties/b/$ref`: left out, since it is malformed
        - `/properties/b/anyOf`: left out, since it is malformed
        - `/properties/b/minimum`: left out, since it is malformed
        - `/properties/b/type`: left out, since it is malformed
        - `/properties/c`: left out, since it is malformed
    "#]]
    .assert_eq(&outline(Dialect::Anthropic, &original));
}
