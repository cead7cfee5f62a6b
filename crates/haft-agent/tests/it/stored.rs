use crate::driver::{scope, transcript};
use crate::fixture::{call, executed, name, prompted, turn};
use expect_test::expect;
use haft_agent::{Agent, LogEntry, RestoreError, RunState};
use haft_core::StopReason;
use haft_model::{ScriptedModel, Session};
use haft_tools_core::{LocalExecutor, ToolRegistry};
use serde_json::{Value, json, to_value};

fn messages() -> Value {
    json!([
        { "role": "user", "content": [{ "type": "text", "text": "go" }] },
        { "role": "assistant", "parts": [{ "type": "tool_call", "call": call("c1") }] },
    ])
}

/// A run as version 1 wrote it.
fn version_1(phase: &Value) -> Value {
    json!({
        "version": 1,
        "messages": messages(),
        "phase": phase,
        "turns": 1,
        "usage": { "input": 10, "output": 2 },
    })
}

#[test]
fn a_run_of_version_1_goes_on_wherever_it_stood() {
    let phases = [
        json!({ "phase": "new" }),
        json!({ "phase": "thinking" }),
        json!({ "phase": "acting", "calls": [call("c1")] }),
        json!({ "phase": "waiting", "outcomes": [] }),
        json!({ "phase": "ended", "end": { "end": "failed", "reason": "no route" } }),
    ];
    let outstanding: Vec<String> = phases
        .iter()
        .map(|phase| {
            let state: RunState = serde_json::from_value(version_1(phase)).unwrap();
            assert_eq!(state, RunState::restore(version_1(phase), Vec::new()).unwrap());
            assert_eq!((state.turns(), state.usage().total(), state.log_from(0).count()), (1, 12, 2));
            state.outstanding().iter().map(name).collect()
        })
        .collect();
    assert_eq!(outstanding, ["", "call the model", "execute 1", "await approval", "done"]);
}

#[tokio::test]
async fn a_run_of_version_1_is_driven_to_its_end() {
    let state =
        serde_json::from_value(version_1(&json!({ "phase": "acting", "calls": [call("c1")] }))).unwrap();
    let calls = r#"{"calls":[{"id":"c1","name":"look","input":{}}]}"#;
    let session = Session::parse(&format!("{calls}\n{{\"text\":\"So be it.\"}}"), "form-1.jsonl").unwrap();
    let executor = LocalExecutor::builder(ToolRegistry::new()).build();
    let agent = Agent::new(ScriptedModel::new(session).after_turns(1), executor);
    expect![[r"
        person
        model: 
        c1 error: failed: the program ended while this call was due, so whether it had its effect is not known; look before you repeat it
        model: So be it.
        Some(Completed)"]].assert_eq(&transcript(&agent.go_on(scope(), state).await));
}

#[test]
fn a_run_is_written_in_a_form_that_stays() {
    let mut state = RunState::new();
    state.step(prompted()).unwrap();
    expect![[r#"{"version":2,"entries":1,"phase":{"phase":"thinking"},"turns":0,"usage":{"input":0,"output":0},"account":{"budget":{},"spent":{"turns":0,"calls":0,"tokens":0,"wall_ms":0,"cost_nanos":0},"reserved":{"turns":0,"calls":0,"tokens":0,"wall_ms":0,"cost_nanos":0}},"context":5,"log":[{"message":{"role":"user","content":[{"type":"text","text":"go"}]}}]}"#]].assert_eq(&serde_json::to_string(&state).unwrap());
    expect![[r#"{"version":2,"entries":1,"phase":{"phase":"thinking"},"turns":0,"usage":{"input":0,"output":0},"account":{"budget":{},"spent":{"turns":0,"calls":0,"tokens":0,"wall_ms":0,"cost_nanos":0},"reserved":{"turns":0,"calls":0,"tokens":0,"wall_ms":0,"cost_nanos":0}},"context":5}"#]].assert_eq(&serde_json::to_string(state.head()).unwrap());
}

#[test]
fn a_run_is_put_together_from_its_head_and_its_log() {
    let mut state = RunState::new();
    let (mut log, mut heads): (Vec<Value>, Vec<Value>) = Default::default();
    for event in [prompted(), turn("", &["c1"], StopReason::ToolCalls), executed(&["c1"])] {
        state.step(event).unwrap();
        log.extend(state.log_from(log.len()).map(|entry: LogEntry| to_value(entry).unwrap()));
        heads.push(to_value(state.head()).unwrap());
    }
    // What was written after the head is left out.
    let earlier = RunState::restore(heads[1].clone(), log.clone()).unwrap();
    assert_eq!(earlier.messages().len(), 2);
    let restored = RunState::restore(heads[2].clone(), log.clone()).unwrap();
    assert_eq!(restored, state);
    log.pop();
    let incomplete = RunState::restore(heads[2].clone(), log).unwrap_err();
    assert!(matches!(incomplete, RestoreError::Incomplete { expected: 3, found: 2 }));
}

#[test]
fn what_is_no_run_is_refused_with_the_reason() {
    let refused = |value: Value| {
        let error = serde_json::from_value::<RunState>(value).unwrap_err();
        error.to_string()
    };
    let mut other = version_1(&json!({ "phase": "dreaming" }));
    let said = [
        refused(json!(null)),
        refused(json!([1])),
        refused(json!({ "version": "2" })),
        refused(json!({ "version": 2 })),
        refused(other.take()),
        refused(json!({ "version": 3, "log": "elsewhere" })),
        refused(json!({ "version": 2, "log": "elsewhere" })),
        refused(json!({ "version": 1, "phase": { "phase": "thinking" } })),
    ];
    expect![[r"
        a run says in which version it was stored
        a run says in which version it was stored
        a run says in which version it was stored
        missing field `entries`
        unknown variant `dreaming`, expected one of `new`, `thinking`, `acting`, `waiting`, `ended`
        this run was stored in version 3 of the run state; this program reads versions 1 to 2: use a newer one
        the messages of a run are a list
        the messages of a run are a list"]]
    .assert_eq(&said.join("\n"));
}
