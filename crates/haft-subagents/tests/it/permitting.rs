//! What runs may do: never more than the ceilings above them let them, whichever way they were started.

use crate::fixture::{AGENT, KeptUntil, Setup, THING, helper, later, policy, scope, slow, transcript};
use haft_agent::{RunEnd, RunState};
use haft_core::{EventKind, Message};
use haft_tools_core::{
    AccessMode, AgentPolicy, AllowAll, Approval, CallScope, PendingStore as _, Policy, PolicyLayer, Resource,
    Rule, Rules,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn making(name: &str) -> Rule {
    Rule::access(AccessMode::Write, Resource::exact(THING, name))
}

/// Writes a session in which a run is started in some way, and tries what it may not and what it may.
fn tries(lines: &mut Vec<String>, path: &str) {
    let place = path.replace('/', "-");
    lines.push(
        json!({ "run": path, "calls": [
            { "id": "m1", "name": "make", "input": { "name": "secret" } },
            { "id": "m2", "name": "make", "input": { "name": place } },
        ] })
        .to_string(),
    );
    lines.push(json!({ "run": path, "text": "Tried." }).to_string());
}

fn delegate(id: &str, background: bool, count: usize) -> Value {
    let tasks: Vec<Value> =
        (0..count).map(|place| json!({ "agent": "helper", "task": format!("{id} {place}") })).collect();
    json!({ "id": id, "name": "delegate", "input": { "tasks": tasks, "background": background } })
}

#[tokio::test(start_paused = true)]
async fn no_way_to_start_a_run_leads_past_the_ceiling() {
    let mut lines = vec![json!({ "calls": [delegate("a", false, 1)] }).to_string()];
    // A child, its own child in the foreground, and one in the background.
    lines.push(
        json!({ "run": "a/0", "calls": [delegate("b", false, 2), delegate("c", true, 1)] }).to_string(),
    );
    for below in ["a/0/b/0", "a/0/b/1", "a/0/c/0"] {
        tries(&mut lines, below);
    }
    lines.push(
        json!({ "run": "a/0", "calls": [{ "id": "w", "name": "wait_agents", "input": {} }] }).to_string(),
    );
    tries(&mut lines, "a/0");
    lines.push(json!({ "calls": [delegate("d", true, 1)] }).to_string());
    tries(&mut lines, "d/0");
    lines.push(json!({ "calls": [{ "id": "w", "name": "wait_agents", "input": {} }] }).to_string());
    lines.push(json!({ "text": "Done." }).to_string());

    // People let everything be done; the ceiling does not.
    let setup = Setup { approver: Arc::new(AllowAll), ..Setup::new(&lines.join("\n")) };
    let scope: CallScope = scope().with_ceiling(Policy::new().deny(making("secret")));
    let state = setup.process().agent.run(scope, "go").await;
    assert_eq!(state.end(), Some(&RunEnd::Completed), "{}", transcript(&state));
    let made = setup.disk.made.lock().unwrap();
    let made: Vec<&str> = made.keys().map(String::as_str).collect();
    assert_eq!(made, ["a-0", "a-0-b-0", "a-0-b-1", "a-0-c-0", "d-0"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_may_not_delegates_to_one_that_may_if_its_ceiling_lets_it() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"lead","task":"Lead."}]}}]}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"by-lead"}},{"id":"d","name":"delegate","input":{"tasks":[{"agent":"maker","task":"Make."}]}}]}
{"run":"d/0/d/0","calls":[{"id":"m","name":"make","input":{"name":"by-maker"}}]}
{"run":"d/0/d/0","text":"Made."}
{"run":"d/0","text":"Had it made."}
{"text":"Done."}
"#;
    let may_not = || PolicyLayer::new("lead", Rules::new().deny(Rule::tools("make".parse().unwrap())));
    let wide = PolicyLayer::new("below lead", Rules::new());
    let made = async |lead: AgentPolicy| {
        let setup = Setup {
            agents: vec![helper("lead"), helper("maker")],
            approver: Arc::new(AllowAll),
            policy: policy().agent("lead", lead),
            ..Setup::new(session)
        };
        assert_eq!(setup.process().run().await.end(), Some(&RunEnd::Completed));
        let made = setup.disk.made.lock().unwrap();
        made.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(made(AgentPolicy::new([may_not()]).ceiling([wide])).await, ["by-maker"]);
    // Without a ceiling of its own, its own rules bound what it starts.
    assert!(made(AgentPolicy::new([may_not()])).await.is_empty());
}

