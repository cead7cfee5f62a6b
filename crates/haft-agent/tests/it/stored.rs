use crate::driver::{scope, transcript};
use crate::fixture::{call, executed, name, prompted, turn};
use expect_test::expect;
use haft_agent::{Agent, LogEntry, RestoreError, RunEvent, RunState, TurnRecord};
use haft_core::{StopReason, Usage};
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

/// A run as version 2 wrote it: its head and its log.
fn version_2() -> (Value, Vec<Value>) {
    let none = json!({ "turns": 0, "calls": 0, "tokens": 0, "wall_ms": 0, "cost_nanos": 0 });
    let head = json!({
        "version": 2, "entries": 3, "phase": { "phase": "acting", "calls": [call("c1")] }, "turns": 1,
        "usage": { "input": 10, "output": 2 }, "context": 12,
        "account": { "budget": { "turns": 5 }, "spent": none, "reserved": none },
    });
    let [first, second] = [messages()[0].clone(), messages()[1].clone()];
    let cut =
        json!({ "message": 0, "instead": { "role": "user", "content": [{ "type": "text", "text": "g" }] } });
    let log = vec![
        json!({ "message": first }),
        json!({ "compacted": { "told": [cut] } }),
        json!({ "message": second }),
    ];
    (head, log)
}

#[test]
fn a_run_of_version_2_goes_on_and_has_no_turns_in_its_log() {
    let (head, log) = version_2();
    let mut whole = head.clone();
    whole["log"] = json!(log);
    let mut state = RunState::restore(head.clone(), log.clone()).unwrap();
    assert_eq!(state, serde_json::from_value(whole).unwrap());
    assert_eq!((state.turns(), state.turn_records().count(), state.told().len()), (1, 0, 2));
    assert_eq!(state.log_from(0).map(|entry| to_value(entry).unwrap()).collect::<Vec<_>>(), log);
    state.step(executed(&["c1"])).unwrap();
    assert_eq!(state.outstanding().iter().map(name).collect::<Vec<_>>(), ["call the model"]);

    // What is kept of it from then on is of the version that knows turns: nothing before it is written anew.
    state.step(RunEvent::TurnTaken { record: TurnRecord::new(2, "test", 1_000) }).unwrap();
    let log: Vec<Value> =
        log.into_iter().chain(state.log_from(3).map(|entry| to_value(entry).unwrap())).collect();
    let head = to_value(state.head()).unwrap();
    assert_eq!((&head["version"], &head["entries"]), (&json!(3), &json!(5)));
    assert_eq!(RunState::restore(head, log).unwrap(), state);
}

#[test]
fn what_is_said_of_a_turn_is_written_in_a_form_that_stays() {
    let whole = TurnRecord::new(1, "test", 1_700_000_000_000).took_us(2_500_000);
    let usage = Usage { input: 10, output: 2, ..Usage::default() };
    let [plain, whole] = [whole.clone(), whole.cost(usage, 7).error("truncated")]
        .map(|record| serde_json::to_string(&LogEntry::Turn(record.into())).unwrap());
    expect![[r#"{"turn":{"turn":1,"model":"test","at_ms":1700000000000,"took_us":2500000,"usage":{"input":0,"output":0}}}"#]].assert_eq(&plain);
    expect![[r#"{"turn":{"turn":1,"model":"test","at_ms":1700000000000,"took_us":2500000,"usage":{"input":10,"output":2},"cost_nanos":7,"error":"truncated"}}"#]].assert_eq(&whole);
}

#[test]
fn a_run_is_written_in_a_form_that_stays() {
    let mut state = RunState::new();
    state.step(prompted()).unwrap();
    expect![[r#"{"version":3,"entries":1,"phase":{"phase":"thinking"},"turns":0,"usage":{"input":0,"output":0},"account":{"budget":{},"spent":{"turns":0,"calls":0,"tokens":0,"wall_ms":0,"cost_nanos":0},"reserved":{"turns":0,"calls":0,"tokens":0,"wall_ms":0,"cost_nanos":0}},"context":5,"log":[{"message":{"role":"user","content":[{"type":"text","text":"go"}]}}]}"#]].assert_eq(&serde_json::to_string(&state).unwrap());
    expect![[r#"{"version":3,"entries":1,"phase":{"phase":"thinking"},"turns":0,"usage":{"input":0,"output":0},"account":{"budget":{},"spent":{"turns":0,"calls":0,"tokens":0,"wall_ms":0,"cost_nanos":0},"reserved":{"turns":0,"calls":0,"tokens":0,"wall_ms":0,"cost_nanos":0}},"context":5}"#]].assert_eq(&serde_json::to_string(state.head()).unwrap());
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
        refused(json!({ "version": 0, "log": [] })),
        refused(json!({ "version": 4, "log": "elsewhere" })),
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
        this run was stored in version 0 of the run state; this program reads versions 1 to 3; use a newer one
        this run was stored in version 4 of the run state; this program reads versions 1 to 3; use a newer one
        the messages of a run are a list
        the messages of a run are a list
        the messages of a run are a list"]]
    .assert_eq(&said.join("\n"));
}
