//! Runs that nobody waits for: what is told of them, and how they are looked after.

use crate::fixture::{Odd, Process, Setup, helper, later, scope, slow, transcript};
use expect_test::{Expect, expect};
use haft_agent::RunEnd;
use haft_core::EventKind;
use haft_subagents::{AgentSpec, ChildOutcome, ChildRun, ChildStore as _, Runner, Supervisor};
use haft_tools_core::{Approval, PendingCall, PendingStore as _, Policy, Rule, approver_fn};
use std::sync::Arc;
use std::time::Duration;

fn policy() -> Policy {
    crate::fixture::policy().allow(Rule::tools("slow".parse().unwrap()))
}

fn setup(session: &str) -> Setup {
    Setup { tools: slow(), policy: policy(), ..Setup::new(session) }
}

async fn check(setup: &Setup, expected: Expect) -> Process {
    let process = setup.process();
    expected.assert_eq(&transcript(&process.run().await));
    process
}

#[tokio::test(start_paused = true)]
async fn a_run_is_told_when_one_in_the_background_has_ended() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}],"background":true}}]}
{"run":"d/0","text":"It is on the table."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"text":"It is on the table, I hear."}
"#;
    check(
        &setup(session),
        expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Find the cup.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        s ok: a second is over
        person: An agent in the background has ended.
        `helper-#` done:
        It is on the table.
        model: It is on the table, I hear.
        Some(Completed)"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn one_that_waited_goes_on_once_a_person_has_answered() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make it."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"cup"}}]}
{"run":"d/0","text":"It is made."}
{"calls":[{"id":"s1","name":"slow","input":{}}]}
{"calls":[{"id":"s2","name":"slow","input":{}}]}
{"calls":[{"id":"s3","name":"slow","input":{}}]}
{"text":"It is made, I hear."}
"#;
    let setup = Setup { approver: later(), ..setup(session) };
    let process = setup.process();
    let pending = Arc::clone(&setup.disk.pending);
    let answering = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let asked = pending.waiting().await.unwrap();
        assert_eq!(asked.len(), 1);
        assert!(pending.answer(&asked[0].id, &Approval::Approve).await.unwrap());
    });
    let state = process.run().await;
    answering.await.unwrap();
    expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Make it.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        s1 ok: a second is over
        model: 
        s2 ok: a second is over
        model: 
        s3 ok: a second is over
        person: You have called `slow` three times with the same arguments, and the result was the same each time. If you do so again, the run is stopped. Try something else, or say what keeps you from going on.
        person: An agent in the background has ended.
        `helper-#` done:
        It is made.
        model: It is made, I hear.
        Some(Completed)"#]].assert_eq(&transcript(&state));
    assert_eq!(setup.disk.made.lock().unwrap()["cup"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_only_asked_about_waits_also_after_its_process_has_ended() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make it."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s","name":"slow","input":{}},{"id":"m","name":"make","input":{"name":"cup"}}]}
{"run":"d/0","text":"It is made."}
{"calls":[{"id":"w","name":"wait_agents","input":{}}]}
{"text":"It is made, I hear."}
"#;
    let setup = Setup { approver: later(), ..setup(session) };
    let process = setup.process();
    // The question is kept, and the slow call is not done.
    let run = tokio::time::timeout(Duration::from_millis(500), process.run()).await;
    assert!(run.is_err());
    drop(process);
    let asked = setup.disk.pending.waiting().await.unwrap();
    assert_eq!(asked.len(), 1);

    let process = setup.process();
    process.supervisor.go_on_all(&scope()).await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let children = process.supervisor.children(scope().run()).await.unwrap();
    assert_eq!(children[0].status.name(), "waiting for the user");
    assert!(setup.disk.pending.answer(&asked[0].id, &Approval::Approve).await.unwrap());
    process.supervisor.go_on_all(&scope()).await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let children = process.supervisor.children(scope().run()).await.unwrap();
    assert_eq!(children[0].status.name(), "done");
    assert_eq!(setup.disk.made.lock().unwrap()["cup"], 1);
    assert!(setup.disk.pending.waiting().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_nobody_could_be_told_is_news_for_the_host() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0","text":"It is on the table."}
{"text":"I let it work."}
"#;
    let process = check(
        &setup(session),
        expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Find the cup.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: I let it work.
        Some(Completed)"#]],
    )
    .await;
    process.supervisor.idle(scope().run()).await.unwrap();
    let news = process.supervisor.untold_news(&scope()).await.unwrap();
    assert_eq!(news.len(), 1);
    assert!(news[0].ends_with("It is on the table."), "{news:?}");
    assert!(process.supervisor.untold_news(&scope()).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn waiting_for_any_gives_the_first_and_for_all_gives_the_rest() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Fast."},{"agent":"helper","task":"Slow."}],"background":true}}]}
{"run":"d/0","text":"Fast is done."}
{"run":"d/1","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/1","text":"Slow is done."}
{"calls":[{"id":"w1","name":"wait_agents","input":{"until":"any"}}]}
{"calls":[{"id":"w2","name":"wait_agents","input":{"timeout_s":0}}]}
{"calls":[{"id":"w3","name":"wait_agents","input":{}}]}
{"calls":[{"id":"w4","name":"wait_agents","input":{}},{"id":"l","name":"list_agents","input":{}}]}
{"text":"Done."}
"#;
    check(
        &setup(session),
        expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Fast.
        `helper-#` works on: Slow.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        w1 ok: `helper-#` done:
        Fast is done.
        `helper-#` running: Slow.
        The others go on.
        model: 
        w2 ok: `helper-#` running: Slow.
        They go on.
        model: 
        w3 ok: `helper-#` done:
        Slow is done.
        model: 
        w4 ok: no agent works in the background, and you were told of all that did
        l ok: `helper-#` done: Fast.
        `helper-#` done: Slow.
        model: Done.
        Some(Completed)"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn one_that_hangs_is_cancelled_with_all_below_it() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"lead","task":"Lead."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"hangs","task":"Hang."}]}}]}
{"run":"d/0","text":"Never said."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"text":"Stop it."}
"#;
    let agents = vec![helper("lead"), helper("hangs")];
    let setup = Setup { agents, odd: vec![("hangs", Odd::Hangs)], ..setup(session) };
    let process = setup.process();
    let state = process.run().await;
    assert_eq!(state.end(), Some(&RunEnd::Completed));
    process.supervisor.cancel_below(scope().run()).await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let children = process.supervisor.children(scope().run()).await.unwrap();
    let ends: Vec<&str> = children.iter().map(|child| child.status.name()).collect();
    assert_eq!(ends, ["cancelled", "cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_run_cancels_those_it_waits_for() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"hangs","task":"Hang."},{"agent":"hangs","task":"Hang, too."}]}}]}
{"text":"Never said."}
"#;
    let setup = Setup { agents: vec![helper("hangs")], odd: vec![("hangs", Odd::Hangs)], ..setup(session) };
    let process = setup.process();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        process.agent.cancel(scope().run()).unwrap();
    };
    let (state, ()) = tokio::join!(process.run(), stop);
    assert_eq!(state.end(), Some(&RunEnd::Cancelled));
    let children = process.supervisor.children(scope().run()).await.unwrap();
    let ends: Vec<&str> = children.iter().map(|child| child.status.name()).collect();
    assert_eq!(ends, ["cancelled", "cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_runs_go_on_or_are_lost() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"A."},{"agent":"gone","task":"B."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0","text":"A is done."}
{"run":"d/1","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/1","text":"B is done."}
{"text":"They work."}
"#;
    let both = Setup { agents: vec![helper("helper"), helper("gone")], ..setup(session) };
    let process = both.process();
    assert_eq!(process.run().await.end(), Some(&RunEnd::Completed));
    drop(process);
    let one = Setup { agents: vec![helper("helper")], disk: both.disk.clone(), ..setup(session) };
    let process = one.process();
    assert_eq!(process.supervisor.go_on_all(&scope()).await.unwrap().len(), 2);
    process.supervisor.idle(scope().run()).await.unwrap();
    let children = process.supervisor.children(scope().run()).await.unwrap();
    let ends: Vec<&str> = children.iter().map(|child| child.status.name()).collect();
    assert_eq!(ends, ["done", "lost"]);
    let lost = |kind: &EventKind| matches!(kind, EventKind::RunEnded { end, .. } if end == "lost");
    assert_eq!(both.disk.events.lock().unwrap().iter().filter(|event| lost(&event.kind)).count(), 1);
}

/// Drives runs and keeps nothing of them.
struct Forgetful;

#[async_trait::async_trait]
impl Runner for Forgetful {
    async fn run(&self, _: ChildRun) -> ChildOutcome {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_runner_keeps_nothing_is_lost_with_its_process() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"A."}],"background":true}}]}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"text":"It works."}
