use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::sync::Arc;

/// Holds a JSON Schema that describes an object, such as a tool's arguments.
///
/// Checked here: it is a JSON object, and where it has a top-level `type`, that is `object`. Whether it is a valid
/// schema in full is found out when it is compiled, at registration. Cheap to clone.
///
/// ```
/// use haft_core::Schema;
/// use serde_json::json;
///
/// let schema = Schema::new(json!({ "type": "object", "properties": { "path": { "type": "string" } } }))?;
/// assert!(schema.as_value()["properties"]["path"].is_object());
/// assert!(Schema::new(json!({ "type": "string" })).is_err());
/// # Ok::<(), haft_core::SchemaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema(Arc<Value>);

/// Says why a JSON value is not the schema of an object.
///
/// ```
/// use haft_core::{Schema, SchemaError};
/// use serde_json::json;
///
/// assert_eq!(Schema::new(json!([])), Err(SchemaError::NotAnObject { found: "an array" }));
/// let error = Schema::new(json!({ "type": "string" })).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"the top level of a schema must have the type `object`, not "string""#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The value is not a JSON object.
    #[error("a schema must be a JSON object, not {found}")]
    NotAnObject {
        /// What it is instead.
        found: &'static str,
    },
    /// The schema describes something else than an object.
    #[error("the top level of a schema must have the type `object`, not {found}")]
    NotOfObjects {
        /// Its `type`, as JSON.
        found: Value,
    },
}

impl Schema {
    /// Takes a JSON Schema; a missing top-level `type` is filled in, since some providers insist on it.
    pub fn new(mut schema: Value) -> Result<Self, SchemaError> {
        let Value::Object(members) = &mut schema else {
            return Err(SchemaError::NotAnObject { found: kind_of(&schema) });
        };
        match members.get("type") {
            Some(Value::String(kind)) if kind == "object" => {}
            Some(found) => return Err(SchemaError::NotOfObjects { found: found.clone() }),
            None => {
                members.insert("type".to_owned(), json!("object"));
            }
        }
        Ok(Self(Arc::new(schema)))
    }

    /// Makes the schema of an object without any property.
    pub fn empty() -> Self {
        Self(Arc::new(json!({ "type": "object", "properties": {}, "additionalProperties": false })))
    }

    /// Borrows the schema as JSON.
    pub fn as_value(&self) -> &Value {
        &self.0
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::new(value).map_err(serde::de::Error::custom)
    }
}
