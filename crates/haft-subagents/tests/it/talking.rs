//! What a run says to those it has started, and how it stops them.

use crate::fixture::{Odd, Process, Setup, helper, later, policy, scope, slow, transcript};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_agent::RunEnd;
use haft_core::EventKind;
use haft_subagents::{ChildOutcome, ChildResult, ChildRun, Runner, SpawnLimits};
use haft_tools_core::{Approval, PendingStore as _, Rule};
use std::time::Duration;

fn setup(session: &str) -> Setup {
    let policy = policy().allow(Rule::tools("slow".parse().unwrap()));
    Setup { tools: slow(), policy, ..Setup::new(session) }
}

async fn check(setup: &Setup, expected: Expect) -> Process {
    let process = setup.process();
    expected.assert_eq(&transcript(&process.run().await));
    process
}

/// How the runs below stand, one a line.
async fn standing(process: &Process) -> Vec<String> {
    process.supervisor.idle(scope().run()).await.unwrap();
    let children = process.supervisor.children(scope().run()).await.unwrap();
    children.iter().map(|child| format!("{} {}", child.path, child.status.name())).collect()
}

#[tokio::test(start_paused = true)]
async fn one_at_work_is_told_after_its_turn() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s1","name":"slow","input":{}}]}
{"run":"d/0","calls":[{"id":"s2","name":"slow","input":{}}]}
{"run":"d/0","text":"The red one is on the table."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"calls":[{"id":"m","name":"send_agent","input":{"agent":"@1","message":"The red one."}}]}
{"calls":[{"id":"w","name":"wait_agents","input":{}}]}
{"text":"Done."}
"#;
    let process = check(
        &setup(session),
        expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Find the cup.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        s ok: a second is over
        model: 
        m ok: `helper-#` is told.
        model: 
        w ok: `helper-#` done:
        The red one is on the table.
        model: Done.
        Some(Completed)"#]],
    )
    .await;
    assert_eq!(standing(&process).await, ["d/0 done"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_has_ended_takes_it_up_as_a_further_task() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."},{"agent":"helper","task":"Wait."}]}}]}
{"run":"d/0","text":"It is on the table."}
{"run":"d/0","text":"It is red."}
{"run":"d/1","text":"I waited."}
{"calls":[{"id":"m","name":"send_agent","input":{"agent":"@1","message":"Which colour has it?"}}]}
{"calls":[{"id":"w","name":"wait_agents","input":{}},{"id":"l","name":"list_agents","input":{}}]}
{"text":"Red."}
"#;
    let setup = setup(session);
    check(&setup, expect![[r#"
        person: go
        model: 
        d ok: [1 of 2] `helper-#` done:
        It is on the table.
        [2 of 2] `helper-#` done:
        I waited.
        model: 
        m ok: `helper-#` goes on with that in the background. You are told when it is done; `wait_agents` waits for it.
        model: 
        w ok: `helper-#` done:
        It is red.
        l ok: `helper-#` queued: Find the cup.
        `helper-#` done: Wait.
        model: Red.
        Some(Completed)"#]]).await;
    // Each beginning has its end.
    let events = setup.disk.events.lock().unwrap();
    let of_runs: Vec<&str> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::RunStarted { .. } => Some("started"),
            EventKind::RunEnded { .. } => Some("ended"),
            _ => None,
        })
        .collect();
    assert_eq!(of_runs, ["started", "ended", "started", "ended", "started", "ended"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_goes_on_counts_as_at_work_before_it_has_a_seat() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}]}}]}
{"run":"d/0","text":"On the table."}
{"run":"d/0","text":"Never said."}
{"calls":[{"id":"e","name":"delegate","input":{"tasks":[{"agent":"hangs","task":"Hang."}],"background":true}}]}
{"calls":[{"id":"l","name":"list_agents","input":{}}]}
{"calls":[{"id":"m","name":"send_agent","input":{"agent":"@2","message":"Once more."}}]}
{"calls":[{"id":"w","name":"wait_agents","input":{"timeout_s":1}},{"id":"c","name":"cancel_agent","input":{"agent":"@2"}}]}
{"text":"Done."}
"#;
    let setup = Setup {
        agents: vec![helper("helper"), helper("hangs")],
        odd: vec![("hangs", Odd::Hangs)],
        limits: SpawnLimits { depth: 3, width: 1, ..SpawnLimits::default() },
        ..setup(session)
    };
    let process = check(&setup, expect![[r#"
        person: go
        model: 
        d ok: On the table.
        model: 
        e ok: `hangs-#` works on: Hang.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        l ok: `helper-#` done: Find the cup.
        `hangs-#` queued: Hang.
        model: 
        m ok: `helper-#` goes on with that in the background. You are told when it is done; `wait_agents` waits for it.
        model: 
        w ok: `helper-#` cancelled:
        `hangs-#` running: Hang.
        The time is over, and they go on. Wait again, or cancel them with `cancel_agent`.
        c ok: `helper-#` cancelled: Find the cup.
        model: Done.
        Some(Completed)"#]]).await;
    process.supervisor.cancel_below(scope().run()).await.unwrap();
    assert_eq!(standing(&process).await, ["d/0 cancelled", "e/0 cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_cancelled_is_told_nothing() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"lead","task":"Lead."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"hangs","task":"Hang."}]}}]}
{"run":"d/0","text":"Never said."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"calls":[{"id":"c","name":"cancel_agent","input":{"agent":"@1"}}]}
{"calls":[{"id":"m","name":"send_agent","input":{"agent":"@1","message":"Go on."}},{"id":"e","name":"cancel_agent","input":{"agent":"@1"}}]}
{"text":"Done."}
"#;
    let setup = Setup {
        agents: vec![helper("lead"), helper("hangs")],
        odd: vec![("hangs", Odd::Hangs)],
        ..setup(session)
    };
    let process = check(&setup, expect![[r#"
        person: go
        model: 
        d ok: `lead-#` works on: Lead.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        s ok: a second is over
        model: 
        c ok: `lead-#` cancelled: Lead.
        model: 
        m error: invalid input: `lead-#` has ended (cancelled) and cannot be gone on with; delegate the task anew
        e ok: it has ended before: `lead-#` cancelled: Lead.
        model: Done.
        Some(Completed)"#]]).await;
    assert_eq!(standing(&process).await, ["d/0 cancelled", "d/0/d/0 cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_waits_for_a_person_is_told_when_it_goes_on_and_takes_its_question_back_when_cancelled() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make one."},{"agent":"helper","task":"Make two."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"one"}}]}
{"run":"d/0","text":"Made one."}
{"run":"d/1","calls":[{"id":"m","name":"make","input":{"name":"two"}}]}
{"run":"d/1","text":"Never said."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"calls":[{"id":"m","name":"send_agent","input":{"agent":"@1","message":"A blue one."}},{"id":"c","name":"cancel_agent","input":{"agent":"@2"}}]}
{"calls":[{"id":"w","name":"wait_agents","input":{}}]}
{"text":"Done."}
"#;
    let setup = Setup { approver: later(), ..setup(session) };
    let process = setup.process();
    let state = process.run().await;
    let waits = state.pending().next().unwrap().clone();
    let leaf = waits.leaves().next().unwrap().clone();
    // The other one is not asked about any more.
    let mut asked = setup.disk.pending.waiting().await.unwrap();
    asked.retain(|call| !call.waits_below());
    assert_eq!(asked.iter().map(|call| &call.id).collect::<Vec<_>>(), [&leaf.id]);
    setup.disk.pending.answer(&leaf.id, &Approval::Approve).await.unwrap();
    let state = process.agent.resume(scope(), state, &waits.call.id, Approval::Approve).await.unwrap();
    expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Make one.
        `helper-#` works on: Make two.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        s ok: a second is over
        model: 
        m ok: `helper-#` is told when it goes on.
        c ok: `helper-#` cancelled: Make two.
        model: 
        w ok: `helper-#` done:
        Made one.
        model: Done.
        Some(Completed)"#]]
    .assert_eq(&transcript(&state));
    assert_eq!(state.end(), Some(&RunEnd::Completed));
    assert_eq!(standing(&process).await, ["d/0 done", "d/1 cancelled"]);
}

/// Works for three seconds on what it is told, and cannot be told anything meanwhile.
struct Deaf;

#[async_trait]
impl Runner for Deaf {
    async fn run(&self, child: ChildRun) -> ChildOutcome {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let told = if child.said.is_empty() { child.task } else { child.said.join(" ") };
        ChildOutcome::Ended(ChildResult::done(format!("Done: {told}")))
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_runner_cannot_be_told_it_goes_on_with_afterwards() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."},{"agent":"helper","task":"Wait."}],"background":true}}]}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"calls":[{"id":"m","name":"send_agent","input":{"agent":"@1","message":"The red one."}}]}
{"calls":[{"id":"v","name":"wait_agents","input":{}}]}
{"text":"Done."}
"#;
    let setup = setup(session);
    let process = setup.process_driven_by(Deaf);
    expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Find the cup.
        `helper-#` works on: Wait.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        s ok: a second is over
        model: 
        m ok: `helper-#` is told when it is done with what it is at.
        model: 
        v ok: `helper-#` done:
        Done: The red one.
        `helper-#` done:
        Done: Wait.
        model: Done.
        Some(Completed)"#]]
    .assert_eq(&transcript(&process.run().await));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_does_not_hear_comes_to_its_end_after_the_call_that_waited_was_given_up() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}]}}]}
{"text":"Never said."}
"#;
    let setup = setup(session);
    let process = setup.process_driven_by(Stubborn);
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        process.agent.cancel(scope().run()).unwrap();
    };
    let (state, ()) = tokio::join!(process.run(), stop);
    assert_eq!(state.end(), Some(&RunEnd::Cancelled));
    assert_eq!(standing(&process).await, ["d/0 cancelled"]);
    let ended = |kind: &EventKind| matches!(kind, EventKind::RunEnded { end, .. } if end == "cancelled");
    assert_eq!(setup.disk.events.lock().unwrap().iter().filter(|event| ended(&event.kind)).count(), 1);
}

/// Does not end when it is told to.
struct Stubborn;

#[async_trait]
impl Runner for Stubborn {
    async fn run(&self, _: ChildRun) -> ChildOutcome {
        std::future::pending().await
    }
}
