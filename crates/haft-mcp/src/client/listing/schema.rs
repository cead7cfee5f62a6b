//! What a schema says to those who read it, as opposed to what it says to a validator.

use crate::shown::is_hiding;
use haft_core::Visible;
use serde_json::Value;

/// The members of a schema that only say something to its reader.
const SAYINGS: [&str; 3] = ["title", "description", "$comment"];

/// The members of a schema that hold values, not schemas.
const VALUES: [&str; 4] = ["const", "enum", "default", "examples"];

/// The members of a schema that hold schemas by names of the writer's own.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Writes out what is hidden where a schema only speaks to its reader, and tells whether anything in it is hidden.
///
/// What a validator goes by stays as it is.
pub(super) fn make_visible(schema: &mut Value) -> bool {
    let mut hides = false;
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                hides |= is_hiding(name);
                match member {
                    Value::String(text) => {
                        if is_hiding(text) {
                            hides = true;
                            if SAYINGS.contains(&&**name) {
                                *text = Visible::new(text).to_string();
                            }
                        }
                    }
                    member if VALUES.contains(&&**name) => hides |= is_hidden_within(member),
                    Value::Object(named) if NAMED.contains(&&**name) => {
                        for (name, schema) in named {
                            hides |= is_hiding(name);
                            hides |= make_visible(schema);
                        }
                    }
                    member => hides |= make_visible(member),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                hides |= make_visible(item);
            }
        }
        Value::String(text) => hides = is_hiding(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    hides
}

/// Tells whether anything in a value is hidden.
fn is_hidden_within(value: &Value) -> bool {
    match value {
        Value::String(text) => is_hiding(text),
        Value::Array(items) => items.iter().any(is_hidden_within),
        Value::Object(members) => {
            members.iter().any(|(name, member)| is_hiding(name) || is_hidden_within(member))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::make_visible;
    use serde_json::json;

    #[test]
    fn only_what_speaks_to_readers_is_written_out() {
        let mut schema = json!({
            "description": "a\u{200b}b",
            "properties": { "description": { "const": { "description": "c\u{200b}d" }, "title": "e\u{202e}" } },
        });
        assert!(make_visible(&mut schema));
        assert_eq!(
            schema,
            json!({
                "description": "a\\u{200b}b",
                "properties": { "description": { "const": { "description": "c\u{200b}d" }, "title": "e\\u{202e}" } },
            })
        );
        assert!(!make_visible(&mut json!({ "description": "plain", "enum": ["a"] })));
        assert!(make_visible(&mut json!({ "properties": { "a\u{200b}": {} } })));
    }
}
