use super::frame::Frame;
use crate::{Access, Approval, PendingCall};
use haft_core::{Decision, EventKind, Repair, ReplyStatus, ToolCall, ToolOutput, ToolReply, Truncation};
use std::sync::Arc;
use std::time::Instant;

/// Follows one call and tells observers: one `Started`, one `Finished`, and what lies between.
///
/// Dropped without an end, it reports the call as cancelled: that is what happens to calls whose batch was dropped.
pub(super) struct Record<'a> {
    frame: &'a Arc<Frame>,
    pub(super) call: ToolCall,
    started: Instant,
    open: bool,
}

impl<'a> Record<'a> {
    /// Takes up a call.
    pub(super) fn start(frame: &'a Arc<Frame>, call: ToolCall) -> Self {
        let record = Self::resume(frame, call);
        record
            .tell(|| EventKind::Started { name: record.call.name.clone(), input: record.call.input.clone() });
        record
    }

    /// Takes up a call that was started before.
    pub(super) fn resume(frame: &'a Arc<Frame>, call: ToolCall) -> Self {
        Self { frame, call, started: Instant::now(), open: true }
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

    /// Tells that the call failed and is tried again.
    pub(super) fn retried(&self, attempt: u32, reason: &str) {
        self.tell(|| EventKind::Retried { attempt, reason: reason.to_owned() });
    }

    /// Leaves the call open: it waits, and another record will end it.
    pub(super) fn wait(mut self) {
        self.open = false;
    }

    /// Ends the call with what it is answered with; the call's name goes with the reply.
    pub(super) fn finish(
        &mut self,
        status: ReplyStatus,
        output: ToolOutput,
        truncation: Option<Truncation>,
        repairs: Vec<Repair>,
    ) -> ToolReply {
        self.open = false;
        let name = std::mem::take(&mut self.call.name);
        let mut reply = ToolReply::new(self.call.id.clone(), name, status, output);
        reply.duration = self.started.elapsed();
        reply.truncation = truncation;
        reply.repairs = repairs;
        self.tell(|| EventKind::Finished { reply: Box::new(reply.clone()) });
        reply
    }

    fn tell(&self, kind: impl FnOnce() -> EventKind) {
        self.frame.events().emit(&self.frame.scope, Some(&self.call.id), kind);
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if self.open {
            let name = std::mem::take(&mut self.call.name);
            self.tell(|| {
                let output = ToolOutput::text("the call was abandoned: nothing waits for it any more");
                let reply = ToolReply::new(self.call.id.clone(), name, ReplyStatus::Cancelled, output);
                EventKind::Finished { reply: Box::new(reply) }
            });
        }
    }
}
