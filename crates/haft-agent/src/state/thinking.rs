//! The turns of the model: what lets one begin, and what becomes of it.

use super::head::Pause;
use super::{RunState, notices};
use crate::repeats::Repeats;
use crate::{Effect, Phase, Queued, RunEnd, SteerWhen};
use haft_core::{BudgetKind, EventKind, Message, StopReason, ToolCall, ToolReply};
use haft_model::ModelTurn;

impl RunState {
    pub(super) fn prompted(&mut self, text: String) -> Vec<Effect> {
        // What was said before comes before it.
        self.take_queue();
        self.push(Message::user(text));
        self.head.repeats = Repeats::default();
        self.head.conclusion = None;
        if let Some(which) = self.head.closing {
            // It was told before, and has had its last turn.
            if self.head.account.exhausted().is_some() {
                return self.finish(RunEnd::BudgetSpent { which });
            }
            self.head.closing = None;
        }
        // The model must not answer what nobody knows of when the process ends meanwhile.
        self.persist_and_think()
    }

    /// Begins a turn of the model, unless the run is paused: it is told what came meanwhile, and that it is the last one if a
    /// budget is spent.
    pub(super) fn think(&mut self) -> Vec<Effect> {
        self.head.phase = Phase::Thinking;
        if self.head.pause != Pause::No {
            self.head.pause = Pause::Held;
            return Vec::new();
        }
        self.take_queue();
        let mut effects = Vec::with_capacity(3);
        if self.head.closing.is_none()
            && let Some(which) = self.head.account.exhausted()
        {
            effects.push(self.close(which));
        }
        effects
            .extend([Effect::Emit(EventKind::TurnStarted { turn: self.head.turns + 1 }), Effect::CallModel]);
        effects
    }

    /// Puts what was said into the transcript.
    fn take_queue(&mut self) {
        for Queued { text, .. } in std::mem::take(&mut self.head.queue) {
            self.push(Message::user(text));
        }
    }

    /// Tells the model that its next turn is the last one.
    fn close(&mut self, which: BudgetKind) -> Effect {
        self.head.closing = Some(which);
        self.push(Message::user(notices::closing(which, &self.head.account)));
        Effect::Emit(EventKind::BudgetSpent { which })
    }

    /// Takes note that the model was given no more time.
    pub(super) fn timed_out(&mut self) -> Vec<Effect> {
        let discarded = self.discarded("the time of the run was over", self.head.closing.is_none());
        let next = match self.head.closing {
            Some(which) => self.finish(RunEnd::BudgetSpent { which }),
            None => self.persist_and_think(),
        };
        discarded.into_iter().chain(next).collect()
    }

    /// Tells that the turn which the model was taking came to nothing, if it was taking one.
    pub(super) fn discarded(&self, reason: &str, again: bool) -> Option<Effect> {
        let is_under_way = self.head.phase == Phase::Thinking && self.head.pause != Pause::Held;
        let turn = self.head.turns + 1;
        let discarded = || EventKind::TurnDiscarded { turn, reason: reason.to_owned(), again };
        is_under_way.then(|| Effect::Emit(discarded()))
    }

    pub(super) fn steered(&mut self, text: String, when: SteerWhen) -> Vec<Effect> {
        let told = EventKind::Steered { text: text.clone(), now: when == SteerWhen::Now };
        self.head.queue.push(Queued { text, when });
        vec![Effect::Persist, Effect::Emit(told)]
    }

    /// Goes on with what was said while the end of the run was being kept, if it was completed: its end is given to nobody
    /// before that.
    pub(crate) fn take_back_end(&mut self) -> Vec<Effect> {
        if self.end() != Some(&RunEnd::Completed) || self.head.queue.is_empty() {
            return Vec::new();
        }
        self.head.conclusion = None;
        self.persist_and_think()
    }

    /// Takes note of what the model is told with the turn that it is about to take.
    pub(super) fn heard(&mut self, texts: Vec<String>) -> Vec<Effect> {
        let told = |text: &String| Effect::Emit(EventKind::Steered { text: text.clone(), now: false });
        let effects = [Effect::Persist].into_iter().chain(texts.iter().map(told)).collect();
        for text in texts {
            self.push(Message::user(text));
        }
        effects
    }

    pub(super) fn answered(&mut self, turn: ModelTurn) -> Vec<Effect> {
        let ModelTurn { message, usage, stop, .. } = turn;
        let calls: Vec<ToolCall> = message.tool_calls().cloned().collect();
        self.count(&usage);
        if usage.input > 0 {
            self.head.context = usage.total();
            self.push_counted(message);
        } else {
            self.push(message);
        }
        let mut effects = vec![Effect::Emit(EventKind::TurnFinished { turn: self.head.turns, stop, usage })];
        let next = if let Some(which) = self.head.closing {
            self.skip(&calls, notices::over_budget);
            self.finish(match stop {
                StopReason::Refused => RunEnd::Refused,
                _ => RunEnd::BudgetSpent { which },
            })
        } else if !matches!(stop, StopReason::ToolCalls | StopReason::EndTurn) {
            // The arguments of a call that was cut off cannot be trusted, and each call needs a reply all the same.
            self.skip(&calls, notices::cut_off);
            self.finish(if stop == StopReason::MaxTokens { RunEnd::CutOff } else { RunEnd::Refused })
        } else if !calls.is_empty() {
            self.act(calls)
        } else if self.head.queue.is_empty() {
            self.finish(RunEnd::Completed)
        } else {
            self.persist_and_think()
        };
        effects.extend(next);
        effects
    }

    fn count(&mut self, usage: &haft_core::Usage) {
        self.head.turns += 1;
        let spent = &mut self.head.account.spent;
        spent.turns = spent.turns.saturating_add(1);
        self.pay(usage);
    }

    /// Counts what was paid for.
    pub(super) fn pay(&mut self, usage: &haft_core::Usage) {
        self.head.usage += *usage;
        let spent = &mut self.head.account.spent;
        spent.tokens = spent.tokens.saturating_add(usage.total());
    }

    /// Answers calls that are not made.
    pub(super) fn skip(&mut self, calls: &[ToolCall], reply: fn(&ToolCall) -> ToolReply) {
        if !calls.is_empty() {
            self.push(Message::Tool { replies: calls.iter().map(reply).collect() });
        }
    }

    pub(super) fn persist_and_think(&mut self) -> Vec<Effect> {
        let think = self.think();
        [Effect::Persist].into_iter().chain(think).collect()
    }
}