"#;
    let setup = setup(session);
    let mut process = setup.process_driven_by(Forgetful);
    assert_eq!(process.run().await.end(), Some(&RunEnd::Completed));
    process = setup.process_driven_by(Forgetful);
    process.supervisor.go_on_all(&scope()).await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let children = process.supervisor.children(scope().run()).await.unwrap();
    assert_eq!(children[0].status.name(), "lost");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_denied_while_it_waits_below_ends_what_waits() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make it."}]}}]}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"cup"}}]}
{"run":"d/0","text":"Never said."}
{"text":"So be it."}
"#;
    let setup = Setup { approver: later(), ..setup(session) };
    let process = setup.process();
    let state = process.run().await;
    let outer = state.pending().next().unwrap().call.id.clone();
    let denied = Approval::Deny { reason: "not now".into() };
    let state = process.agent.resume(scope(), state, &outer, denied).await.unwrap();
    assert_eq!(state.end(), Some(&RunEnd::Completed));
    let children = process.supervisor.children(scope().run()).await.unwrap();
    assert_eq!(children[0].status.name(), "cancelled");
    assert!(setup.disk.pending.waiting().await.unwrap().is_empty());
    assert!(setup.disk.made.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_between_that_a_person_denies_ends_what_waits_below_it() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Have it made."}]}}]}
{"run":"d/0","calls":[{"id":"e","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make it."}]}}]}
{"run":"d/0/e/0","calls":[{"id":"m","name":"make","input":{"name":"cup"}}]}
{"run":"d/0","text":"So be it."}
{"text":"Done."}
"#;
    let setup = Setup { approver: later(), ..setup(session) };
    let process = setup.process();
    let state = process.run().await;
    let outer = state.pending().next().unwrap().call.id.clone();
    let pending = &setup.disk.pending;
    let waiting = pending.waiting().await.unwrap();
    let between = waiting.iter().find(|call| call.waits_below() && call.run != *scope().run()).unwrap();
    assert!(pending.answer(&between.id, &Approval::Deny { reason: "not now".into() }).await.unwrap());
    let state = process.agent.resume(scope(), state, &outer, Approval::Approve).await.unwrap();
    assert_eq!(state.end(), Some(&RunEnd::Completed));
    let tree = setup.disk.children.tree(scope().run()).await.unwrap();
    let mut ends: Vec<_> = tree.iter().map(|record| (record.depth, record.status.name())).collect();
    ends.sort_unstable();
    assert_eq!(ends, [(1, "done"), (2, "cancelled")]);
    assert!(pending.waiting().await.unwrap().is_empty());
    assert!(setup.disk.made.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_denied_after_all_does_not_go_on_by_what_was_said_before() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Ask."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"e","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Look."}]}}]}
{"run":"d/0/e/0","text":"Looked."}
{"run":"d/0","text":"So be it."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"text":"Done."}
"#;
    let top = |pending: &PendingCall| {
        if pending.run == *scope().run() { Approval::Approve } else { Approval::Later }
    };
    let policy = Policy::new().allow(Supervisor::looking_after()).allow(Rule::tools("slow".parse().unwrap()));
    let setup = Setup { approver: Arc::new(approver_fn(top)), policy, ..setup(session) };
    let process = setup.process();
    let run = tokio::time::timeout(Duration::from_millis(500), process.run()).await;
    assert!(run.is_err());
    drop(process);
    let asked = setup.disk.pending.waiting().await.unwrap().remove(0);
    // The process ended after it had kept the answer and before it went on, and the person thought better of it.
    let (mut head, log) = setup.disk.children.state(&asked.run).await.unwrap().unwrap();
    head["approved"] = serde_json::json!({ "call": "e", "approval": Approval::Approve });
    setup.disk.children.keep(&asked.run, head, 0, log).await.unwrap();
    let denied = Approval::Deny { reason: "not now".into() };
    assert!(setup.disk.pending.answer(&asked.id, &denied).await.unwrap());

    let process = setup.process();
    process.supervisor.go_on_all(&scope()).await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let tree = setup.disk.children.tree(scope().run()).await.unwrap();
    assert_eq!(tree.iter().map(|record| record.status.name()).collect::<Vec<_>>(), ["done"]);
}

