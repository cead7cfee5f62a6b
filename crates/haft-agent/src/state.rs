mod acting;
mod beginning;
mod head;
mod notices;
mod outcomes;
mod stored;
mod telling;
mod thinking;

pub use head::RunHead;
pub(crate) use notices::STEERED;
pub use stored::RestoreError;

use crate::{Account, Effect, LogEntry, Phase, Queued, RunEnd, RunEvent, Spent, Transcript, TurnRecord};
use haft_core::{CallId, EventKind, Message, RunId, ToolReply, Usage};
use haft_tools_core::{Approval, CallOutcome, PendingCall};
use head::{Approved, Pause};
use outcomes::{
    cancelled, check_executed, check_outcomes, held, interrupted, pending_of, reply_or_cancelled,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use telling::Telling;

/// Holds one run as plain data: its transcript, where it stands, and what it has cost.
///
/// A run is kept in two parts: the [log](Self::log_from), to which each turn adds a few entries, and the
/// [head](Self::head), which is small and written anew each time. [`RunState::restore`] puts them together again. The serde
/// form has both in one. Both forms are versioned: one of an older version is read, and one of an unknown version is
/// refused.
///
/// ```
/// use haft_agent::{Effect, RunEvent, RunState};
/// use haft_core::EventKind;
///
/// let mut state = RunState::new();
/// let effects = state.step(RunEvent::Prompted { text: "Fix the failing test.".into() })?;
/// assert_eq!(effects, [Effect::Persist, Effect::Emit(EventKind::TurnStarted { turn: 1 }), Effect::CallModel]);
/// # Ok::<(), haft_agent::StepError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunState {
    messages: Transcript,
    telling: Telling,
    head: RunHead,
}

/// Says that an event does not fit where the run stands; the state is unchanged.
///
/// ```
/// use haft_agent::{RunEvent, RunState};
///
/// let mut state = RunState::new();
/// let error = state.step(RunEvent::BatchExecuted { outcomes: Vec::new() }).unwrap_err();
/// println!("{error}");
/// assert_eq!(state, RunState::new());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The event belongs to another phase.
    #[error("a run that is {phase} cannot take the event `{event}`")]
    OutOfPlace {
        /// Where the run stands.
        phase: &'static str,
        /// What came.
        event: &'static str,
    },
    /// The outcomes are not those of the calls.
    #[error("the outcomes do not answer the calls of the turn one by one: {detail}")]
    Mismatch {
        /// What differs.
        detail: String,
    },
    /// What the model is to be told cannot be told.
    #[error("the model cannot be given this transcript: {detail}")]
    Untellable {
        /// What is wrong with it.
        detail: String,
    },
}

impl RunState {
    /// The transcript, oldest first.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The transcript as it is now, to be kept while the run goes on; costs one reference count.
    pub fn transcript(&self) -> Transcript {
        self.messages.clone()
    }

    /// What the model is told: the transcript, or what compaction left of it.
    pub fn told(&self) -> &[Arc<Message>] {
        self.telling.view().unwrap_or(&self.messages)
    }

    /// Whether the model may call tools in its next turn; it may not in the one that closes the run.
    pub fn offers_tools(&self) -> bool {
        self.head.closing.is_none()
    }

    /// What a request takes up, in tokens: what the provider counted last, and an estimate of what came since.
    ///
    /// Where the provider does not count, it is an estimate of the messages alone, without the system prompt and the tools.
    pub fn context_tokens(&self) -> u64 {
        self.head.context
    }

    /// Where the run stands.
    pub fn phase(&self) -> &Phase {
        &self.head.phase
    }

    /// How the run ended, once it has.
    pub fn end(&self) -> Option<&RunEnd> {
        match &self.head.phase {
            Phase::Ended { end } => Some(end),
            _ => None,
        }
    }

    /// Whether the run stands still, or will as soon as nothing is under way.
    pub fn is_paused(&self) -> bool {
        self.head.pause != Pause::No
    }

    /// The messages that the model was not told yet, oldest first.
    pub fn queue(&self) -> &[Queued] {
        &self.head.queue
    }

