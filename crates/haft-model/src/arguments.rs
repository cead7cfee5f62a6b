use serde_json::{Map, Value};

/// How many levels of arrays and objects arguments may have, and what a provider wants back.
///
/// `serde_json` reads 128. Whoever stores or sends a call puts it some levels deep into a larger document, which has to
/// be readable too.
pub(crate) const MAX_LEVELS: usize = 100;

/// Reads the arguments of a call from the text the model wrote.
///
/// Nothing at all is an empty object, as providers stream it for a tool without arguments. What is not JSON, or nested
/// deeper than [`MAX_LEVELS`], stays as it is, in a JSON string.
pub(crate) fn parse(text: String) -> Value {
    if text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(&text) {
        Ok(value) if fits(&value) => value,
        _ => Value::String(text),
    }
}

/// Writes the text from which [`parse`] reads this very value.
pub(crate) fn print(input: &Value) -> String {
    match input {
        Value::String(text) if parse(text.clone()) == *input => text.clone(),
        other => other.to_string(),
    }
}

/// Tells whether a value has at most [`MAX_LEVELS`] levels.
pub(crate) fn fits(value: &Value) -> bool {
    within(value, MAX_LEVELS)
}

fn within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| within(item, levels - 1)),
        Value::Object(members) => levels > 0 && members.values().all(|member| within(member, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
