use crate::StoreFault;
use haft_tools_core::{Approval, PendingCall, PendingId};
use serde_json::Value;

/// Is one entry of a list in which those stand, too, that cannot be read.
///
/// An entry cannot be read when it is damaged, or when another version of the program wrote it. Its name can, so that it can
/// be removed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry<T> {
    /// Names it.
    pub id: String,
    /// What it holds, or why that cannot be read.
    pub value: Result<T, StoreFault>,
}

/// Is one call that waits, also one that cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct PendingEntry {
    /// Names it.
    pub id: PendingId,
    /// The run it belongs to.
    pub run: String,
    /// The run at the top of those above it, which is the one to be gone on with; its own if there is none above, or that
    /// cannot be read.
    pub top: String,
    /// When it was asked, in milliseconds since the Unix epoch.
    pub asked_at_ms: u64,
    /// The call, or why it cannot be read.
    pub call: Result<PendingCall, StoreFault>,
    /// The answer that was kept to it, if there is one, or why that cannot be read.
    pub answer: Result<Option<Approval>, StoreFault>,
    /// What the host of its run, or else of the one at the top, has kept of itself: `null` where neither is kept or can be
    /// read.
    pub host: Value,
}
