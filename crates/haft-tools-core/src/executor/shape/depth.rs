//! How deep data may be nested.

use haft_core::{Content, ToolOutput};
use serde_json::Value;

/// How many levels of arrays and objects data of a reply may have: as many as arguments of a call.
///
/// `serde_json` reads 127, and whoever keeps a reply puts it some levels deep into a larger document.
pub(super) const MOST_LEVELS: usize = 100;

/// Tells whether a value has at most [`MOST_LEVELS`] levels.
pub(super) fn is_shallow(value: &Value) -> bool {
    within(value, MOST_LEVELS)
}

/// Tells whether the parts of an output that are JSON can be kept as such.
pub(super) fn fit(parts: &[Content]) -> bool {
    parts.iter().all(|part| !matches!(part, Content::Json { value } if !is_shallow(value)))
}

/// Turns parts that are JSON and too deep into text, which says the same to a model.
pub(super) fn flatten(output: &mut ToolOutput) {
    for part in &mut output.content {
        if let Content::Json { value } = part
            && !is_shallow(value)
        {
            *part = Content::text(value.to_string());
        }
    }
}

fn within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| within(item, levels - 1)),
        Value::Object(members) => levels > 0 && members.values().all(|member| within(member, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
