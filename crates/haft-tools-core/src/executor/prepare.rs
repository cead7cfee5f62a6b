use super::Refusal;
use crate::panicked::{apart, discard};
use crate::registry::Entry;
use crate::{CallScope, Prepared};
use haft_core::{ErrorKind, ReplyStatus, ToolCall, ToolError};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Has the tool parse its input, resolve what that names, and declare what running it will touch.
pub(super) fn prepare(entry: &Entry, call: &ToolCall, scope: &CallScope) -> Result<Prepared, Refusal> {
    // The tool is only used again through a shared reference, as it would be by another call at the same time.
    match catch_unwind(AssertUnwindSafe(|| entry.tool.prepare(&call.input, scope))) {
        Ok(Ok(prepared)) => Ok(prepared),
        Ok(Err(error)) => {
            let refusal = Refusal::new(error.kind().into(), error.message());
            note(entry.name(), error, "preparing failed");
            Err(refusal)
        }
        Err(payload) => {
            discard(payload);
            Err(panicked(entry.name()))
        }
    }
}

/// Logs why a tool failed, and is done with it; what a cause does when it is shown or dropped is its tool's own.
pub(super) fn note(tool: &str, error: ToolError, what: &'static str) {
    apart(move || {
        tracing::debug!(tool, error = &error as &dyn std::error::Error, "{what}");
        drop(error);
    });
}

/// Answers for a tool that broke; what it said while breaking went to the host's panic hook, not to the model.
pub(super) fn panicked(tool: &str) -> Refusal {
    Refusal::new(
        ReplyStatus::Error(ErrorKind::Panicked),
        format!("`{tool}` broke while handling this call; this is a fault of the tool, so try another way"),
    )
}
