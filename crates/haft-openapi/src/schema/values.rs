//! Values within schemas, as JSON Schema 2020-12 wants them.

use crate::document::Version;
use serde_json::{Map, Number, Value, json};

/// The longest default that is kept, in bytes of JSON.
pub(super) const MOST_DEFAULT_BYTES: usize = 300;

/// The most types and examples that are looked at in one place.
const MOST_KINDS: usize = 20;

const MOST_EXAMPLES: usize = 3;
const MOST_EXAMPLE_BYTES: usize = 100;

/// Counts the bytes of a value as JSON, more or less.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 6,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(members) => {
            2 + members.iter().map(|(name, member)| name.len() + 4 + size(member)).sum::<usize>()
        }
    }
}

/// Tells whether a value has at most so many bytes as JSON, more or less, without looking at much more of it.
pub(super) fn fits(value: &Value, most: usize) -> bool {
    all_fit(std::slice::from_ref(value), most)
}

/// Tells whether values have at most so many bytes together.
pub(super) fn all_fit(values: &[Value], most: usize) -> bool {
    values.iter().try_fold(most, |left, value| left_of(value, left)).is_some()
}

/// Takes the bytes of a value off those that are left.
fn left_of(value: &Value, left: usize) -> Option<usize> {
    match value {
        Value::Null | Value::Bool(_) => left.checked_sub(5),
        Value::Number(_) => left.checked_sub(6),
        Value::String(text) => left.checked_sub(text.len() + 2),
        Value::Array(items) => {
            items.iter().try_fold(left.checked_sub(2)?, |left, item| left_of(item, left)?.checked_sub(1))
        }
        Value::Object(members) => members.iter().try_fold(left.checked_sub(2)?, |left, (name, member)| {
            left_of(member, left.checked_sub(name.len() + 4)?)
        }),
    }
}

/// Reads a type, also where it is called as in some programming language; `None` where it says nothing.
pub(super) fn kind(value: &Value) -> Option<Value> {
    match value {
        Value::String(word) => one_kind(word).map(Value::from),
        Value::Array(words) => {
            let mut kinds: Vec<&'static str> = Vec::new();
            for kind in words.iter().take(MOST_KINDS).filter_map(Value::as_str).map(one_kind) {
                // Beside something that says nothing, the others are no limit.
                let kind = kind?;
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            match kinds[..] {
                [] => None,
                [kind] => Some(kind.into()),
                _ => Some(kinds.into()),
            }
        }
        _ => None,
    }
}

fn one_kind(word: &str) -> Option<&'static str> {
    Some(match word.trim().to_ascii_lowercase().as_str() {
        "object" => "object",
        "array" | "list" => "array",
        "string" | "str" | "text" | "file" | "date" | "datetime" | "date-time" | "uuid" | "uri" | "email" => {
            "string"
        }
        "integer" | "int" | "int32" | "int64" | "long" => "integer",
        "number" | "float" | "double" | "decimal" => "number",
        "boolean" | "bool" => "boolean",
        "null" => "null",
        _ => return None,
    })
}

/// Reads a count, which is not negative and whole.
pub(super) fn count(value: &Value) -> Option<Value> {
    match value {
        Value::Number(number) if number.is_u64() => Some(value.clone()),
        Value::Number(number) => {
            let float = number.as_f64()?;
            let is_whole = (0.0..9_007_199_254_740_992.0).contains(&float) && float.fract() == 0.0;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole and within 2^53"
            )]
            is_whole.then(|| Value::from(float as u64))
        }
        _ => None,
    }
}

/// Picks short examples.
pub(super) fn examples(members: &Map<String, Value>) -> Option<Value> {
    let one = members.get("example").or_else(|| members.get("x-example"));
    let several = members.get("examples").and_then(Value::as_array);
    let is_short = |value: &&Value| {
        !value.is_null() && !value.is_object() && !value.is_array() && fits(value, MOST_EXAMPLE_BYTES)
    };
    let all = one.into_iter().chain(several.into_iter().flatten().take(MOST_KINDS));
    let examples: Vec<Value> = all.filter(is_short).take(MOST_EXAMPLES).cloned().collect();
    (!examples.is_empty()).then(|| examples.into())
}

/// Puts right what is said in another way since, and what contradicts itself.
pub(super) fn tidy(members: &Map<String, Value>, version: Version, schema: &mut Map<String, Value>) {
    exclusive("exclusiveMinimum", "minimum", schema);
    exclusive("exclusiveMaximum", "maximum", schema);
    if schema.get("multipleOf").and_then(Value::as_f64).is_some_and(|step| step <= 0.0) {
        schema.remove("multipleOf");
    }
    choices(schema);
    let is_nullable = match version {
        Version::V30 => members.get("nullable") == Some(&Value::Bool(true)),
        Version::Swagger2 => members.get("x-nullable") == Some(&Value::Bool(true)),
        Version::V31 => false,
    };
    if is_nullable {
        match schema.get_mut("type") {
            Some(Value::String(kind)) => {
                let kind = kind.clone();
                schema.insert("type".to_owned(), json!([kind, "null"]));
            }
            Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => {
                kinds.push("null".into());
            }
            _ => {}
        }
    }
}

/// Makes one bound of a bound and the word that it is exclusive.
fn exclusive(keyword: &str, bound: &str, schema: &mut Map<String, Value>) {
    if let Some(Value::Bool(is_exclusive)) = schema.get(keyword) {
        let is_exclusive = *is_exclusive;
        schema.remove(keyword);
        if is_exclusive && let Some(bound) = schema.remove(bound) {
            schema.insert(keyword.to_owned(), bound);
        }
    }
}

/// Makes choices values of the type that is said, as far as it is clear which they are.
fn choices(schema: &mut Map<String, Value>) {
    let Some(Value::String(kind)) = schema.get("type").cloned() else { return };
    if kind == "array" {
        // Choices of a list are those of its items where none of them is a list.
        let is_of_items = schema
            .get("enum")
            .and_then(Value::as_array)
            .is_some_and(|choices| !choices.iter().any(Value::is_array));
        if is_of_items && let Some(choices) = schema.remove("enum") {
            let items = schema.entry("items").or_insert_with(|| json!({}));
            if let Value::Object(items) = items {
                items.entry("enum").or_insert(choices);
            }
        }
        return;
    }
    let Some(Value::Array(choices)) = schema.get_mut("enum") else { return };
    for choice in choices {
        let as_said = match (kind.as_str(), &*choice) {
            ("string", Value::Number(number)) => Some(number.to_string().into()),
            ("string", Value::Bool(yes)) => Some(yes.to_string().into()),
            ("integer", Value::String(text)) => text.parse::<i64>().ok().map(Value::from),
            ("number", Value::String(text)) => {
                text.parse().ok().and_then(Number::from_f64).map(Value::Number)
            }
            ("boolean", Value::String(text)) => text.parse::<bool>().ok().map(Value::from),
            _ => None,
        };
        if let Some(as_said) = as_said {
            *choice = as_said;
        }
    }
}
