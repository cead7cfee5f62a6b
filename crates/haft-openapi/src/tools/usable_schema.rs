//! Schemas whose patterns can be used.

use crate::schema::OperationSchema;
use haft_core::Schema;
use haft_tools_core::CompiledSchema;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Takes the patterns out of a schema if one of them is of a dialect that is not understood here: a tool with such a schema
/// could not be registered.
pub(super) fn usable(schema: OperationSchema, known: &Mutex<HashMap<Box<str>, bool>>) -> Schema {
    if all_are_usable(schema.schema().as_value(), known) {
        schema.into_schema()
    } else {
        schema.without_patterns().into_schema()
    }
}

fn all_are_usable(schema: &Value, known: &Mutex<HashMap<Box<str>, bool>>) -> bool {
    match schema {
        Value::Object(members) => members.iter().all(|(name, member)| match (name.as_str(), member) {
            ("pattern", Value::String(pattern)) => is_usable(pattern, known),
            ("patternProperties", Value::Object(named)) => named
                .iter()
                .all(|(pattern, member)| is_usable(pattern, known) && all_are_usable(member, known)),
            // What stands here is called as the API likes, also as a keyword is.
            ("properties" | "dependentSchemas" | "$defs", Value::Object(named)) => {
                named.values().all(|member| all_are_usable(member, known))
            }
            ("default" | "enum" | "const" | "examples", _) => true,
            (_, member) => all_are_usable(member, known),
        }),
        Value::Array(items) => items.iter().all(|item| all_are_usable(item, known)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// Documents say the same pattern often, and to read one takes long.
fn is_usable(pattern: &str, known: &Mutex<HashMap<Box<str>, bool>>) -> bool {
    let locked = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = locked().get(pattern) {
        return *known;
    }
    let is_usable = CompiledSchema::compile(json!({ "pattern": pattern })).is_ok();
    locked().insert(pattern.into(), is_usable);
    is_usable
}

#[cfg(test)]
mod tests {
    use super::all_are_usable;
    use haft_tools_core::CompiledSchema;
    use serde_json::{Value, json};
    use std::sync::Mutex;

    fn check(schema: &Value, expected: bool) {
        assert_eq!(all_are_usable(schema, &Mutex::default()), expected, "{schema}");
    }

    #[test]
    fn a_property_may_be_called_as_a_keyword_is() {
        let broken = json!({ "pattern": "(" });
        assert!(CompiledSchema::compile(broken.clone()).is_err());
        for name in ["default", "enum", "const", "examples", "pattern", "plain"] {
            check(&json!({ "properties": { name: broken } }), false);
            check(&json!({ "$defs": { name: broken } }), false);
            check(&json!({ "properties": { name: { "pattern": "a" } } }), true);
        }
        for keyword in ["default", "const", "examples"] {
            check(&json!({ keyword: broken }), true);
        }
        check(&json!({ "patternProperties": { "(": {} } }), false);
        check(&json!({ "properties": { "pattern": "(" } }), true);
    }
}
