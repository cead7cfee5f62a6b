#![expect(clippy::needless_pass_by_value, reason = "a snapshot is written where it is used")]

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

fn validator(schema: Value) -> InputValidator {
    InputValidator::compile(&Schema::new(schema).unwrap()).unwrap()
}

/// Gives the arguments as they were accepted, with what was mended.
fn accepted(validator: &InputValidator, input: &Value, repairs: bool) -> Result<Mended, String> {
    let mended = validator.accept("t", input, repairs, usize::MAX)?;
    Ok(mended.unwrap_or_else(|| Mended { value: input.clone(), repairs: Vec::new() }))
}

fn check(schema: Value, input: Value, expect: Expect) {
    let said = match accepted(&validator(schema), &input, true) {
        Ok(Mended { value, repairs }) => {
            let repairs: Vec<String> =
                repairs.iter().map(|repair| format!("{} {}", repair.pointer, repair.note)).collect();
            format!("{value} {repairs:?}")
        }
        Err(text) => text,
    };
    expect.assert_eq(&said);
}

fn reason(schema: Value) -> String {
    InputValidator::compile(&Schema::new(schema).unwrap()).err().unwrap_or_else(|| "taken".to_owned())
}

#[test]
fn what_fits_is_taken_as_it_is() {
    check(json!({}), json!({ "a": null, "b": "5" }), expect![[r#"{"a":null,"b":"5"} []"#]]);
    check(
        json!({ "properties": { "a": { "type": ["string", "integer"] } } }),
        json!({ "a": "5" }),
        expect![[r#"{"a":"5"} []"#]],
    );
}

#[test]
fn a_place_that_is_only_alike_does_not_keep_another_from_being_repaired() {
    // `/a` has two possible repairs, and which is right must not depend on what is wrong with `/ab`.
    let list_of_lists =
        json!({ "type": "array", "items": { "type": "array", "items": { "type": "integer" } } });
    let schema = json!({ "properties": { "a": list_of_lists, "ab": { "type": "integer" } } });
    check(
        schema,
        json!({ "a": "[5]", "ab": "6" }),
        expect![[
            r#"{"a":[[5]],"ab":6} ["/a decoded JSON that was sent as a string", "/ab took a string as the value it spells", "/a/0 took a single value as a list of one"]"#
        ]],
    );
}

#[test]
fn too_many_wrong_places_are_no_slip_that_could_be_repaired() {
    let schema = json!({ "properties": { "a": { "type": "array", "items": { "type": "integer" } } } });
    let sent = |count: usize| json!({ "a": vec!["1"; count] });
    assert!(accepted(&validator(schema.clone()), &sent(32), true).is_ok());
    assert!(accepted(&validator(schema), &sent(33), true).is_err());
}

#[test]
fn nulls_that_stand_for_absent_properties_do_not_count_as_slips_but_are_bounded() {
    let row = json!({ "properties": { "a": { "type": "integer" }, "b": { "type": "string" } } });
    let schema = json!({ "properties": { "a": { "type": "array", "items": row } } });
    let taken = |rows: usize, slips: usize| {
        let mut all = vec![json!({ "a": null, "b": null }); rows];
        all.extend(vec![json!({ "a": "1", "b": null }); slips]);
        accepted(&validator(schema.clone()), &json!({ "a": all }), true).is_ok()
    };
    assert!(taken(1_000, 32));
    assert!(!taken(1_000, 33));
    assert!(taken(2_048, 0));
    assert!(!taken(2_049, 0));
    assert!(!taken(50_000, 0));
}

#[test]
fn nulls_below_long_names_are_bounded_by_what_their_places_take() {
    let schema = json!({ "additionalProperties": { "additionalProperties": { "type": "integer" } } });
    let names: Value = (0..100).map(|number| (number.to_string(), json!(null))).collect();
    let taken = |length: usize| {
        let input = json!({ "n".repeat(length): names.clone() });
        accepted(&validator(schema.clone()), &input, true).is_ok()
    };
    assert!(taken(2_000));
    assert!(!taken(3_000));
}

#[test]
fn alternatives_with_very_many_wrong_places_are_refused_at_little_cost() {
    let row = json!({ "type": "integer", "enum": [1, 2] });
    let rows = json!({ "type": "array", "items": row });
    let schema = json!({ "properties": { "a": { "anyOf": [rows, { "type": "null" }] } } });
    // Each of the texts has a wrong type and a wrong value: comparing all with all would take most of a minute.
    let input = json!({ "a": vec!["x"; 50_000] });
    let text = accepted(&validator(schema), &input, true).unwrap_err();
    assert!(text.len() < 16_384, "{}", text.len());
}

#[test]
fn chains_are_counted_through_every_keyword_that_hands_a_value_on() {
    let chain = |schema: Value| bounds::longest_chain(&schema).unwrap();
    assert_eq!(chain(json!({})), 0);
    assert_eq!(chain(json!({ "properties": { "a": { "items": {} } } })), 0);
    assert_eq!(chain(json!({ "allOf": [{}, { "anyOf": [{ "oneOf": [{}] }] }] })), 3);
    assert_eq!(chain(json!({ "not": { "if": { "then": { "else": {} } } } })), 4);
    assert_eq!(
        chain(json!({ "dependentSchemas": { "a": { "$ref": "#/$defs/b" } }, "$defs": { "b": {} } })),
        2
    );
    assert_eq!(chain(json!({ "properties": { "a": { "$ref": "#" } } })), 1);
    // A property may be called like a keyword.
    assert_eq!(chain(json!({ "properties": { "not": { "allOf": [{}] } } })), 2);
    // What cannot be followed counts as long as all of it.
    assert_eq!(chain(json!({ "$ref": "#" })), 1);
    assert_eq!(chain(json!({ "properties": { "a": { "$ref": "#a" }, "b": { "$ref": "#a" } } })), 2);
    assert_eq!(chain(json!({ "$defs": { "a": { "$id": "x" } }, "allOf": [{}, {}] })), 2);
}

/// Makes definitions each of which hands its value on to the next one several times.
fn fanned(levels: usize, times: usize, last: Value) -> Value {
    let next = |level: usize| json!({ "$ref": format!("#/$defs/L{}", level + 1) });
    let mut all: serde_json::Map<String, Value> = (0..levels)
        .map(|level| (format!("L{level}"), json!({ "allOf": vec![next(level); times] })))
        .collect();
    all.insert(format!("L{levels}"), last);
    json!({ "properties": { "a": { "$ref": "#/$defs/L0" } }, "$defs": all })
}

#[test]
fn schemas_that_multiply_for_one_value_are_refused_before_any_is_checked() {
    expect!["at `/$defs/L28`: it combines or refers to other schemas that do so again, which comes to more than 10000 schemas for one value; let them refer to each other less often"]
        .assert_eq(&reason(fanned(40, 2, json!({}))));
    // As many in a row, and as many at once, are no more than there are.
    expect!["taken"].assert_eq(&reason(fanned(40, 1, json!({}))));
    expect!["taken"].assert_eq(&reason(fanned(1, 4_000, json!({}))));
    expect!["taken"].assert_eq(&reason(fanned(10, 2, json!({}))));
    // Nor does it help that a reference cannot be followed.
    expect!["it combines or refers to other schemas 82 times, most of them with several at once, and not all of its references can be followed"]
        .assert_eq(&reason(fanned(20, 2, json!({ "$ref": "#/$defs/L0" }))));
}

#[test]
fn a_schema_is_refused_with_the_place_and_the_reason() {
    expect!["at `/properties/a/minLength`: -1 is less than the minimum of 0"]
        .assert_eq(&reason(json!({ "properties": { "a": { "minLength": -1 } } })));
    expect!["Resource 'other.json' is not present in a registry and retrieving it failed: No base URI is available"].assert_eq(&reason(json!({ "$ref": "other.json" })));
    expect![[r#"at `/$defs/a/pattern`: "(" is not a "regex""#]]
        .assert_eq(&reason(json!({ "$ref": "#/$defs/a", "$defs": { "a": { "pattern": "(" } } })));
}

/// Makes schemas in which a string, a number, a list or nothing can stand for each other.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!({ "type": "integer" }),
        json!({ "type": "number", "maximum": 10 }),
        json!({ "type": "string" }),
        json!({ "type": "boolean" }),
        json!({ "type": ["integer", "null"] }),
        json!({ "enum": ["x", 5] }),
        json!({ "const": true }),
        json!({}),
    ]);
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items })),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({ "anyOf": [a, b] })),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({ "oneOf": [a, b] })),
            (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, closed)| {
                json!({ "type": "object", "properties": { "a": a, "b": b }, "required": ["a"], "additionalProperties": !closed })
            }),
        ]
    })
}

