//! What holds of the machine whatever happens, in whatever order.

use crate::fixture::{held, pending, prompted, turn};
use haft_agent::{Budget, Effect, Phase, RunEvent, RunState, Spent, SteerWhen, Told};
use haft_core::{CallId, Message, ReplyStatus, StopReason, ToolOutput, ToolReply};
use haft_tools_core::CallOutcome;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Is whatever is around a run: what was begun for it, and what it was told of.
#[derive(Default)]
struct World {
    /// Whether the model is at work.
    model: bool,
    /// The calls that are being executed.
    executing: Vec<Vec<CallId>>,
    /// The calls that were answered; none of them may be executed again.
    answered: BTreeSet<CallId>,
    calls: usize,
    limited: Budget,
}

impl World {
    /// Makes an event, whether it fits or not.
    fn event(&mut self, state: &RunState, kind: u8, choice: u8) -> RunEvent {
        match kind {
            0..=3 => {
                let calls: Vec<String> = (0..choice % 5).map(|_| self.name()).collect();
                let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
                let stop = match choice {
                    250.. => StopReason::MaxTokens,
                    _ if calls.is_empty() => StopReason::EndTurn,
                    _ => StopReason::ToolCalls,
                };
                turn("", &calls, stop)
            }
            4..=8 => {
                let executed = self.executing.first().cloned().unwrap_or_default();
                RunEvent::BatchExecuted { outcomes: outcomes(&executed, choice) }
            }
            9..=11 => {
                let waiting: Vec<&CallId> = state.pending().map(|pending| &pending.call.id).collect();
                let call = match waiting.as_slice() {
                    [] => "c0".parse().unwrap(),
                    waiting => waiting[usize::from(choice) % waiting.len()].clone(),
                };
                let outcome = if choice > 200 { pending(call.as_str()) } else { replied(&call, choice) };
                RunEvent::CallAnswered { outcome }
            }
            12 if choice < 60 => RunEvent::News { texts: vec!["new".to_owned()] },
            12 => RunEvent::Steered {
                text: "new".to_owned(),
                when: if choice > 128 { SteerWhen::Now } else { SteerWhen::AfterTurn },
            },
            13 => RunEvent::Paused,
            14 => RunEvent::Unpaused,
            15 => RunEvent::Interrupted,
            16 => {
                let mut spent = Spent::default();
                (spent.wall_ms, spent.cost_nanos) = (u64::from(choice) / 32, u64::from(choice) / 64);
                RunEvent::Metered { spent, reserved: Spent::default(), counted: BTreeMap::new() }
            }
            17 => {
                let message = usize::from(choice) % (state.messages().len() + 1);
                let instead = state.messages().get(message).map(|message| cut(message));
                let told = match instead {
                    Some(instead) if choice > 60 => Told::instead_of(message, instead),
                    _ => Told::nothing(message),
                };
                RunEvent::Compacted { told: vec![told] }
            }
            18 => match choice {
                0..40 => RunEvent::Cancelled,
                40..60 => RunEvent::ModelFailed { reason: "out".to_owned() },
                60..100 => RunEvent::AnswerLost { reason: "cut".to_owned() },
                _ => RunEvent::TimedOut,
            },
            19 => RunEvent::Concluded { text: "over".to_owned() },
            _ => prompted(),
        }
    }

    fn name(&mut self) -> String {
        self.calls += 1;
        format!("c{}", self.calls)
    }

    /// Takes note of an event that the run has taken.
    fn happened(&mut self, event: &RunEvent) {
        match event {
            RunEvent::ModelAnswered { .. }
            | RunEvent::AnswerLost { .. }
            | RunEvent::ModelFailed { .. }
            | RunEvent::TimedOut => {
                assert!(self.model, "the model was not asked");
                self.model = false;
            }
            RunEvent::BatchExecuted { .. } if !self.executing.is_empty() => drop(self.executing.remove(0)),
            RunEvent::Interrupted => {
                self.model = false;
                self.executing.clear();
            }
            _ => {}
        }
    }

