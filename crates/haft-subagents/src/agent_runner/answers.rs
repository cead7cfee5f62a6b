//! Goes on with the calls of a run that waited, by what people have answered meanwhile.

use super::AgentRunner;
use haft_agent::{Agent, ResumeError, RunEvent, RunState};
use haft_tools_core::{
    Approval, CallOutcome, CallScope, CallStanding, PendingCall, PendingId, ResumptionError, StoreError,
};

/// Why a call does not run whose answer nobody can tell any more.
const TOO_LATE: &str = "nobody answered in time";

impl AgentRunner {
    /// Goes on with each call that was answered, until none is left, or the run does not wait any more.
    pub(super) async fn answered(&self, agent: &Agent, scope: &CallScope, state: RunState) -> RunState {
        let mut state = state;
        while state.end().is_none() {
            // What cannot be read now still waits.
            let calls = state.pending().cloned().collect();
            let Ok(Some((pending, approval))) = self.next_answer(calls).await else { return state };
            let asked = questions(&state);
            state = match go_on_with(agent, scope, state.clone(), &pending, approval).await {
                Some(state) => state,
                None => return state,
            };
            // An answer that changed nothing would be found again and again.
            if questions(&state) == asked {
                return state;
            }
        }
        state
    }

    /// Finds a call that can be gone on with, of those that a run waits for.
    pub(super) async fn next_answer(
        &self,
        calls: Vec<PendingCall>,
    ) -> Result<Option<(PendingCall, Approval)>, StoreError> {
        for pending in calls {
            let answer = if pending.waits_below() {
                self.pending.answer_below(&pending).await?
            } else {
                self.answer_to(&pending).await?
            };
            if let Some(answer) = answer {
                return Ok(Some((pending, answer)));
            }
        }
        Ok(None)
    }

    /// Finds what was answered to a call that people are asked about.
    async fn answer_to(&self, pending: &PendingCall) -> Result<Option<Approval>, StoreError> {
        let too_late = || Approval::Deny { reason: TOO_LATE.to_owned() };
        Ok(match self.pending.standing(&pending.id).await? {
            CallStanding::Answered(answer) if answer.denies() || !pending.is_expired() => Some(answer),
            CallStanding::Waits if !pending.is_expired() => None,
            // One that waits no more is found to be claimed where a process went on with it and ended.
            _ => Some(too_late()),
        })
    }
}

/// What people are asked about calls of a run and of those below it.
fn questions(state: &RunState) -> Vec<PendingId> {
    state.pending().flat_map(PendingCall::leaves).map(|leaf| leaf.id.clone()).collect()
}

/// Goes on with one call; gives `None` where it still waits.
async fn go_on_with(
    agent: &Agent,
    scope: &CallScope,
    state: RunState,
    pending: &PendingCall,
    approval: Approval,
) -> Option<RunState> {
    let refused = match agent.resume(scope.clone(), state.clone(), &pending.call.id, approval).await {
        Ok(state) => return Some(state),
        Err(ResumeError::Refused(refused)) => refused,
        Err(_) => return None,
    };
    if matches!(refused, ResumptionError::Unclaimed { .. }) {
        return None;
    }
    // A process that has ended went on with it, or nobody can: whether it had its effect is not known.
    let lost = RunEvent::CallAnswered { outcome: CallOutcome::lost(&pending.call) };
    agent.step(scope.clone(), state, lost).await.ok()
}
