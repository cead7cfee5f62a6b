use super::projection::{NotStrictError, NotStrictReason};
use serde_json::Value;

/// How many levels of objects may be nested.
const DEEPEST_OBJECTS: usize = 10;

/// How many properties all objects may have together.
const MOST_PROPERTIES: usize = 5000;

/// How many values all lists of permitted values may have together.
pub(super) const MOST_ENUM_VALUES: usize = 1000;

/// How many characters all names, permitted values and constants may have together.
pub(super) const MOST_TEXT: usize = 120_000;

/// With more strings than this, the values of one list are limited in their length, too.
const MANY_ENUM_VALUES: usize = 250;

/// How many characters the values of such a list may have together.
const MOST_ENUM_TEXT: usize = 15_000;

/// Checks a strict schema against what OpenAI states as limits.
///
/// References are not followed for the depth: each definition counts from its own top, since it may refer to itself.
pub(super) fn check(schema: &Value) -> Result<(), NotStrictError> {
    let (mut deepest, mut properties, mut values, mut text) = (0, 0, 0, 0);
    let mut open = vec![(schema, 0)];
    while let Some((schema, above)) = open.pop() {
        let depth = above + usize::from(schema.get("properties").is_some());
        deepest = deepest.max(depth);
        if let Some(Value::Object(members)) = schema.get("properties") {
            properties += members.len();
            text += members.keys().map(|name| name.chars().count()).sum::<usize>();
            open.extend(members.values().map(|schema| (schema, depth)));
        }
        if let Some(Value::Object(members)) = schema.get("$defs") {
            text += members.keys().map(|name| name.chars().count()).sum::<usize>();
            open.extend(members.values().map(|schema| (schema, 0)));
        }
        open.extend(schema.get("items").map(|items| (items, depth)));
        if let Some(Value::Array(branches)) = schema.get("anyOf") {
            open.extend(branches.iter().map(|schema| (schema, depth)));
        }
        text += schema.get("const").map_or(0, length);
        if let Some(Value::Array(listed)) = schema.get("enum") {
            let characters = listed.iter().map(length).sum::<usize>();
            if listed.len() > MANY_ENUM_VALUES && characters > MOST_ENUM_TEXT {
                return too_large("characters in the values of one enum", MOST_ENUM_TEXT);
            }
            values += listed.len();
            text += characters;
        }
    }
    if deepest > DEEPEST_OBJECTS {
        return too_large("nested objects", DEEPEST_OBJECTS);
    }
    if properties > MOST_PROPERTIES {
        return too_large("properties", MOST_PROPERTIES);
    }
    if values > MOST_ENUM_VALUES {
        return too_large("enum values", MOST_ENUM_VALUES);
    }
    if text > MOST_TEXT {
        return too_large("characters in names and enum values", MOST_TEXT);
    }
    Ok(())
}

fn length(value: &Value) -> usize {
    value.as_str().map_or_else(|| value.to_string().len(), |text| text.chars().count())
}

fn too_large(what: &'static str, limit: usize) -> Result<(), NotStrictError> {
    Err(NotStrictError { pointer: String::new(), reason: NotStrictReason::TooLarge { what, limit } })
}