#[tokio::test]
async fn a_policy_says_to_whom_may_be_delegated() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"A."},{"agent":"secret","task":"B."}]}}]}
{"text":"So be it.","after":{"d":"denied"}}
"#;
    let denied = Rule::access(AccessMode::Call, Resource::exact(AGENT, "secret"));
    let setup = Setup {
        agents: vec![helper("helper"), helper("secret")],
        policy: policy().deny(denied),
        ..Setup::new(session)
    };
    let process = setup.process();
    assert_eq!(process.run().await.end(), Some(&RunEnd::Completed));
    assert!(process.supervisor.children(scope().run()).await.unwrap().is_empty());
}

#[tokio::test]
async fn events_tell_which_run_started_which() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Look."}]}}]}
{"run":"d/0","calls":[{"id":"l","name":"look","input":{"name":"cup"}}]}
{"run":"d/0","text":"A cup."}
{"text":"Done."}
"#;
    let setup = Setup::new(session);
    let state = setup.process().run().await;
    assert!(matches!(&*state.messages()[0].clone(), Message::User { .. }));
    let events = setup.disk.events.lock().unwrap();
    let below: Vec<&str> = events
        .iter()
        .filter(|event| event.parent_run.as_ref() == Some(scope().run()))
        .filter_map(|event| match &event.kind {
            EventKind::RunStarted { .. } => Some("started"),
            EventKind::TurnStarted { .. } => Some("turn"),
            EventKind::Finished { .. } => Some("call"),
            EventKind::RunEnded { .. } => Some("ended"),
            _ => None,
        })
        .collect();
    assert_eq!(below, ["started", "turn", "call", "turn", "ended"]);
}

/// A session in which a run below is begun by these turns of the one above it, and then tries what it may not and what it may.
fn trying(above: &[&str], first: &str) -> Setup {
    let mut lines: Vec<String> = above.iter().map(ToString::to_string).collect();
    lines.push(format!("{{\"run\":\"d/0\",{first}}}"));
    tries(&mut lines, "d/0");
    let policy = policy().allow(Rule::tools("slow".parse().unwrap()));
    Setup { approver: Arc::new(AllowAll), policy, tools: slow(), ..Setup::new(&lines.join("\n")) }
}

const SLOW: &str = r#""calls":[{"id":"s","name":"slow","input":{}}]"#;
const IN_BACKGROUND: &str = r#"{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make."}],"background":true}}]}"#;
const AWAITED: &str =
    r#"{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make."}]}}]}"#;
const DONE: &str = r#"{"text":"Done."}"#;

fn under_the_ceiling() -> CallScope {
    scope().with_ceiling(Policy::new().deny(making("secret")))
}

#[track_caller]
fn check_made(setup: &Setup, way: &str) {
    let made = setup.disk.made.lock().unwrap();
    let made: Vec<_> = made.iter().map(|(name, times)| (name.as_str(), *times)).collect();
    assert_eq!(made, [("d-0", 1)], "{way}");
}

