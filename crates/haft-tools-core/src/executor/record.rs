use crate::{Access, Approval, CallScope, Events, PendingCall};
use haft_core::{CallId, Decision, EventKind, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use std::time::Instant;

/// Follows one call and tells observers: one `Started`, one `Finished`, and what lies between.
///
/// Dropped without an end, it reports the call as cancelled: that is what happens to calls whose batch was dropped.
pub(super) struct Record<'a> {
    events: &'a Events,
    scope: &'a CallScope,
    call_id: CallId,
    name: String,
    started: Instant,
    open: bool,
}

impl<'a> Record<'a> {
    /// Takes up a call.
    pub(super) fn start(events: &'a Events, scope: &'a CallScope, call: &ToolCall) -> Self {
        let record = Self::resume(events, scope, call);
        record.tell(|| EventKind::Started { name: call.name.clone(), input: call.input.clone() });
        record
    }

    /// Takes up a call that was started before.
    pub(super) fn resume(events: &'a Events, scope: &'a CallScope, call: &ToolCall) -> Self {
        let (call_id, name) = (call.id.clone(), call.name.clone());
        Self { events, scope, call_id, name, started: Instant::now(), open: true }
    }

    pub(super) fn decided(&self, decision: Decision, reason: &dyn Fn() -> String) {
        self.tell(|| EventKind::Decided { decision, reason: reason() });
    }

    /// Tells what a person decided; an edited call is decided again, and one that waits is not decided.
    pub(super) fn answered(&self, approval: &Approval) {
        match approval {
            Approval::Approve => self.decided(Decision::Allow, &|| "approved".to_owned()),
            Approval::Deny { reason } if reason.is_empty() => {
                self.decided(Decision::Deny, &|| "not approved".to_owned());
            }
            Approval::Deny { reason } => self.decided(Decision::Deny, &|| format!("not approved: {reason}")),
            Approval::Edit { .. } | Approval::Later => {}
        }
    }

    pub(super) fn asked(&self, pending: &PendingCall) {
        self.tell(|| EventKind::ApprovalRequested {
            accesses: pending.unmet.iter().map(Access::to_string).collect(),
            preview: pending.preview.as_text().to_owned(),
        });
    }

    /// Leaves the call open: it waits, and another record will end it.
    pub(super) fn wait(mut self) {
        self.open = false;
    }

    /// Ends the call with its reply.
    pub(super) fn finish(mut self, mut reply: ToolReply) -> ToolReply {
        self.open = false;
        reply.duration = self.started.elapsed();
        self.tell(|| EventKind::Finished { reply: Box::new(reply.clone()) });
        reply
    }

    fn tell(&self, kind: impl FnOnce() -> EventKind) {
        self.events.emit(self.scope, Some(&self.call_id), kind);
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if self.open {
            let name = std::mem::take(&mut self.name);
            self.tell(|| {
                let output = ToolOutput::text("the call was abandoned: nothing waits for it any more");
                let reply = ToolReply::new(self.call_id.clone(), name, ReplyStatus::Cancelled, output);
                EventKind::Finished { reply: Box::new(reply) }
            });
        }
    }
}
