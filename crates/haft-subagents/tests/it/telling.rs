//! What a run is told of those it has started, when its process ends before it has that: it is told again.

use crate::fixture::{Disk, Hesitant, KeptUntil, Process, Setup, policy, scope, slow, transcript};
use expect_test::{Expect, expect};
use haft_agent::{Agent, News as _};
use haft_tools_core::{PendingStore, Rule};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn setup(session: &str) -> Setup {
    let policy = policy().allow(Rule::tools("slow".parse().unwrap()));
    Setup { tools: slow(), policy, ..Setup::new(session) }
}

/// Takes a second for each record that is kept.
fn slow_store(disk: &Disk) -> Hesitant {
    Hesitant::new(disk, |_| Duration::from_secs(1))
}

fn process(setup: &Setup, kept: &Arc<Mutex<Option<String>>>, last: Option<&'static str>) -> (Process, Agent) {
    let pending = Arc::clone(&setup.disk.pending) as Arc<dyn PendingStore>;
    let (process, agent) = setup.process_over(Arc::clone(&setup.disk.children) as _, pending);
    (process, agent.kept_by(Arc::new(KeptUntil { kept: Arc::clone(kept), last })))
}

/// Ends the process when the run at the top is first to be kept with this in it, and has another one go on.
async fn check_killed(session: &str, prompts: &[&str], last: &'static str, expected: Expect) {
    let setup = setup(session);
    let kept = Arc::default();
    let (before, agent) = process(&setup, &kept, Some(last));
    let work = async {
        let mut state = agent.run(scope(), "go").await;
        for prompt in prompts {
            before.supervisor.idle(scope().run()).await.unwrap();
            state = agent.prompt(scope(), state, *prompt).await.unwrap();
        }
    };
    let killed = tokio::time::timeout(Duration::from_mins(1), work).await;
    assert!(killed.is_err(), "the process was to end");
    drop((before, agent));
    let (_after, agent) = process(&setup, &kept, None);
    let state = serde_json::from_str(kept.lock().unwrap().as_ref().unwrap()).unwrap();
    expected.assert_eq(&transcript(&agent.go_on(scope(), state).await));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_made_again_tells_the_same_again() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0","text":"It is on the table."}
{"calls":[{"id":"w","name":"wait_agents","input":{}}]}
{"calls":[{"id":"v","name":"wait_agents","input":{}}]}
{"text":"On the table."}
"#;
    check_killed(
        session,
        &[],
        "It is on the table.",
        expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Find the cup.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        w ok: `helper-#` done:
        It is on the table.
        model: 
        v ok: no agent works in the background, and you were told of all that did
        model: On the table.
        Some(Completed)"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_a_run_at_work_was_told_is_told_again() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}],"background":true}}]}
{"run":"d/0","text":"It is on the table."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"text":"It is on the table, I hear."}
"#;
    check_killed(session, &[], "It is on the table.", expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Find the cup.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        s error: failed: the program ended while this call was due, so whether it had its effect is not known; look before you repeat it
        person: An agent in the background has ended.
        `helper-#` done:
        It is on the table.
        model: It is on the table, I hear.
        Some(Completed)"#]]).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_run_was_told_before_its_turn_is_told_again() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0","text":"It is on the table."}
{"text":"It looks."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"text":"On the table."}
"#;
    check_killed(
        session,
        &["and?"],
        "It is on the table.",
        expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Find the cup.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: It looks.
        person: and?
        person: An agent in the background has ended.
        `helper-#` done:
        It is on the table.
        model: 
        s ok: a second is over
        model: On the table.
        Some(Completed)"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_that_is_not_told_is_news() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0","text":"Never said."}
{"calls":[{"id":"c","name":"cancel_agent","input":{"agent":"@1"}}]}
{"text":"It is cancelled."}
"#;
    check_killed(session, &[], "cancelled:", expect![[r#"
        person: go
        model: 
        d ok: `helper-#` works on: Find the cup.
        You are told when they are done. Go on with something else, or wait with `wait_agents`.
        model: 
        c error: failed: the program ended while this call was due, so whether it had its effect is not known; look before you repeat it
        person: An agent in the background has ended.
        `helper-#` cancelled:
        model: It is cancelled.
        Some(Completed)"#]]).await;
}

/// Two runs in the background that have ended, of which nobody was told.
async fn two_have_ended() -> Setup {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"A."},{"agent":"helper","task":"B."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0","text":"A is done."}
{"run":"d/1","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/1","text":"B is done."}
{"text":"They work."}
"#;
    let setup = setup(session);
    let process = setup.process();
    process.run().await;
    process.supervisor.idle(scope().run()).await.unwrap();
    setup
}

#[tokio::test(start_paused = true)]
async fn news_that_were_not_given_are_given_the_next_time() {
    let setup = two_have_ended().await;
    let (process, _) =
        setup.process_over(Arc::new(slow_store(&setup.disk)), Arc::clone(&setup.disk.pending) as _);
    let supervisor = process.supervisor;
    let midway = Duration::from_millis(1_500);
    assert!(tokio::time::timeout(midway, supervisor.news(&scope())).await.is_err());
    assert_eq!(supervisor.news(&scope()).await.len(), 2);
    assert!(supervisor.news(&scope()).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn news_for_the_host_that_were_not_given_are_given_the_next_time() {
    let setup = two_have_ended().await;
    let (process, _) =
        setup.process_over(Arc::new(slow_store(&setup.disk)), Arc::clone(&setup.disk.pending) as _);
    let supervisor = process.supervisor;
    let midway = Duration::from_millis(1_500);
    assert!(tokio::time::timeout(midway, supervisor.untold_news(&scope())).await.is_err());
    assert_eq!(supervisor.untold_news(&scope()).await.unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn news_for_the_host_are_given_again_by_another_process_unless_it_asked_for_more() {
    let setup = two_have_ended().await;
    assert_eq!(setup.process().supervisor.untold_news(&scope()).await.unwrap().len(), 2);
    let process = setup.process();
    assert_eq!(process.supervisor.untold_news(&scope()).await.unwrap().len(), 2);
    assert!(process.supervisor.untold_news(&scope()).await.unwrap().is_empty());
    assert!(setup.process().supervisor.untold_news(&scope()).await.unwrap().is_empty());
}