    /// The calls that wait for a person, in the order in which the model made them.
    pub fn pending(&self) -> impl Iterator<Item = &PendingCall> {
        let outcomes = match &self.head.phase {
            Phase::Waiting { outcomes, .. } => outcomes.as_slice(),
            _ => &[],
        };
        outcomes.iter().filter_map(pending_of)
    }

    /// The call that waits and was being gone on with when the run was kept, with the answer to it: one of a tool that is
    /// [made again](Self::made_again), and that was not denied.
    ///
    /// [`Agent::go_on`](crate::Agent::go_on) goes on with it.
    pub fn approved(&self) -> Option<(&PendingCall, &Approval)> {
        let approved = self.head.approved.as_ref()?;
        let pending = self.pending().find(|pending| pending.call.id == approved.call)?;
        Some((pending, &approved.approval))
    }

    /// Takes note of the answer with which a call that waits is gone on with, or that it is not.
    pub(crate) fn note_approved(&mut self, approved: Option<(CallId, Approval)>) {
        self.head.approved = approved.map(|(call, approval)| Approved { call, approval });
    }

    /// How many turns the model has taken.
    pub fn turns(&self) -> u32 {
        self.head.turns
    }

    /// When the turns of the model were taken, and what each of them cost, oldest first; also those that came to nothing.
    ///
    /// Those of a run that was kept in version 1 or 2 are not among them.
    pub fn turn_records(&self) -> impl Iterator<Item = &TurnRecord> {
        self.telling.turn_records()
    }

    /// What the turns have cost together.
    pub fn usage(&self) -> Usage {
        self.head.usage
    }

    /// What the run may spend, has spent, and has set aside.
    pub fn account(&self) -> &Account {
        &self.head.account
    }

    /// What each of the runs that it has started has spent, as far as its [account](Self::account) counts it.
    pub fn counted(&self) -> &BTreeMap<RunId, Spent> {
        &self.head.counted
    }

    /// What the run has spent, and those it started.
    pub fn spent(&self) -> &Spent {
        &self.head.account.spent
    }

    /// What the run was concluded with, if it was, and what the model said last otherwise; empty if it said nothing yet.
    pub fn last_text(&self) -> String {
        if let (Phase::Ended { .. }, Some(conclusion)) = (&self.head.phase, &self.head.conclusion) {
            return conclusion.clone();
        }
        let last = self.messages.iter().rev().find(|message| matches!(***message, Message::Assistant { .. }));
        last.map(|message| message.assistant_text()).unwrap_or_default()
    }

    /// The part that is written anew each time the run is kept; its size does not grow with the run.
    pub fn head(&self) -> &RunHead {
        &self.head
    }

