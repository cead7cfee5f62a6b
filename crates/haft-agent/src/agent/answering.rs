//! Goes on with calls that waited for a person.

use super::driving::{Run, in_time};
use super::{Agent, ResumeError};
use crate::{RunEvent, RunState, Spent};
use haft_tools_core::{
    Approval, Batch, CallOutcome, CallScope, HeldCall, PendingCall, PendingId, Resumption, ResumptionError,
    now_ms,
};
use tracing::Instrument as _;

impl Agent {
    /// Goes on with a call that waited, and with its run.
    pub(super) async fn drive_answer(
        &self,
        scope: &CallScope,
        state: RunState,
        pending: PendingCall,
        approval: Approval,
    ) -> Result<RunState, ResumeError> {
        let may_go_on = !approval.denies() && !approval.waits() && self.is_made_again(&pending.call.name);
        // Whoever went on with the call before may have ended in the middle of it, unless they are at it.
        let again = (may_go_on && self.at_work.get(scope.run()).is_none())
            .then(|| (pending.clone(), approval.clone()));
        let mut run = Run::begin(self, scope, state);
        if let Some(refused) = run.refuse() {
            run.drive(refused).await;
            return Ok(run.state);
        }
        let left = run.pick_up();
        if may_go_on {
            // Once the call has begun, nobody else knows any more what was answered to it.
            run.state.note_approved(Some((pending.call.id.clone(), approval.clone())));
            run.keep().await;
            if let Some(reason) = run.fault.take() {
                let effects = run.fail(reason);
                run.drive(effects).await;
                return Ok(run.state);
            }
        }
        let resumed = run.resume(pending, approval).await;
        let outcome = match (resumed, again) {
            (Ok(outcome), _) => Some(outcome),
            (Err(ResumptionError::ResumedBefore { .. }), Some((pending, approval))) => {
                run.resume_again(pending, approval).await
            }
            (Err(refused), _) => {
                if may_go_on {
                    run.state.note_approved(None);
                    run.keep().await;
                }
                run.give_back();
                return Err(refused.into());
            }
        };
        run.meter(Spent::default());
        let effects = match outcome {
            Some(outcome) => run.advance(RunEvent::CallAnswered { outcome }),
            None => run.fail("the executor gave no outcome of a call".to_owned()),
        };
        let effects = run.with_left(left, effects);
        run.drive(effects).await;
        Ok(run.state)
    }
}

impl Run<'_> {
    /// Goes on with a call that waited.
    async fn resume(
        &mut self,
        pending: PendingCall,
        approval: Approval,
    ) -> Result<CallOutcome, ResumptionError> {
        let token = self.controls().token.child_token();
        let mut resumption =
            Resumption::new(self.turn_scope(), pending, approval).cancelled_by(token.clone());
        if let Some(caller) = &self.agent.caller {
            resumption = resumption.made_by(caller);
        }
        if let Some(registry) = &self.offered().registry {
            resumption = resumption.with_registry(registry.clone());
        }
        let resumed = self.agent.executor.resume(resumption).instrument(self.span.clone());
        let resumed = in_time(self.time_left(), &token, resumed);
        self.attend(resumed).await
    }

    /// Makes a call again with which somebody else went on, by the word that a person has given; gives nothing if the executor
    /// forgets it.
    async fn resume_again(&mut self, mut pending: PendingCall, approval: Approval) -> Option<CallOutcome> {
        let mut held = HeldCall::new(pending.call.clone());
        if let Approval::Edit { input } = &approval {
            held.call.input = input.clone();
        }
        // The right to go on with it is used up under its own name.
        pending.id = PendingId::new(format!("{}-{:x}", pending.id, now_ms()));
        pending.expires_at_ms = None;
        match self.resume(pending, approval).await {
            Ok(outcome) => Some(outcome),
            // An executor that goes on only with what it knows makes it anew, and asks about it again.
            Err(_) => self.execute(Batch::of_held(self.turn_scope(), [held])).await.pop(),
        }
    }
}
