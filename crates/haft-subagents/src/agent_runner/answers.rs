//! Goes on with the calls of a run that waited, by what people have answered meanwhile.

use super::AgentRunner;
use haft_agent::{Agent, ResumeError, RunEvent, RunState};
use haft_tools_core::{Approval, CallOutcome, CallScope, PendingCall, PendingId, ResumeRefused, StoreError};
use std::collections::HashSet;

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
        if calls.is_empty() {
            return Ok(None);
        }
        let waiting = self.pending.waiting().await?;
        let waiting: HashSet<PendingId> = waiting.into_iter().map(|pending| pending.id).collect();
        for pending in calls {
            if pending.waits_below() {
                // It finds the answers itself, as soon as there is one.
                let mut is_answered = false;
                for leaf in pending.leaves() {
                    is_answered |= self.answer_to(leaf, &waiting).await?.is_some();
                }
                if is_answered {
                    return Ok(Some((pending, Approval::Approve)));
                }
            } else if let Some(approval) = self.answer_to(&pending, &waiting).await? {
                return Ok(Some((pending, approval)));
            }
        }
        Ok(None)
    }

    /// Finds what was answered to a call that people are asked about.
    async fn answer_to(
        &self,
        pending: &PendingCall,
        waiting: &HashSet<PendingId>,
    ) -> Result<Option<Approval>, StoreError> {
        let answer = self.pending.answer_to(&pending.id).await?.filter(|answer| !answer.waits());
        let too_late = || Approval::Deny { reason: TOO_LATE.to_owned() };
        Ok(match answer {
            Some(answer) if answer.denies() || !pending.is_expired() => Some(answer),
            // It is found to be claimed where a process went on with it and ended.
            None if waiting.contains(&pending.id) && !pending.is_expired() => None,
            Some(_) | None => Some(too_late()),
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
    if matches!(refused, ResumeRefused::Unclaimed { .. }) {
        return None;
    }
    // A process that has ended went on with it, or nobody can: whether it had its effect is not known.
    let lost = RunEvent::CallAnswered { outcome: CallOutcome::lost(&pending.call) };
    agent.step(scope.clone(), state, lost).await.ok()
}