    /// Begins what the run needs done.
    fn begin(&mut self, state: &RunState, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::CallModel => {
                    assert!(!self.model && self.executing.is_empty(), "something is under way");
                    assert!(
                        !state.offers_tools() || state.account().exhausted().is_none(),
                        "nothing is left"
                    );
                    assert!(!state.is_paused());
                    self.model = true;
                }
                Effect::ExecuteBatch { calls } => {
                    assert!(!self.model && self.executing.is_empty(), "something is under way");
                    self.execute(calls.iter().map(|call| &call.id));
                }
                Effect::ExecuteHeld { calls } => {
                    assert!(!self.model);
                    self.execute(calls.iter().map(|held| &held.call.id));
                }
                Effect::Done => {
                    self.model = false;
                    self.executing.clear();
                }
                _ => {}
            }
        }
    }

    fn execute<'a>(&mut self, calls: impl Iterator<Item = &'a CallId>) {
        let calls: Vec<CallId> = calls.cloned().collect();
        for call in &calls {
            assert!(!self.answered.contains(call), "{call} is answered");
            assert!(!self.executing.iter().flatten().any(|other| other == call), "{call} is being executed");
        }
        self.executing.push(calls);
    }

    /// Checks what is said and done against each other.
    fn check(&mut self, state: &RunState) {
        let messages = state.messages();
        for (place, message) in messages.iter().enumerate() {
            let calls: Vec<&CallId> = message.tool_calls().map(|call| &call.id).collect();
            match messages.get(place + 1).map(|next| &**next) {
                Some(Message::Tool { replies }) => {
                    assert_eq!(replies.iter().map(|reply| &reply.call_id).collect::<Vec<_>>(), calls);
                    self.answered.extend(calls.into_iter().cloned());
                }
                None if matches!(state.phase(), Phase::Acting { .. } | Phase::Waiting { .. }) => {
                    assert!(!calls.is_empty());
                }
                _ => assert!(calls.is_empty(), "calls without replies"),
            }
        }
        if let Phase::Waiting { outcomes, .. } = state.phase() {
            let replied = outcomes.iter().filter(|outcome| matches!(outcome, CallOutcome::Replied(_)));
            self.answered.extend(replied.map(|outcome| outcome.call_id().clone()));
        }
        let (spent, limited) = (state.spent(), &self.limited);
        assert!(limited.turns.is_none_or(|turns| spent.turns <= turns + 1), "{spent:?}");
        assert!(limited.calls.is_none_or(|calls| spent.calls <= calls), "{spent:?}");
        // A turn takes 12 tokens: one turn over the limit, and the closing one.
        assert!(limited.tokens.is_none_or(|tokens| spent.tokens < tokens + 24), "{spent:?}");
    }
}

fn replied(call: &CallId, choice: u8) -> CallOutcome {
    let output = ToolOutput::text(format!("gave {}", choice % 3));
    CallOutcome::Replied(ToolReply::new(call.clone(), "look", ReplyStatus::Ok, output))
}

/// Says what became of calls; one that waits can hold back those behind it.
fn outcomes(calls: &[CallId], choice: u8) -> Vec<CallOutcome> {
    let mut waits: Option<&CallId> = None;
    let mut outcomes = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        outcomes.push(match ((choice >> (2 * (place % 4))) & 3, waits) {
            (3, _) => {
                waits = Some(call);
                pending(call.as_str())
            }
            (2, Some(before)) => held(call.as_str(), &[before.as_str()]),
            _ => replied(call, choice),
        });
    }
    outcomes
}

fn cut(message: &Message) -> Message {
    let mut message = message.clone();
    if let Message::Tool { replies } = &mut message {
        for reply in replies {
            reply.output = ToolOutput::text("cut");
        }
    }
    message
}

fn round_trip(state: &RunState) -> RunState {
    let log = state.log_from(0).map(|entry| serde_json::to_value(entry).unwrap()).collect();
    let head = serde_json::to_string(state.head()).unwrap();
    RunState::restore(serde_json::from_str(&head).unwrap(), log).unwrap()
}

fn budgets() -> impl Strategy<Value = Budget> {
    let limit = |most: u64| prop_oneof![3 => Just(None), 1 => (0..most).prop_map(Some)];
    (limit(5), limit(8), limit(60), limit(20)).prop_map(|(turns, calls, tokens, wall_ms)| {
        let mut budget = Budget::default();
        (budget.turns, budget.calls, budget.tokens, budget.wall_ms) = (turns, calls, tokens, wall_ms);
        budget
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_each_call_is_answered_once_and_nothing_is_done_twice(
        budget in budgets(),
        choices in vec((0..21_u8, any::<u8>()), 1..60),
        again in any::<bool>(),
    ) {
        let mut world = World { limited: budget, ..World::default() };
        let mut state = RunState::new().budget(budget).made_again(again.then_some("look"));
        let (mut taken, mut stored) = (Vec::new(), vec![round_trip(&state)]);
        for (kind, choice) in choices.into_iter().chain([(0, 0)]).enumerate().map(|(place, choice)| {
            if place == 0 { (20, 0) } else { choice }
        }) {
            let event = world.event(&state, kind, choice);
            let before = state.clone();
            match state.step(event.clone()) {
                Err(_) => prop_assert_eq!(&state, &before, "a refused event has changed something"),
                Ok(effects) => {
                    world.happened(&event);
                    world.check(&state);
                    world.begin(&state, &effects);
                    taken.push(event);
                    stored.push(round_trip(&state));
                    prop_assert_eq!(stored.last().unwrap(), &state);
                }
            }
        }
        // From each state that was stored, the rest leads to the same end.
        for (place, mut replayed) in stored.into_iter().enumerate() {
            for event in &taken[place..] {
                replayed.step(event.clone()).unwrap();
            }
            prop_assert_eq!(&replayed, &state);
        }
    }
}
