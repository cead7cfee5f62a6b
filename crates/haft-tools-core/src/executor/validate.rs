use super::Refusal;
use crate::registry::Entry;
use crate::validation::Mended;
use haft_core::{ErrorKind, Repair, ReplyStatus, ToolCall};

/// Checks the call's arguments against the tool's schema, and puts the mended ones in their place.
///
/// Everything after this stage, permission included, sees the mended arguments.
pub(super) fn validate(
    entry: &Entry,
    call: &mut ToolCall,
    most_bytes: usize,
) -> Result<Vec<Repair>, Refusal> {
    let mended = entry
        .validator
        .accept(&entry.name, &call.input, entry.repairs, most_bytes)
        .map_err(|message| Refusal::new(ReplyStatus::Error(ErrorKind::InvalidInput), message))?;
    Ok(mended.map_or_else(Vec::new, |Mended { value, repairs }| {
        call.input = value;
        repairs
    }))
}