/// Has a run in the background go on in a process that has these agents, while the one above it waits; gives what it made.
async fn made_below(agents: Vec<AgentSpec>) -> Vec<String> {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"lead","task":"Lead."}]}}]}
{"run":"d/0","calls":[{"id":"e","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make it."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0","text":"Led."}
{"run":"d/0/e/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0/e/0","calls":[{"id":"m","name":"make","input":{"name":"cup"}}]}
{"run":"d/0/e/0","text":"Tried."}
{"text":"Done."}
"#;
    let policy = policy().allow(Rule::tools("make".parse().unwrap()));
    let before = Setup { agents: vec![helper("lead"), helper("helper")], policy, ..setup(session) };
    let process = before.process();
    let run = tokio::time::timeout(Duration::from_millis(500), process.run()).await;
    assert!(run.is_err());
    drop(process);
    let after = Setup { agents, ..before };
    let process = after.process();
    assert_eq!(process.supervisor.go_on_all(&scope()).await.unwrap().len(), 1);
    process.supervisor.idle(scope().run()).await.unwrap();
    let tree = after.disk.children.tree(scope().run()).await.unwrap();
    assert_eq!(tree.last().unwrap().result().unwrap().text, "Tried.");
    after.disk.made.lock().unwrap().keys().cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn below_a_run_whose_agent_is_gone_nothing_is_changed() {
    assert_eq!(made_below(vec![helper("lead"), helper("helper")]).await, ["cup"]);
    assert!(made_below(vec![helper("helper")]).await.is_empty());
}