    /// The entries to be kept beside the head, from this one on, counted from 0.
    pub fn log_from(&self, entry: usize) -> impl Iterator<Item = LogEntry> + '_ {
        self.telling.log_from(&self.messages, entry)
    }

    /// Takes note of what happened and says what has to be done next.
    ///
    /// # Errors
    ///
    /// When the event does not fit where the run stands; nothing has changed then.
    pub fn step(&mut self, event: RunEvent) -> Result<Vec<Effect>, StepError> {
        let pause = self.head.pause;
        match (&mut self.head.phase, event) {
            (_, RunEvent::Metered { spent, reserved, counted }) => {
                self.head.account.spent += spent;
                self.head.account.reserved = reserved;
                self.head.counted.extend(counted);
                Ok(Vec::new())
            }
            (Phase::New | Phase::Ended { .. }, RunEvent::Prompted { text }) => Ok(self.prompted(text)),
            (Phase::Thinking, RunEvent::ModelAnswered { turn }) if pause != Pause::Held => {
                Ok(self.answered(turn))
            }
            (Phase::Thinking, RunEvent::ModelFailed { reason }) if pause != Pause::Held => {
                let discarded = self.discarded(&reason, false);
                Ok(discarded.into_iter().chain(self.finish(RunEnd::Failed { reason })).collect())
            }
            (Phase::Thinking, RunEvent::AnswerLost { reason }) if pause != Pause::Held => {
                let discarded = self.discarded(&reason, true);
                Ok(discarded.into_iter().chain(self.persist_and_think()).collect())
            }
            (_, RunEvent::TurnTaken { record }) => {
                self.telling.beside(&self.messages, LogEntry::Turn(Arc::new(record)));
                self.head.entries += 1;
                Ok(Vec::new())
            }
            (_, RunEvent::Wasted { usage }) => {
                self.pay(&usage);
                Ok(Vec::new())
            }
            (Phase::Thinking, RunEvent::TimedOut) if pause != Pause::Held => Ok(self.timed_out()),
            (Phase::Thinking, RunEvent::Compacted { told }) => self.compacted(told),
            (Phase::Acting { calls, skipped }, RunEvent::BatchExecuted { mut outcomes })
                if pause != Pause::Held =>
            {
                check_outcomes(calls, &outcomes)?;
                outcomes.extend(skipped.iter().map(|call| CallOutcome::Replied(notices::over_budget(call))));
                Ok(self.settle(outcomes, Vec::new()))
            }
            (Phase::Waiting { outcomes, executing }, RunEvent::BatchExecuted { outcomes: executed }) => {
                check_executed(executing, &executed)?;
                executing.retain(|call| executed.iter().all(|outcome| outcome.call_id() != call));
                for outcome in executed {
                    let place = outcomes.iter_mut().find(|known| {
                        known.call_id() == outcome.call_id() && matches!(known, CallOutcome::Held(_))
                    });
                    if let Some(place) = place {
                        *place = outcome;
                    }
                }
                let (outcomes, executing) = (std::mem::take(outcomes), std::mem::take(executing));
                Ok(self.settle(outcomes, executing))
            }
            (Phase::Waiting { outcomes, executing }, RunEvent::CallAnswered { outcome }) => {
                let call = outcome.call_id();
                let waits =
                    |waiting: &&mut CallOutcome| pending_of(waiting).is_some_and(|it| &it.call.id == call);
                let Some(place) = outcomes.iter_mut().find(waits) else {
                    return Err(StepError::Mismatch { detail: format!("no call `{call}` waits") });
                };
                self.head.approved.take_if(|approved| &approved.call == call);
                *place = outcome;
                let (outcomes, executing) = (std::mem::take(outcomes), std::mem::take(executing));
                Ok(self.settle(outcomes, executing))
            }
            (Phase::Acting { .. } | Phase::Waiting { .. }, RunEvent::Concluded { text }) => {
                self.head.conclusion = Some(text);
                Ok(vec![Effect::Persist])
            }
            (Phase::Thinking, RunEvent::News { texts }) if pause != Pause::Held => Ok(self.heard(texts)),
            (phase, RunEvent::Steered { text, when }) if *phase != Phase::New => Ok(self.steered(text, when)),
            (Phase::Thinking | Phase::Acting { .. } | Phase::Waiting { .. }, RunEvent::Paused)
                if pause == Pause::No =>
            {
                self.head.pause = Pause::Asked;
                Ok(vec![Effect::Persist, Effect::Emit(EventKind::Paused)])
            }
            (Phase::Thinking | Phase::Acting { .. } | Phase::Waiting { .. }, RunEvent::Unpaused)
                if pause != Pause::No =>
            {
                Ok(self.unpaused())
            }
            (Phase::New | Phase::Thinking, RunEvent::Cancelled) => {
                let discarded = self.discarded("the run was cancelled", false);
                Ok(discarded.into_iter().chain(self.finish(RunEnd::Cancelled)).collect())
            }
            (Phase::Acting { .. } | Phase::Waiting { .. }, RunEvent::Cancelled) => {
                self.answer_all();
                Ok(self.finish(RunEnd::Cancelled))
            }
            (_, RunEvent::Interrupted) => Ok(self.interrupted()),
            (phase, event) => Err(StepError::OutOfPlace { phase: phase.name(), event: event.name() }),
        }
    }

    /// Says what has to be done where the run stands, for going on after it was stored.
    ///
    /// Calls that were being executed are to be executed again, which is right where the executor itself keeps what became
    /// of them. Elsewhere nobody knows: take note of [`RunEvent::Interrupted`] instead. Nothing has to be done for a run
    /// that is paused.
    pub fn outstanding(&self) -> Vec<Effect> {
        if self.head.pause == Pause::Held {
            return Vec::new();
        }
        match &self.head.phase {
            Phase::New => Vec::new(),
            Phase::Thinking => vec![Effect::CallModel],
            Phase::Acting { calls, .. } => vec![Effect::ExecuteBatch { calls: calls.clone() }],
            Phase::Waiting { executing, .. } if executing.is_empty() => vec![Effect::AwaitApproval],
            Phase::Waiting { outcomes, executing } => {
                let held = held(outcomes).filter(|held| executing.contains(&held.call.id));
                vec![Effect::ExecuteHeld { calls: held.cloned().collect() }]
            }
            Phase::Ended { .. } => vec![Effect::Done],
        }
    }

    /// Takes note of what a driver was asked to do; ends the run where the answer does not fit.
    pub(crate) fn advance(&mut self, event: RunEvent) -> Vec<Effect> {
        self.step(event).unwrap_or_else(|error| self.fail(error.to_string()))
    }

    /// Ends the run because of a fault outside it; every call has a reply all the same.
    pub(crate) fn fail(&mut self, reason: String) -> Vec<Effect> {
        let discarded = self.discarded(&reason, false);
        self.answer_all();
        discarded.into_iter().chain(self.finish(RunEnd::Failed { reason })).collect()
    }

    /// Takes note that whoever drove the run has ended.
    fn interrupted(&mut self) -> Vec<Effect> {
        let is_held = self.head.pause == Pause::Held;
        let made_again = &self.head.made_again;
        if self.head.pause == Pause::Asked {
            self.head.pause = Pause::Held;
        }
        // The budget may have been spent since the model was asked.
        let is_over = self.offers_tools() && self.head.account.exhausted().is_some();
        match &mut self.head.phase {
            Phase::Acting { calls, skipped } if !is_held => {
                let lost = calls.iter().map(|call| interrupted(call, made_again));
                let skipped = skipped.iter().map(|call| CallOutcome::Replied(notices::over_budget(call)));
                let outcomes = lost.chain(skipped).collect();
                self.settle(outcomes, Vec::new())
            }
            Phase::Waiting { outcomes, executing } => {
                for outcome in outcomes.iter_mut() {
                    if let CallOutcome::Held(held) = outcome
                        && executing.contains(&held.call.id)
                        && !made_again.contains(&held.call.name)
                    {
                        *outcome = CallOutcome::lost(&held.call);
                    }
                }
                let outcomes = std::mem::take(outcomes);
                self.settle(outcomes, Vec::new())
            }
            Phase::Thinking if is_over => self.persist_and_think(),
            _ => self.outstanding(),
        }
    }

    /// Goes on with what was held back.
    fn unpaused(&mut self) -> Vec<Effect> {
        let mut effects = vec![Effect::Persist, Effect::Emit(EventKind::Unpaused)];
        if std::mem::take(&mut self.head.pause) == Pause::Held {
            effects.extend(match &mut self.head.phase {
                Phase::Thinking => self.think(),
                Phase::Waiting { outcomes, executing } => {
                    let (outcomes, executing) = (std::mem::take(outcomes), std::mem::take(executing));
                    self.settle(outcomes, executing)
                }
                _ => self.outstanding(),
            });
        }
        effects
    }

    /// Answers each call that has no reply as cancelled.
    fn answer_all(&mut self) {
        let replies: Vec<ToolReply> = match std::mem::replace(&mut self.head.phase, Phase::New) {
            Phase::Acting { calls, skipped } => calls.iter().chain(&skipped).map(cancelled).collect(),
            Phase::Waiting { outcomes, .. } => outcomes.into_iter().map(reply_or_cancelled).collect(),
            Phase::New | Phase::Thinking | Phase::Ended { .. } => return,
        };
        self.push(Message::Tool { replies });
    }

    fn push(&mut self, message: Message) {
        self.head.context = self.head.context.saturating_add(crate::compaction::estimate(&message));
        self.push_counted(message);
    }

    /// Adds a message whose tokens are counted already.
    fn push_counted(&mut self, message: Message) {
        let message = Arc::new(message);
        self.telling.push(&message);
        self.messages.push(message);
        self.head.entries += 1;
    }

    fn finish(&mut self, end: RunEnd) -> Vec<Effect> {
        self.head.phase = Phase::Ended { end };
        self.head.pause = Pause::No;
        self.head.approved = None;
        self.head.conclusion = None;
        vec![Effect::Persist, Effect::Done]
    }
}
