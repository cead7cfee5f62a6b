use crate::fixture::{call, prompted, told_by_user};
use haft_agent::{RunEnd, RunEvent, RunState};
use haft_core::{AssistantPart, ReplyStatus, StopReason, ToolCall, ToolOutput, ToolReply, Usage};
use haft_model::ModelTurn;
use haft_tools_core::CallOutcome;
use serde_json::{Value, json};

/// Plays turns of one call each, `input=result`, until the run ends; says after which turns it was told, and the end.
fn check(turns: &[&str]) -> (Vec<usize>, Option<RunEnd>) {
    check_from(RunState::new(), turns)
}

fn check_from(mut state: RunState, turns: &[&str]) -> (Vec<usize>, Option<RunEnd>) {
    state.step(prompted()).unwrap();
    let mut told = Vec::new();
    for (number, turn) in turns.iter().enumerate() {
        let calls: Vec<(ToolCall, &str)> =
            turn.split(' ').enumerate().map(|(place, text)| made(number, place, text)).collect();
        let parts = calls.iter().map(|(call, _)| AssistantPart::ToolCall { call: call.clone() }).collect();
        let turn = ModelTurn::new(parts, Usage::default(), StopReason::ToolCalls);
        state.step(RunEvent::ModelAnswered { turn }).unwrap();
        let before = told_by_user(&state).len();
        let outcomes = calls.iter().map(|(call, result)| answered(call, result)).collect();
        state.step(RunEvent::BatchExecuted { outcomes }).unwrap();
        if told_by_user(&state).len() > before {
            told.push(number + 1);
        }
        // What is stored counts on as before.
        state = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
        if state.end().is_some() {
            assert_eq!(number + 1, turns.len(), "it ended too early");
        }
    }
    (told, state.end().cloned())
}

fn made(number: usize, place: usize, text: &str) -> (ToolCall, &str) {
    let (input, result) = text.split_once('=').unwrap();
    let mut call = call(&format!("c{number}-{place}"));
    // The order of members does not count.
    call.input = if number.is_multiple_of(2) {
        serde_json::from_str::<Value>(&format!(r#"{{"a":"{input}","b":1}}"#)).unwrap()
    } else {
        json!({ "b": 1, "a": input })
    };
    (call, result)
}

fn answered(call: &ToolCall, result: &str) -> CallOutcome {
    let status = match result {
        "denied" => ReplyStatus::Denied,
        "skipped" => ReplyStatus::Skipped,
        _ => ReplyStatus::Ok,
    };
    CallOutcome::Replied(ToolReply::new(call.id.clone(), "look", status, ToolOutput::text(result)))
}

const LOOPS: Option<RunEnd> = Some(RunEnd::Looping);

#[test]
fn the_same_call_with_the_same_result_is_told_at_the_third_time_and_ends_the_run_at_the_fourth() {
    assert_eq!(check(&["a=1", "a=1", "a=1", "a=1"]), (vec![3], LOOPS));
    assert_eq!(check(&["a=denied", "a=denied", "a=denied", "a=denied"]), (vec![3], LOOPS));
}

#[test]
fn other_arguments_or_another_result_are_no_repetition() {
    assert_eq!(check(&["a=1", "b=1", "c=1", "d=1"]), (vec![], None));
    assert_eq!(check(&["a=1", "a=2", "a=3", "a=4", "a=5"]), (vec![], None));
}

#[test]
fn calls_in_turn_and_beside_each_other_are_counted_as_well() {
    assert_eq!(check(&["a=1", "b=1", "a=1", "b=1", "a=1", "b=1"]), (vec![6], None));
    assert_eq!(check(&["a=1 b=1", "a=1 b=1", "b=1 a=1", "a=1"]), (vec![3], LOOPS));
}

#[test]
fn a_call_that_is_made_several_times_in_a_turn_counts_once() {
    assert_eq!(check(&["a=1 a=1 a=1 a=1", "a=1 a=1 a=1 a=1"]), (vec![], None));
    assert_eq!(check(&["a=1 a=1", "a=1 a=1", "a=1", "a=1 a=1"]), (vec![3], LOOPS));
}

#[test]
fn a_run_that_gets_on_meanwhile_is_no_loop() {
    assert_eq!(
        check(&["build=bad", "edit1=ok", "build=bad", "edit2=ok", "build=bad", "edit3=ok"]),
        (vec![], None)
    );
}

#[test]
fn a_model_that_tries_something_else_is_told_again_before_it_is_stopped() {
    assert_eq!(check(&["a=1", "a=1", "a=1", "b=1", "a=1", "a=1", "a=1", "a=1"]), (vec![3, 7], LOOPS));
}

#[test]
fn a_tool_that_may_repeat_itself_does_so_without_end() {
    let state = RunState::new().may_repeat(["look"]);
    assert_eq!(check_from(state, &["a=1"; 9]), (vec![], None));
}

#[test]
fn calls_that_were_not_made_are_not_counted() {
    assert_eq!(check(&["a=skipped", "a=skipped", "a=skipped", "a=skipped"]), (vec![], None));
}