/// Begins a run, and ends its process while the one below is at work.
async fn interrupted(setup: &Setup) -> RunState {
    let kept = KeptUntil { kept: Arc::default(), last: None };
    let disk = Arc::clone(&kept.kept);
    let (process, agent) =
        setup.process_over(Arc::clone(&setup.disk.children) as _, Arc::clone(&setup.disk.pending) as _);
    let agent = agent.kept_by(Arc::new(kept));
    let run = agent.run(under_the_ceiling(), "go");
    let _ = tokio::time::timeout(Duration::from_millis(500), run).await;
    drop(process);
    let kept = disk.lock().unwrap().take().unwrap();
    serde_json::from_str(&kept).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_ceiling_holds_for_runs_that_are_gone_on_with() {
    let setup = trying(&[AWAITED, DONE], SLOW);
    let state = interrupted(&setup).await;
    setup.process().agent.go_on(under_the_ceiling(), state).await;
    check_made(&setup, "a call that is made again");

    let setup = trying(&[IN_BACKGROUND, DONE], SLOW);
    interrupted(&setup).await;
    let process = setup.process();
    process.supervisor.go_on_all(&under_the_ceiling()).await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    check_made(&setup, "what a process has left");

    let setup = trying(&[IN_BACKGROUND, DONE, DONE], SLOW);
    let state = interrupted(&setup).await;
    let process = setup.process();
    process.agent.prompt(under_the_ceiling(), state, "and?").await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    check_made(&setup, "what is gone on with before a turn");

    let again =
        r#"{"calls":[{"id":"a","name":"send_agent","input":{"agent":"@1","message":"Make it now."}}]}"#;
    let list = r#"{"calls":[{"id":"l","name":"list_agents","input":{}}]}"#;
    let wait = r#"{"calls":[{"id":"w","name":"wait_agents","input":{}}]}"#;
    let setup = trying(&[AWAITED, list, again, wait, DONE], r#""text":"Ready.""#);
    let state = setup.process().agent.run(under_the_ceiling(), "go").await;
    assert_eq!(state.end(), Some(&RunEnd::Completed), "{}", transcript(&state));
    check_made(&setup, "a further task");

    let setup = Setup { approver: later(), ..trying(&[AWAITED, DONE], SLOW) };
    let process = setup.process();
    let state = process.agent.run(under_the_ceiling(), "go").await;
    let waits = state.pending().next().unwrap().clone();
    let leaves: Vec<_> = waits.leaves().cloned().collect();
    assert_eq!(leaves.len(), 1, "nobody is asked for what the ceiling denies");
    setup.disk.pending.answer(&leaves[0].id, &Approval::Approve).await.unwrap();
    process.agent.resume(under_the_ceiling(), state, &waits.call.id, Approval::Approve).await.unwrap();
    check_made(&setup, "an approval");

    // A person who is careless cannot lift it either.
    let setup = Setup { approver: later(), ..trying(&[AWAITED, DONE], SLOW) };
    let process = setup.process();
    let state = process.agent.run(under_the_ceiling(), "go").await;
    let waits = state.pending().next().unwrap().clone();
    let leaf = waits.leaves().next().unwrap().clone();
    let edited = Approval::Edit { input: json!({ "name": "secret" }) };
    setup.disk.pending.answer(&leaf.id, &edited).await.unwrap();
    process.agent.resume(under_the_ceiling(), state, &waits.call.id, Approval::Approve).await.unwrap();
    assert!(setup.disk.made.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_written_into_a_delegation_lifts_no_ceiling() {
    for forged in [
        json!({ "tasks": [{ "agent": "helper", "task": "Make.", "mode": "auto" }] }),
        json!({ "tasks": [{ "agent": "helper", "task": "Make.", "ceiling": null }] }),
        json!({ "tasks": [{ "agent": "helper", "task": "Make.", "tools": ["*"] }], "policy": { "allow": ["*"] } }),
        json!({ "tasks": [{ "agent": "helper", "task": "Make." }], "parent": null, "run": "run-2" }),
        json!({ "tasks": [{ "agent": "helper\u{0}", "task": "Make." }] }),
    ] {
        let call = json!({ "calls": [{ "id": "d", "name": "delegate", "input": forged }] }).to_string();
        let setup = trying(&[&call, DONE], SLOW);
        let process = setup.process();
        let state = process.agent.run(under_the_ceiling(), "go").await;
        assert_eq!(state.end(), Some(&RunEnd::Completed), "{}", transcript(&state));
        assert!(process.supervisor.children(scope().run()).await.unwrap().is_empty(), "{forged}");
        assert!(setup.disk.made.lock().unwrap().is_empty());
    }
}
