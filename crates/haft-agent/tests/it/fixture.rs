//! What the tests of the machine are written with: events, and a check of what each of them leads to.

use expect_test::Expect;
use haft_agent::{Effect, Phase, RunEvent, RunState};
use haft_core::{AssistantPart, Message, ReplyStatus, StopReason, ToolCall, ToolOutput, ToolReply, Usage};
use haft_model::ModelTurn;
use haft_tools_core::CallOutcome;
use serde_json::json;

pub(crate) fn call(id: &str) -> ToolCall {
    ToolCall::new(id.parse().unwrap(), "look", json!({}))
}

pub(crate) fn turn(text: &str, calls: &[&str], stop: StopReason) -> RunEvent {
    let mut parts = vec![AssistantPart::Text { text: text.to_owned() }];
    parts.extend(calls.iter().map(|id| AssistantPart::ToolCall { call: call(id) }));
    RunEvent::ModelAnswered {
        turn: ModelTurn::new(parts, Usage { input: 10, output: 2, ..Usage::default() }, stop),
    }
}

pub(crate) fn reply(id: &str) -> CallOutcome {
    CallOutcome::Replied(ToolReply::new(
        id.parse().unwrap(),
        "look",
        ReplyStatus::Ok,
        ToolOutput::text("seen"),
    ))
}

pub(crate) fn executed(ids: &[&str]) -> RunEvent {
    RunEvent::BatchExecuted { outcomes: ids.iter().map(|id| reply(id)).collect() }
}

pub(crate) fn pending(id: &str) -> CallOutcome {
    let pending = json!({
        "outcome": "pending",
        "version": 1,
        "id": format!("pending-{id}"),
        "asked_at_ms": 0,
        "call": { "id": id, "name": "look", "input": {} },
        "run": "run-1",
        "accesses": [],
        "unmet": [],
        "preview": { "kind": "arguments" },
        "digest": "0".repeat(64),
    });
    serde_json::from_value(pending).unwrap()
}

pub(crate) fn held(id: &str, behind: &[&str]) -> CallOutcome {
    let held = json!({
        "outcome": "held",
        "call": { "id": id, "name": "look", "input": {} },
        "behind": behind,
    });
    serde_json::from_value(held).unwrap()
}

pub(crate) fn prompted() -> RunEvent {
    RunEvent::Prompted { text: "go".to_owned() }
}

/// Feeds the events one after the other and compares the effects of each, and where the run then stands.
pub(crate) fn check(events: Vec<RunEvent>, expected: &Expect) -> RunState {
    check_from(RunState::new(), events, expected)
}

/// Does the same from where a run stands.
pub(crate) fn check_from(mut state: RunState, events: Vec<RunEvent>, expected: &Expect) -> RunState {
    let mut seen = Vec::new();
    for event in events {
        seen.push(match state.step(event) {
            Ok(effects) => {
                let names: Vec<String> = effects.iter().map(name).collect();
                format!("{} -> {}\n", names.join(", "), phase(&state))
            }
            Err(error) => format!("refused: {error}\n"),
        });
    }
    expected.assert_eq(&seen.concat());
    state
}

pub(crate) fn name(effect: &Effect) -> String {
    match effect {
        Effect::CallModel => "call the model".to_owned(),
        Effect::ExecuteBatch { calls } => format!("execute {}", calls.len()),
        Effect::ExecuteHeld { calls } => {
            let calls: Vec<&str> = calls.iter().map(|held| held.call.id.as_str()).collect();
            format!("execute held {}", calls.join(" "))
        }
        Effect::AwaitApproval => "await approval".to_owned(),
        Effect::Persist => "persist".to_owned(),
        Effect::Done => "done".to_owned(),
        other => format!("{other:?}").split_whitespace().next().unwrap_or_default().to_owned(),
    }
}

pub(crate) fn phase(state: &RunState) -> String {
    match state.phase() {
        Phase::Ended { end } => format!("ended {end:?}"),
        phase => serde_json::to_value(phase).unwrap()["phase"].as_str().unwrap().to_owned(),
    }
}

/// The calls that were answered last, with how.
pub(crate) fn last_replies(state: &RunState) -> Vec<String> {
    let answered = state.messages().iter().rev().find_map(|message| match &**message {
        Message::Tool { replies } => Some(replies),
        _ => None,
    });
    answered.unwrap().iter().map(|reply| format!("{} {}", reply.call_id, reply.status)).collect()
}

/// What the run was told by people and by itself, each message cut to a line.
pub(crate) fn told_by_user(state: &RunState) -> Vec<String> {
    let told = state.messages().iter().filter_map(|message| match &**message {
        Message::User { content } => content[0].as_text().map(str::to_owned),
        _ => None,
    });
    told.collect()
}
