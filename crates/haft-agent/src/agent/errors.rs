use haft_core::{CallId, RunId};
use haft_tools_core::ResumeRefused;
use std::error::Error;

/// Says why an answer to a call was not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The call does not wait.
    #[error("no call `{call}` waits in this run; it was answered before, or it never asked")]
    NotWaiting {
        /// The call.
        call: CallId,
    },
    /// The call is not gone on with.
    #[error(transparent)]
    Refused(#[from] ResumeRefused),
}

/// Says that a run cannot be reached, because the agent does not drive it now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the run `{run}` is not at work; it has ended, waits, or is driven elsewhere")]
pub struct NotAtWork {
    /// The run.
    pub run: RunId,
}

/// Writes an error with its causes, one after the other, for people.
pub(super) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