fn inputs() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(5),
        json!(5.5),
        json!("5"),
        json!("x"),
        json!("true"),
        json!("null"),
        json!("[5]"),
        json!(""),
        json!("{\"a\":\"5\"}"),
        json!("\"x\""),
        json!("[\"5\",null]"),
        json!("18446744073709551616"),
    ]);
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map("[abc]", inner.clone(), 0..3).prop_map(|members| json!(members)),
            inner.prop_map(|value| json!(value.to_string())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_accepted_fits_and_what_fitted_is_not_changed(inner in schemas(), input in inputs()) {
        let validator = validator(json!({ "properties": { "a": inner.clone(), "b": inner } }));
        let input = json!({ "a": input });
        let fitted = validator.validator().unwrap().is_valid(&input);
        let strict = accepted(&validator, &input, false);
        prop_assert_eq!(strict.is_ok(), fitted);
        match accepted(&validator, &input, true) {
            Ok(Mended { value, repairs }) => {
                prop_assert!(validator.validator().unwrap().is_valid(&value));
                prop_assert_eq!(repairs.is_empty(), fitted);
                prop_assert_eq!(value == input, fitted);
                // What was repaired needs no further repair.
                prop_assert_eq!(accepted(&validator, &value, true), Ok(Mended { value, repairs: vec![] }));
            }
            Err(text) => {
                prop_assert!(!fitted);
                prop_assert_eq!(Err(text.clone()), strict);
                prop_assert!(text.lines().count() <= MOST_VIOLATIONS + 3 && text.len() < 16_384, "{}", text);
            }
        }
    }

    #[test]
    fn every_repair_is_reported_with_its_place(inner in schemas(), input in inputs()) {
        let validator = validator(json!({ "properties": { "a": inner } }));
        let input = json!({ "a": input });
        if let Ok(Mended { value, repairs }) = accepted(&validator, &input, true) {
            // Doing what was reported, in its order, leads from what was sent to what was taken.
            let mut replayed = input;
            for repair in &repairs {
                if let Some(to) = &repair.to {
                    *replayed.pointer_mut(&repair.pointer).unwrap() = to.clone();
                } else {
                    let (parent, key) = repair.pointer.rsplit_once('/').unwrap();
                    replayed.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
                }
            }
            prop_assert_eq!(replayed, value);
        }
    }

    #[test]
    fn nothing_that_a_model_writes_panics(text in "\\PC{0,40}", key in "\\PC{0,8}") {
        let schema = json!({
            "properties": { "a": { "type": "integer" }, key.as_str(): { "enum": [text.as_str()] } },
            "additionalProperties": false,
        });
        let validator = validator(schema);
        for input in [json!(text.as_str()), json!({ key.as_str(): null, text.as_str(): 1 }), json!({ "a": text })] {
            let _ = accepted(&validator, &input, true);
        }
    }
}
