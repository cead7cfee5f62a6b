use super::Refusal;
use crate::registry::Entry;
use crate::validation::ValidInput;
use haft_core::{ErrorKind, Repair, ReplyStatus, ToolCall};
use serde_json::Value;

/// How many levels of arguments are weighed; deeper ones are refused for their depth.
const MOST_LEVELS: usize = 256;

/// Checks the call's arguments against the tool's schema, and puts the mended ones in their place.
///
/// Everything after this stage, permission included, sees the mended arguments.
pub(super) fn validate(
    entry: &Entry,
    call: &mut ToolCall,
    most_bytes: usize,
) -> Result<Vec<Repair>, Refusal> {
    if !weighs_at_most(&call.input, MOST_LEVELS, &mut { most_bytes }) {
        return Err(too_large(&entry.name, most_bytes));
    }
    let input = std::mem::take(&mut call.input);
    let ValidInput { value, repairs } = entry
        .validator
        .accept(&entry.name, input, entry.repairs)
        .map_err(|message| Refusal::new(ReplyStatus::Error(ErrorKind::InvalidInput), message))?;
    call.input = value;
    Ok(repairs)
}

/// Tells whether a value has at most so many bytes of text; whatever is not text counts as one.
fn weighs_at_most(value: &Value, levels: usize, left: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len(),
        _ => 1,
    };
    let Some(rest) = left.checked_sub(own) else { return false };
    *left = rest;
    match value {
        Value::Array(items) => levels == 0 || items.iter().all(|item| weighs_at_most(item, levels - 1, left)),
        Value::Object(members) => {
            levels == 0
                || members.iter().all(|(name, member)| {
                    *left = left.saturating_sub(name.len());
                    weighs_at_most(member, levels - 1, left)
                })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn too_large(tool: &str, most_bytes: usize) -> Refusal {
    let message = format!(
        "the arguments of `{tool}` are larger than {most_bytes} bytes; send less at once, in several calls if need be"
    );
    Refusal::new(ReplyStatus::Error(ErrorKind::InvalidInput), message)
}
