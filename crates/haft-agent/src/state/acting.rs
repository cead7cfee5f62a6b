//! The calls of a turn: which of them are made, and what becomes of them.

use super::head::Pause;
use super::outcomes::{ready, reply_or_cancelled};
use super::{RunState, notices};
use crate::repeats::TOLD_AT;
use crate::{Effect, Phase, RunEnd, SteerWhen};
use haft_core::{BudgetKind, CallId, EventKind, Message, ToolCall};
use haft_tools_core::{CallOutcome, HeldCall};

impl RunState {
    /// Has the calls made that the budget lets be made, unless somebody has said something meanwhile.
    pub(super) fn act(&mut self, mut calls: Vec<ToolCall>) -> Vec<Effect> {
        if self.head.queue.iter().any(|queued| queued.when == SteerWhen::Now) {
            self.skip(&calls, notices::steered);
            return self.persist_and_think();
        }
        let account = &mut self.head.account;
        let left = match (account.left(BudgetKind::WallTime), account.left(BudgetKind::Calls)) {
            (Some(0), _) => 0,
            (_, Some(left)) => usize::try_from(left).unwrap_or(usize::MAX),
            (_, None) => usize::MAX,
        };
        if left == 0 {
            self.skip(&calls, notices::over_budget);
            return self.persist_and_think();
        }
        let skipped = calls.split_off(left.min(calls.len()));
        account.spent.calls = account.spent.calls.saturating_add(calls.len() as u64);
        let mut effects = vec![Effect::Persist];
        if self.head.pause == Pause::No {
            effects.push(Effect::ExecuteBatch { calls: calls.clone() });
        } else {
            self.head.pause = Pause::Held;
        }
        self.head.phase = Phase::Acting { calls, skipped };
        effects
    }

    /// Goes on when every call is answered, and waits for a person otherwise.
    ///
    /// Calls that were held back and no longer are go on; `executing` names those that do so already.
    pub(super) fn settle(&mut self, outcomes: Vec<CallOutcome>, mut executing: Vec<CallId>) -> Vec<Effect> {
        if outcomes.iter().all(|outcome| matches!(outcome, CallOutcome::Replied(_))) {
            let replies = outcomes.into_iter().map(reply_or_cancelled).collect();
            self.push(Message::Tool { replies });
            return self.acted();
        }
        let mut ready: Vec<HeldCall> =
            ready(&outcomes).filter(|held| !executing.contains(&held.call.id)).cloned().collect();
        let mut effects = vec![Effect::Persist];
        if !ready.is_empty() && self.head.pause != Pause::No {
            self.head.pause = Pause::Held;
            ready.clear();
        }
        executing.extend(ready.iter().map(|held| held.call.id.clone()));
        if !ready.is_empty() {
            effects.push(Effect::ExecuteHeld { calls: ready });
        } else if executing.is_empty() && self.head.pause != Pause::Held {
            effects.push(Effect::AwaitApproval);
        }
        self.head.phase = Phase::Waiting { outcomes, executing };
        effects
    }

    /// Goes on after the calls of a turn were answered, unless it goes round in circles.
    ///
    /// A run that was concluded ends, unless somebody has said something meanwhile: then it goes on with that, as any run does
    /// that would end.
    fn acted(&mut self) -> Vec<Effect> {
        if let Some(text) = self.head.conclusion.take()
            && self.head.queue.is_empty()
        {
            let effects = self.finish(RunEnd::Completed);
            self.head.conclusion = Some(text);
            return effects;
        }
        let Some(repeated) = self.head.repeats.note(&self.messages, &self.head.may_repeat) else {
            return self.persist_and_think();
        };
        let told = EventKind::Looping { name: repeated.name.clone(), times: repeated.times };
        if repeated.times > TOLD_AT {
            let ended = self.finish(RunEnd::Looping);
            return [Effect::Emit(told)].into_iter().chain(ended).collect();
        }
        self.push(Message::user(notices::looping(&repeated)));
        let think = self.think();
        [Effect::Persist, Effect::Emit(told)].into_iter().chain(think).collect()
    }
}
