use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a member that is there as `Some`, also where it is null: serde alone reads null as `None`.
///
/// To be used with `default`, which stands in for a member that is missing.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
