use crate::fixture::{prompted, turn};
use expect_test::expect;
use haft_agent::{LogEntry, RunEvent, RunState, StepError, Told, TurnRecord};
use haft_core::{Message, ReplyStatus, StopReason, ToolOutput, ToolReply};
use haft_tools_core::CallOutcome;
use std::sync::Arc;

fn answered(id: &str, text: &str) -> CallOutcome {
    CallOutcome::Replied(ToolReply::new(id.parse().unwrap(), "look", ReplyStatus::Ok, ToolOutput::text(text)))
}

/// A run that has taken two turns, each with a call that gave much.
fn state() -> RunState {
    let mut state = RunState::new();
    state.step(prompted()).unwrap();
    for id in ["c1", "c2"] {
        state.step(turn("", &[id], StopReason::ToolCalls)).unwrap();
        let outcomes = vec![answered(id, &id.repeat(2_000))];
        state.step(RunEvent::BatchExecuted { outcomes }).unwrap();
    }
    state
}

fn short(id: &str) -> Told {
    let CallOutcome::Replied(reply) = answered(id, "cut") else { unreachable!() };
    let place = if id == "c1" { 2 } else { 4 };
    Told::instead_of(place, Message::Tool { replies: vec![reply] })
}

fn told(state: &RunState) -> Vec<String> {
    let text = |message: &Message| match message {
        Message::Tool { replies } => replies[0].output.to_text().chars().take(3).collect(),
        Message::Assistant { .. } => "model".to_owned(),
        _ => "person".to_owned(),
    };
    state.told().iter().map(|message| text(message)).collect()
}

#[test]
fn what_the_model_is_told_changes_and_the_transcript_does_not() {
    let mut state = state();
    let (messages, tokens) = (state.messages().to_vec(), state.context_tokens());
    state.step(RunEvent::Compacted { told: vec![short("c1")] }).unwrap();
    assert_eq!(told(&state), ["person", "model", "cut", "model", "c2c"]);
    assert_eq!(state.messages(), messages);
    assert!(state.context_tokens() < tokens - 900, "{} of {tokens}", state.context_tokens());
    let left_out = vec![Told::nothing(1), Told::nothing(2), short("c2")];
    state.step(RunEvent::Compacted { told: left_out }).unwrap();
    assert_eq!(told(&state), ["person", "model", "cut"]);
    state.step(turn("", &["c3"], StopReason::ToolCalls)).unwrap();
    assert_eq!(told(&state), ["person", "model", "cut", "model"]);
    assert_eq!(state.messages().len(), 6);
}

#[test]
fn what_was_compacted_and_when_turns_were_taken_is_kept_with_the_log() {
    let mut state = state();
    let mut log: Vec<LogEntry> = state.log_from(0).collect();
    let record = |number: u32| TurnRecord::new(number, "test", 1_000).took_us(u64::from(number));
    let taken = |number: u32| RunEvent::TurnTaken { record: record(number) };
    for event in [
        taken(1),
        RunEvent::Compacted { told: vec![short("c1")] },
        RunEvent::Compacted { told: vec![short("c2")] },
        taken(2),
        turn("done", &[], StopReason::EndTurn),
        taken(3),
    ] {
        state.step(event).unwrap();
        let new: Vec<LogEntry> = state.log_from(log.len()).collect();
        assert_eq!(new.len(), 1);
        log.extend(new);
        assert_eq!(log, state.log_from(0).collect::<Vec<_>>());
        for from in 0..=log.len() {
            assert_eq!(state.log_from(from).collect::<Vec<_>>(), log[from..]);
        }
    }
    let stored: RunState = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
    assert_eq!(stored, state);
    assert_eq!(stored.told(), state.told());
    assert_eq!(stored.turn_records().cloned().collect::<Vec<_>>(), [1, 2, 3].map(record));
    assert_eq!(state.log_from(log.len() + 1).count(), 0);
}

#[test]
fn what_cannot_be_told_is_refused_and_changes_nothing() {
    let refused = |told: Vec<Told>| {
        let mut state = state();
        let before = state.clone();
        let error = state.step(RunEvent::Compacted { told }).unwrap_err();
        assert_eq!(state, before);
        assert!(matches!(error, StepError::Untellable { .. }), "{error}");
    };
    refused(vec![Told::nothing(1)]);
    refused(vec![Told::nothing(2)]);
    refused(vec![Told::instead_of(2, Message::user("cut"))]);
    refused(vec![Told::nothing(0), Told::nothing(1)]);
    refused(vec![Told::nothing(9)]);
    refused(vec![Told::nothing(4)]);
    refused((0..5).map(Told::nothing).collect());
}

#[test]
fn a_run_begins_with_what_was_said_in_another_if_that_is_whole() {
    let whole = state().messages().to_vec();
    let begun = RunState::from_transcript(whole.clone()).unwrap();
    assert_eq!((begun.messages(), begun.log_from(0).count()), (whole.as_slice(), 5));
    let refused =
        |messages: &[Arc<Message>]| RunState::from_transcript(messages.to_vec()).unwrap_err().to_string();
    let said = [refused(&whole[..2]), refused(&whole[2..]), refused(&[whole[0].clone(), whole[4].clone()])];
    expect![[r"
        the model cannot be given this transcript: the calls of the last message have no replies
        the model cannot be given this transcript: the view begins with replies to calls that are not in it
        the model cannot be given this transcript: the message 0 of the view has other calls than those that follow it answer"]].assert_eq(&said.join("\n"));
}

#[test]
fn what_a_provider_counts_takes_the_place_of_the_estimate() {
    let mut state = state();
    let before = state.context_tokens();
    assert!((900..1_100).contains(&(before - 12)), "{before}");
    state.step(turn("", &["c3"], StopReason::ToolCalls)).unwrap();
    assert_eq!(state.context_tokens(), 12);
}
