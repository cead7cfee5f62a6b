use super::Refusal;
use crate::registry::Entry;
use haft_core::{ErrorKind, Repair, ReplyStatus, ToolCall};

/// Checks the call's arguments against the tool's schema, puts mended ones in their place, and adds what was mended.
///
/// Everything after this stage, permission included, sees the mended arguments.
pub(super) fn validate(
    entry: &Entry,
    call: &mut ToolCall,
    repairs: &mut Vec<Repair>,
    most_bytes: usize,
) -> Result<(), Refusal> {
    let mended = entry
        .validator
        .accept(entry.name(), &call.input, entry.repairs, most_bytes)
        .map_err(|message| Refusal::new(ReplyStatus::Error(ErrorKind::InvalidInput), message))?;
    if let Some(mended) = mended {
        call.input = mended.value;
        repairs.extend(mended.repairs);
    }
    Ok(())
}
