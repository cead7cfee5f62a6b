use crate::{Effect, Phase, RunEnd, RunEvent};
use haft_core::{
    CallId, EventKind, Message, ReplyStatus, StopReason, ToolCall, ToolOutput, ToolReply, Usage,
};
use haft_model::ModelTurn;
use haft_tools_core::{CallOutcome, HeldCall, PendingCall};
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::Arc;

/// The version of the serialised form; a state of another version is refused by name.
const VERSION: u32 = 1;

/// Holds one run as plain data: its transcript, where it stands, and what it has cost.
///
/// The serde form is versioned; a state that was written by another version is refused.
///
/// ```
/// use haft_agent::{Effect, RunEvent, RunState};
/// use haft_core::EventKind;
///
/// let mut state = RunState::new();
/// let effects = state.step(RunEvent::Prompted { text: "Fix the failing test.".into() })?;
/// assert_eq!(effects, [Effect::Emit(EventKind::TurnStarted { turn: 1 }), Effect::CallModel]);
/// # Ok::<(), haft_agent::StepError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    messages: Vec<Arc<Message>>,
    phase: Phase,
    turns: u32,
    usage: Usage,
}

/// Says that an event does not fit where the run stands; the state is unchanged.
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
}

impl Default for RunState {
    fn default() -> Self {
        Self::new()
    }
}

impl RunState {
    /// Makes a run that nothing was asked of yet.
    pub fn new() -> Self {
        Self { version: VERSION, messages: Vec::new(), phase: Phase::New, turns: 0, usage: Usage::default() }
    }

    /// The transcript, oldest first.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Where the run stands.
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// How the run ended, once it has.
    pub fn end(&self) -> Option<&RunEnd> {
        match &self.phase {
            Phase::Ended { end } => Some(end),
            _ => None,
        }
    }

    /// The calls that wait for a person, in the order in which the model made them.
    pub fn pending(&self) -> impl Iterator<Item = &PendingCall> {
        let outcomes = match &self.phase {
            Phase::Waiting { outcomes, .. } => outcomes.as_slice(),
            _ => &[],
        };
        outcomes.iter().filter_map(pending_of)
    }

    /// How many turns the model has taken.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// What the turns have cost together.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What the model said last; empty if it said nothing yet.
    pub fn last_text(&self) -> String {
        let last = self.messages.iter().rev().find(|message| matches!(***message, Message::Assistant { .. }));
        last.map(|message| message.assistant_text()).unwrap_or_default()
    }

    /// Takes note of what happened and says what has to be done next.
    ///
    /// # Errors
    ///
    /// When the event does not fit where the run stands; nothing has changed then.
    pub fn step(&mut self, event: RunEvent) -> Result<Vec<Effect>, StepError> {
        match (&mut self.phase, event) {
            (Phase::New | Phase::Ended { .. }, RunEvent::Prompted { text }) => {
                self.messages.push(Arc::new(Message::user(text)));
                Ok(self.think())
            }
            (Phase::Thinking, RunEvent::ModelAnswered { turn }) => Ok(self.answered(turn)),
            (Phase::Thinking, RunEvent::ModelFailed { reason }) => Ok(self.finish(RunEnd::Failed { reason })),
            (Phase::Acting { calls }, RunEvent::BatchExecuted { outcomes }) => {
                check_outcomes(calls, &outcomes)?;
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
                *place = outcome;
                let (outcomes, executing) = (std::mem::take(outcomes), std::mem::take(executing));
                Ok(self.settle(outcomes, executing))
            }
            (Phase::New | Phase::Thinking, RunEvent::Cancelled) => Ok(self.finish(RunEnd::Cancelled)),
            (Phase::Acting { calls }, RunEvent::Cancelled) => {
                let replies = calls.iter().map(cancelled).collect();
                Ok(self.stop(replies))
            }
            (Phase::Waiting { outcomes, .. }, RunEvent::Cancelled) => {
                let replies = std::mem::take(outcomes).into_iter().map(reply_or_cancelled).collect();
                Ok(self.stop(replies))
            }
            (Phase::Acting { calls }, RunEvent::Interrupted) => {
                let lost = calls.iter().map(CallOutcome::lost).collect();
                Ok(self.settle(lost, Vec::new()))
            }
            (Phase::Waiting { outcomes, executing }, RunEvent::Interrupted) => {
                for outcome in outcomes.iter_mut() {
                    if let CallOutcome::Held(held) = outcome
                        && executing.contains(&held.call.id)
                    {
                        *outcome = CallOutcome::lost(&held.call);
                    }
                }
                let outcomes = std::mem::take(outcomes);
                Ok(self.settle(outcomes, Vec::new()))
            }
            (Phase::New | Phase::Thinking | Phase::Ended { .. }, RunEvent::Interrupted) => {
                Ok(self.outstanding())
            }
            (phase, event) => Err(StepError::OutOfPlace { phase: phase.name(), event: event_name(&event) }),
        }
    }

