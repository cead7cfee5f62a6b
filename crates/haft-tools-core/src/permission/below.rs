use super::pending::PendingCall;
use crate::validation::is_within;
use haft_core::{ToolError, ToolErrorKind};

/// The most calls that one call waits for, those that these wait for included.
const MOST_CALLS: usize = 256;

/// The most bytes of texts and names in all of them, previews included.
const MOST_BYTES: usize = 16 << 20;

/// The most levels of arrays and objects that they have as JSON: `serde_json` reads 128, and what keeps them has some itself.
const MOST_LEVELS: usize = 112;

/// Is, as the cause of a tool's error, what the tool's call waits for.
#[derive(Debug, thiserror::Error)]
#[error("the call waits for {} calls below it", .0.len())]
pub(crate) struct WaitsFor(Vec<PendingCall>);

impl WaitsFor {
    /// Says that a tool's call waits for these; without any, and with more than can be kept, that it failed.
    pub(crate) fn error(tool: &str, calls: Vec<PendingCall>) -> ToolError {
        if calls.is_empty() {
            return ToolError::failed(format!(
                "`{tool}` said that it waits for other calls, and named none; this is a fault of the tool, so try another way"
            ));
        }
        if !can_be_kept(&calls) {
            return ToolError::failed(format!(
                "more waits for an approval below this call of `{tool}` than can be kept at once; ask for less with one call"
            ));
        }
        let message = "calls below this one need an approval that comes later, which cannot be waited for here; go on without \
                       them, or say what you would need";
        ToolError::new(ToolErrorKind::Denied, message).with_source(Self(calls))
    }

    /// Finds what a tool's call waits for, if it ended for that.
    pub(crate) fn of(error: &ToolError) -> Option<&[PendingCall]> {
        let waits: &Self = std::error::Error::source(error)?.downcast_ref()?;
        Some(&waits.0)
    }
}

/// Tells whether calls, and what these wait for, are within bounds, and can be read again once they are stored.
fn can_be_kept(calls: &[PendingCall]) -> bool {
    let all = calls.iter().flat_map(|call| std::iter::once(call).chain(call.all_below()));
    all.take(MOST_CALLS + 1).count() <= MOST_CALLS
        && serde_json::to_value(calls).is_ok_and(|value| is_within(&value, MOST_LEVELS, MOST_BYTES))
}
