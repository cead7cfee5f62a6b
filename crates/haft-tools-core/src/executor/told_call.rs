//! What observers are told of the beginning and the end of a call, whoever executes it.

use super::{Batch, CallOutcome};
use crate::{Events, PendingCall, Unmet};
use haft_core::{EventKind, ReplyStatus, ToolCall, ToolOutput, ToolReply};

/// Is a call of which observers are told that it has started, and are told once what became of it: for executors that have calls
/// made elsewhere, or answer them themselves.
///
/// Dropped without an end, it tells that the call was cancelled: that is what happens where the batch is dropped.
///
/// ```
/// use haft_core::{Event, EventKind, ReplyStatus, ToolCall, ToolOutput, ToolReply};
/// use haft_tools_core::{Batch, CallOutcome, CallScope, Events, ToldCall};
/// use serde_json::json;
///
/// let events = Events::default();
/// let mut reader = events.subscribe(8);
/// let call = ToolCall::new("c1".parse()?, "ping", json!({}));
/// let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
///
/// let told = ToldCall::start(&batch, &events, &batch.calls()[0]);
/// let reply = ToolReply::new("c1".parse()?, "ping", ReplyStatus::Ok, ToolOutput::text("pong"));
/// told.end(&CallOutcome::Replied(reply));
///
/// let mut next = || reader.try_next().map(|delivery| delivery.event.kind.clone());
/// assert!(matches!(next(), Some(EventKind::Started { .. })));
/// assert!(matches!(next(), Some(EventKind::Finished { .. })));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug)]
#[must_use = "a call that is not ended is told as cancelled"]
pub struct ToldCall<'a> {
    batch: &'a Batch,
    events: &'a Events,
    call: &'a ToolCall,
    is_open: bool,
}

impl<'a> ToldCall<'a> {
    /// Tells whoever observes the batch, or these events, that one of its calls starts.
    pub fn start(batch: &'a Batch, events: &'a Events, call: &'a ToolCall) -> Self {
        batch.tell(events, &call.id, || started(call));
        Self { batch, events, call, is_open: true }
    }

    /// Tells what became of it: how it was answered, or that it waits. A call that is held back has not started, and nothing is
    /// told of it.
    pub fn end(mut self, outcome: &CallOutcome) {
        self.tell_end(outcome);
    }

    fn tell_end(&mut self, outcome: &CallOutcome) {
        self.is_open = false;
        if self.batch.is_observed(self.events)
            && let Some(end) = ended(outcome)
        {
            self.batch.tell(self.events, &self.call.id, || end);
        }
    }
}

impl Drop for ToldCall<'_> {
    fn drop(&mut self) {
        if self.is_open {
            let output = ToolOutput::text("nothing waits for the call any more; it may go on where it runs");
            let (id, name) = (self.call.id.clone(), self.call.name.clone());
            let reply = ToolReply::new(id, name, ReplyStatus::Cancelled, output);
            self.tell_end(&CallOutcome::Replied(reply));
        }
    }
}

/// Is the event of a call that starts.
pub(super) fn started(call: &ToolCall) -> EventKind {
    EventKind::Started { name: call.name.clone(), input: call.input.clone() }
}

/// Is the event of a call that is answered.
pub(super) fn finished(reply: &ToolReply) -> EventKind {
    EventKind::Finished { reply: Box::new(reply.clone()) }
}

/// Is the event of a call that comes to wait: for a person, or for calls below it.
pub(super) fn waits(pending: &PendingCall) -> EventKind {
    if pending.waits_below() {
        let leaves = pending.leaves().count();
        return EventKind::WaitsBelow { calls: u64::try_from(leaves).unwrap_or(u64::MAX) };
    }
    EventKind::ApprovalRequested {
        accesses: pending.unmet.iter().map(Unmet::printed).collect(),
        preview: pending.preview.as_text().to_owned(),
    }
}

/// Is the event of what became of a call; none of one that is held back.
pub(super) fn ended(outcome: &CallOutcome) -> Option<EventKind> {
    match outcome {
        CallOutcome::Replied(reply) => Some(finished(reply)),
        CallOutcome::Pending(pending) => Some(waits(pending)),
        CallOutcome::Held(_) => None,
    }
}
