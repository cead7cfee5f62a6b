use super::Refusal;
use crate::registry::Entry;
use crate::validation::ValidInput;
use haft_core::{ErrorKind, Repair, ReplyStatus, ToolCall};

/// Checks the call's arguments against the tool's schema, and puts the mended ones in their place.
///
/// Everything after this stage, permission included, sees the mended arguments.
pub(super) fn validate(
    entry: &Entry,
    call: &mut ToolCall,
    most_bytes: usize,
) -> Result<Vec<Repair>, Refusal> {
    let input = std::mem::take(&mut call.input);
    let ValidInput { value, repairs } = entry
        .validator
        .accept(&entry.name, input, entry.repairs, most_bytes)
        .map_err(|message| Refusal::new(ReplyStatus::Error(ErrorKind::InvalidInput), message))?;
    call.input = value;
    Ok(repairs)
}
