use super::RunState;
use crate::{Phase, RunEvent, StepError};
use haft_core::{CallId, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use haft_tools_core::{CallOutcome, HeldCall, PendingCall};
use std::collections::BTreeSet;

pub(super) fn check_outcomes(calls: &[ToolCall], outcomes: &[CallOutcome]) -> Result<(), StepError> {
    if calls.len() != outcomes.len() {
        let detail = format!("{} calls, {} outcomes", calls.len(), outcomes.len());
        return Err(StepError::Mismatch { detail });
    }
    match calls.iter().zip(outcomes).find(|(call, outcome)| &call.id != outcome.call_id()) {
        None => Ok(()),
        Some((call, outcome)) => {
            let detail = format!("`{}` where `{}` was due", outcome.call_id(), call.id);
            Err(StepError::Mismatch { detail })
        }
    }
}

/// Lists the calls that are held back.
pub(super) fn held(outcomes: &[CallOutcome]) -> impl Iterator<Item = &HeldCall> {
    outcomes.iter().filter_map(|outcome| match outcome {
        CallOutcome::Held(held) => Some(&**held),
        CallOutcome::Replied(_) | CallOutcome::Pending(_) => None,
    })
}

/// Lists the calls that were held back by others which are answered now.
pub(super) fn ready(outcomes: &[CallOutcome]) -> impl Iterator<Item = &HeldCall> {
    // An id can stand twice: a call that repeats it is answered with an error at once.
    let is_answered = |call: &CallId| {
        outcomes.iter().all(|known| known.call_id() != call || matches!(known, CallOutcome::Replied(_)))
    };
    held(outcomes).filter(move |held| held.behind.iter().all(is_answered))
}

pub(super) fn check_executed(executing: &[CallId], executed: &[CallOutcome]) -> Result<(), StepError> {
    let mut left: Vec<&CallId> = executing.iter().collect();
    for outcome in executed {
        let Some(place) = left.iter().position(|call| *call == outcome.call_id()) else {
            return Err(StepError::Mismatch {
                detail: format!("`{}` is not being executed", outcome.call_id()),
            });
        };
        left.swap_remove(place);
    }
    Ok(())
}

pub(super) fn pending_of(outcome: &CallOutcome) -> Option<&PendingCall> {
    match outcome {
        CallOutcome::Pending(pending) => Some(pending),
        CallOutcome::Replied(_) | CallOutcome::Held(_) => None,
    }
}

impl RunState {
    /// Says what a run whose process ended is to take note of, where these calls are known to wait for a person: those of them
    /// that it was making wait, since they have not begun, and all others were [interrupted](RunEvent::Interrupted).
    pub fn interruption(&self, waiting: &[PendingCall]) -> RunEvent {
        let waits = |call: &ToolCall| waiting.iter().find(|pending| pending.call.id == call.id);
        match self.phase() {
            Phase::Acting { calls, .. }
                if !self.is_paused() && calls.iter().any(|call| waits(call).is_some()) =>
            {
                let outcome = |call: &ToolCall| match waits(call) {
                    Some(pending) => CallOutcome::Pending(Box::new(pending.clone())),
                    None => interrupted(call, &self.head.made_again),
                };
                RunEvent::BatchExecuted { outcomes: calls.iter().map(outcome).collect() }
            }
            _ => RunEvent::Interrupted,
        }
    }
}

/// Says what becomes of a call that was being executed when its process ended.
pub(super) fn interrupted(call: &ToolCall, made_again: &BTreeSet<String>) -> CallOutcome {
    if made_again.contains(&call.name) {
        CallOutcome::Held(Box::new(HeldCall::new(call.clone())))
    } else {
        CallOutcome::lost(call)
    }
}

pub(super) fn reply_or_cancelled(outcome: CallOutcome) -> ToolReply {
    match outcome {
        CallOutcome::Replied(reply) => reply,
        CallOutcome::Pending(pending) => cancelled(&pending.call),
        CallOutcome::Held(held) => cancelled(&held.call),
    }
}

pub(super) fn cancelled(call: &ToolCall) -> ToolReply {
    let output = ToolOutput::text("the run was cancelled before this call was done");
    ToolReply::new(call.id.clone(), call.name.clone(), ReplyStatus::Cancelled, output)
}