    /// Says what has to be done where the run stands, for going on after it was stored.
    ///
    /// Calls that were being executed are to be executed again, which is right where the executor itself keeps what became
    /// of them. Elsewhere nobody knows: take note of [`RunEvent::Interrupted`] instead.
    pub fn outstanding(&self) -> Vec<Effect> {
        match &self.phase {
            Phase::New => Vec::new(),
            Phase::Thinking => vec![Effect::CallModel],
            Phase::Acting { calls } => vec![Effect::ExecuteBatch { calls: calls.clone() }],
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
        let replies: Vec<ToolReply> = match std::mem::replace(&mut self.phase, Phase::New) {
            Phase::Acting { calls } => calls.iter().map(cancelled).collect(),
            Phase::Waiting { outcomes, .. } => outcomes.into_iter().map(reply_or_cancelled).collect(),
            Phase::New | Phase::Thinking | Phase::Ended { .. } => Vec::new(),
        };
        if !replies.is_empty() {
            self.messages.push(Arc::new(Message::Tool { replies }));
        }
        self.finish(RunEnd::Failed { reason })
    }

    fn think(&mut self) -> Vec<Effect> {
        self.phase = Phase::Thinking;
        vec![Effect::Emit(EventKind::TurnStarted { turn: self.turns + 1 }), Effect::CallModel]
    }

    fn answered(&mut self, turn: ModelTurn) -> Vec<Effect> {
        let ModelTurn { message, usage, stop, .. } = turn;
        self.turns += 1;
        self.usage += usage;
        let calls: Vec<ToolCall> = message.tool_calls().cloned().collect();
        self.messages.push(Arc::new(message));
        let mut effects = vec![Effect::Emit(EventKind::TurnFinished { turn: self.turns, stop, usage })];
        if calls.is_empty() || !matches!(stop, StopReason::ToolCalls | StopReason::EndTurn) {
            // The arguments of a call that was cut off cannot be trusted, and each call needs a reply all the same.
            let replies: Vec<ToolReply> = calls.iter().map(cut_off).collect();
            if !replies.is_empty() {
                self.messages.push(Arc::new(Message::Tool { replies }));
            }
            effects.extend(self.finish(end_of(stop)));
        } else {
            effects.extend([Effect::Persist, Effect::ExecuteBatch { calls: calls.clone() }]);
            self.phase = Phase::Acting { calls };
        }
        effects
    }

    /// Goes on when every call is answered, and waits for a person otherwise.
    ///
    /// Calls that were held back and no longer are go on; `executing` names those that do so already.
    fn settle(&mut self, outcomes: Vec<CallOutcome>, mut executing: Vec<CallId>) -> Vec<Effect> {
        if outcomes.iter().all(|outcome| matches!(outcome, CallOutcome::Replied(_))) {
            let replies = outcomes.into_iter().map(reply_or_cancelled).collect();
            self.messages.push(Arc::new(Message::Tool { replies }));
            let think = self.think();
            return [Effect::Persist].into_iter().chain(think).collect();
        }
        let ready: Vec<HeldCall> =
            ready(&outcomes).filter(|held| !executing.contains(&held.call.id)).cloned().collect();
        executing.extend(ready.iter().map(|held| held.call.id.clone()));
        let mut effects = vec![Effect::Persist];
        if !ready.is_empty() {
            effects.push(Effect::ExecuteHeld { calls: ready });
        } else if executing.is_empty() {
            effects.push(Effect::AwaitApproval);
        }
        self.phase = Phase::Waiting { outcomes, executing };
        effects
    }

    fn stop(&mut self, replies: Vec<ToolReply>) -> Vec<Effect> {
        self.messages.push(Arc::new(Message::Tool { replies }));
        self.finish(RunEnd::Cancelled)
    }

    fn finish(&mut self, end: RunEnd) -> Vec<Effect> {
        self.phase = Phase::Ended { end };
        vec![Effect::Persist, Effect::Done]
    }
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(serde::de::Error::custom(format!(
            "this run was stored in version {other} of the run state; this program reads version {VERSION}"
        ))),
    }
}

