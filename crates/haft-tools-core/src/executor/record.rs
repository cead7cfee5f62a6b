use super::asking;
use super::frame::Frame;
use super::{Refusal, span, told_call};
use crate::{Approval, CallJournal, DecidedBy, Grant, PendingCall, PersonAnswer};
use haft_core::{Decision, EventKind, Repair, ReplyStatus, ToolCall, ToolOutput, ToolReply, Truncation};
use std::sync::Arc;
use std::time::Instant;
use tracing::Span;

/// Follows one call and tells observers: one `Started`, one `Finished`, and what lies between.
///
/// Dropped without an end, it reports the call as cancelled: that is what happens to calls whose batch was dropped.
pub(super) struct Record<'a> {
    frame: &'a Arc<Frame>,
    pub(super) call: ToolCall,
    pub(super) journal: CallJournal,
    started: Instant,
    open: bool,
}

impl<'a> Record<'a> {
    /// Takes up a call.
    pub(super) fn start(frame: &'a Arc<Frame>, call: ToolCall) -> Self {
        let record = Self::resume(frame, call);
        record.tell(|| told_call::started(&record.call));
        record
    }

    /// Takes up a call that was started before.
    pub(super) fn resume(frame: &'a Arc<Frame>, call: ToolCall) -> Self {
        let journal = frame.shared.journal.call(&frame.scope, &call).redacted_by(&frame.shared.redactor);
        Self { frame, call, journal, started: Instant::now(), open: true }
    }

    pub(super) fn decided(&self, decision: Decision, reason: &dyn Fn() -> String) {
        self.tell(|| EventKind::Decided { decision, reason: reason() });
    }

    /// Tells what a person decided; an edited call is decided again, and one that waits is not decided.
    pub(super) fn answered(&mut self, approval: &Approval) {
        self.journal.answered();
        let (answer, said) = match approval {
            Approval::Approve | Approval::ApproveFor { .. } => (PersonAnswer::Approved, ""),
            Approval::Deny { reason } | Approval::Never { reason, .. } => {
                (PersonAnswer::Denied, reason.as_str())
            }
            Approval::TimedOut { .. } => (PersonAnswer::NoAnswer, "nobody answered in time"),
            Approval::Nobody => (PersonAnswer::NoAnswer, asking::NO_APPROVER),
            Approval::Edit { .. } | Approval::Later | Approval::KeptAs { .. } => return,
        };
        self.journal.decided(|| DecidedBy::person(answer, said));
        match answer {
            PersonAnswer::Denied if said.is_empty() => {
                self.decided(Decision::Deny, &|| "not approved".to_owned());
            }
            PersonAnswer::Denied => self.decided(Decision::Deny, &|| format!("not approved: {said}")),
            PersonAnswer::NoAnswer => self.decided(Decision::Deny, &|| said.to_owned()),
            _ => self.decided(Decision::Allow, &|| "approved".to_owned()),
        }
    }

    /// Tells that earlier answers decide.
    pub(super) fn remembered(&mut self, decision: Decision, grants: &[Arc<Grant>]) {
        let rules = || grants.iter().map(|grant| grant.rule.clone()).collect::<Vec<_>>();
        self.journal.decided(|| DecidedBy::Grant {
            ids: grants.iter().map(|grant| grant.id.clone()).collect(),
            rules: rules(),
        });
        self.decided(decision, &|| format!("as answered before: {}", rules().join(", ")));
    }

    /// Tells that the call goes on, and was approved before it came to wait for calls below it.
    pub(super) fn approved_before(&mut self) {
        let when = "before it waited for calls below it";
        self.journal.decided(|| DecidedBy::person(PersonAnswer::Approved, when));
        self.decided(Decision::Allow, &|| format!("approved {when}"));
    }

    /// Tells that a person wrote the input themselves.
    pub(super) fn edited(&mut self) {
        self.journal.decided(|| DecidedBy::person(PersonAnswer::ApprovedEdited, ""));
        self.decided(Decision::Allow, &|| "approved with other arguments".to_owned());
    }

    /// Notes that the call is about to run; without the note it must not.
    pub(super) fn begun(&mut self) -> Result<(), Refusal> {
        self.journal.begun().map_err(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::error!(call = %self.call.id, error, "the journal cannot be written, so the call is refused");
            Refusal::new(
                ReplyStatus::Denied,
                "the host cannot record calls at the moment, and runs none that it cannot record; nothing was done, so \
                 say so and stop",
            )
        })
    }

    pub(super) fn asked(&mut self, pending: &PendingCall) {
        self.journal.asks();
        self.tell(|| told_call::waits(pending));
    }

    /// Tells that the call has run, and waits until people have answered those below it.
    pub(super) fn waits_below(&self, pending: &PendingCall) {
        self.tell(|| told_call::waits(pending));
    }

    /// Tells that the call failed and is tried again.
    pub(super) fn retried(&self, attempt: u32, reason: &str) {
        self.tell(|| EventKind::Retried { attempt, reason: reason.to_owned() });
    }

    /// Leaves the call open: it waits, and another record will end it.
    pub(super) fn wait(&mut self) {
        self.open = false;
        if let Err(error) = self.journal.waits() {
            let error = &error as &dyn std::error::Error;
            tracing::error!(call = %self.call.id, error, "the journal cannot record that the call waits");
        }
    }

    /// Ends the call with what it is answered with; the call's name goes with the reply.
    pub(super) fn finish(
        &mut self,
        status: ReplyStatus,
        output: ToolOutput,
        truncation: Option<Truncation>,
        repairs: Vec<Repair>,
        span: &Span,
    ) -> ToolReply {
        self.open = false;
        let name = std::mem::take(&mut self.call.name);
        let mut reply = ToolReply::new(self.call.id.clone(), name, status, output);
        reply.duration = self.started.elapsed();
        reply.truncation = truncation;
        reply.repairs = repairs;
        if let Err(error) = self.journal.ended(&reply) {
            let error = &error as &dyn std::error::Error;
            tracing::error!(call = %reply.call_id, error, "the journal cannot record how the call ended");
        }
        self.tell(|| told_call::finished(&reply));
        span::answered(span, &reply, self.frame.shared.span_content);
        reply
    }

    fn tell(&self, kind: impl FnOnce() -> EventKind) {
        self.frame.emit(&self.call.id, kind);
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if self.open {
            let name = std::mem::take(&mut self.call.name);
            self.tell(|| {
                let output = ToolOutput::text("the call was abandoned: nothing waits for it any more");
                let reply = ToolReply::new(self.call.id.clone(), name, ReplyStatus::Cancelled, output);
                told_call::finished(&reply)
            });
        }
    }
}