fn end_of(stop: StopReason) -> RunEnd {
    match stop {
        StopReason::MaxTokens => RunEnd::CutOff,
        StopReason::Refused => RunEnd::Refused,
        _ => RunEnd::Completed,
    }
}

fn check_outcomes(calls: &[ToolCall], outcomes: &[CallOutcome]) -> Result<(), StepError> {
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
fn held(outcomes: &[CallOutcome]) -> impl Iterator<Item = &HeldCall> {
    outcomes.iter().filter_map(|outcome| match outcome {
        CallOutcome::Held(held) => Some(&**held),
        CallOutcome::Replied(_) | CallOutcome::Pending(_) => None,
    })
}

/// Lists the calls that were held back by others which are answered now.
fn ready(outcomes: &[CallOutcome]) -> impl Iterator<Item = &HeldCall> {
    // An id can stand twice: a call that repeats it is answered with an error at once.
    let is_answered = |call: &CallId| {
        outcomes.iter().all(|known| known.call_id() != call || matches!(known, CallOutcome::Replied(_)))
    };
    held(outcomes).filter(move |held| held.behind.iter().all(is_answered))
}

fn check_executed(executing: &[CallId], executed: &[CallOutcome]) -> Result<(), StepError> {
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

fn pending_of(outcome: &CallOutcome) -> Option<&PendingCall> {
    match outcome {
        CallOutcome::Pending(pending) => Some(pending),
        CallOutcome::Replied(_) | CallOutcome::Held(_) => None,
    }
}

fn reply_or_cancelled(outcome: CallOutcome) -> ToolReply {
    match outcome {
        CallOutcome::Replied(reply) => reply,
        CallOutcome::Pending(pending) => cancelled(&pending.call),
        CallOutcome::Held(held) => cancelled(&held.call),
    }
}

fn cancelled(call: &ToolCall) -> ToolReply {
    let output = ToolOutput::text("the run was cancelled before this call was done");
    ToolReply::new(call.id.clone(), call.name.clone(), ReplyStatus::Cancelled, output)
}

fn cut_off(call: &ToolCall) -> ToolReply {
    let output = ToolOutput::text("this call was not made: the message that holds it was cut off");
    ToolReply::new(call.id.clone(), call.name.clone(), ReplyStatus::Skipped, output)
}

fn event_name(event: &RunEvent) -> &'static str {
    match event {
        RunEvent::Prompted { .. } => "prompted",
        RunEvent::ModelAnswered { .. } => "model answered",
        RunEvent::ModelFailed { .. } => "model failed",
        RunEvent::BatchExecuted { .. } => "batch executed",
        RunEvent::CallAnswered { .. } => "call answered",
        RunEvent::Cancelled => "cancelled",
        RunEvent::Interrupted => "interrupted",
    }
}
