//! What runs spend is counted once by those above them, whichever process they spent it in.

use crate::fixture::{Hesitant, KeptUntil, Process, Setup, later, policy, scope, slow, transcript};
use haft_agent::{Agent, Budget, RunEnd, RunState};
use haft_core::CallId;
use haft_subagents::{ChildEnd, ChildRecord};
use haft_tools_core::{Approval, CallScope, Rule};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

fn setup(session: &str) -> Setup {
    let policy = policy().allow(Rule::tools("slow".parse().unwrap()));
    Setup { policy, tools: slow(), approver: later(), ..Setup::new(session) }
}

fn over_its_disk(setup: &Setup, turns: u64) -> (Process, Agent) {
    let (process, agent) =
        setup.process_over(Arc::clone(&setup.disk.children) as _, Arc::clone(&setup.disk.pending) as _);
    (process, agent.budget(Budget::default().turns(turns)))
}

/// The scope of the run at the top, with its purse if the host gives that.
fn top(agent: &Agent, state: &RunState, gives_purse: bool) -> CallScope {
    if gives_purse { scope().with_extension(agent.purse(scope().run(), state)) } else { scope() }
}

async fn below(process: &Process) -> ChildRecord {
    process.supervisor.children(scope().run()).await.unwrap().remove(0)
}

/// Checks that the run at the top counts its own turns and those of the one below, and each once.
fn check(state: &RunState, below: &ChildRecord) {
    let all = u64::from(state.turns()) + below.spent.turns;
    assert_eq!(state.spent().turns, all, "{}", transcript(state));
}

const WAITING: &str = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Think."}],"background":true}}]}
{"calls":[{"id":"m","name":"make","input":{"name":"cup"}}]}
{"text":"Done."}
{"run":"d/0","calls":[{"id":"s1","name":"slow","input":{}}]}
{"run":"d/0","calls":[{"id":"s2","name":"look","input":{"name":"a"}}]}
{"run":"d/0","calls":[{"id":"s3","name":"slow","input":{}}]}
{"run":"d/0","text":"Thought."}
"#;

/// Has a run below come to its end while the one above waits, in the first process or in a second one.
async fn check_waiting(in_second: bool, gives_purse: bool) {
    let setup = setup(WAITING);
    let (first, agent) = over_its_disk(&setup, 31);
    let kept = serde_json::to_value(agent.run(scope(), "go").await).unwrap();
    let restored = || serde_json::from_value::<RunState>(kept.clone()).unwrap();
    if !in_second {
        first.supervisor.idle(scope().run()).await.unwrap();
    }
    drop((first, agent));
    if in_second {
        let process = setup.process();
        process.supervisor.go_on_all(&top(&process.agent, &restored(), gives_purse)).await.unwrap();
        process.supervisor.idle(scope().run()).await.unwrap();
    }
    let process = setup.process();
    let call: CallId = "m".parse().unwrap();
    let state = process.agent.resume(scope(), restored(), &call, Approval::Approve).await.unwrap();
    assert_eq!(below(&process).await.spent.turns, 4);
    check(&state, &below(&process).await);
}

#[tokio::test(start_paused = true)]
async fn what_was_spent_below_a_run_that_waits_is_counted_when_it_goes_on_in_another_process() {
    check_waiting(false, false).await;
    check_waiting(true, false).await;
    check_waiting(true, true).await;
}

/// A session in which the run at the top looks at so many things, and the one below takes eleven turns.
fn working(further: usize) -> String {
    let call = |run: Option<&str>, id: String, tool: &str| {
        let input = if tool == "look" { json!({ "name": id }) } else { json!({}) };
        let mut turn = json!({ "calls": [{ "id": id, "name": tool, "input": input }] });
        if let Some(run) = run {
            turn["run"] = json!(run);
        }
        turn.to_string()
    };
    let task = json!([{ "agent": "helper", "task": "Think." }]);
    let delegate = json!({ "id": "d", "name": "delegate", "input": { "tasks": task, "background": true } });
    let mut lines = vec![json!({ "calls": [delegate] }).to_string()];
    for turn in 0..5 {
        lines.push(call(None, format!("l{turn}"), "look"));
        lines.push(call(None, format!("s{turn}"), "slow"));
    }
    lines.push(r#"{"text":"It thinks."}"#.to_owned());
    lines.extend((0..further).map(|turn| call(None, format!("f{turn}"), "look")));
    lines.push(r#"{"text":"Done."}"#.to_owned());
    for turn in 0..10 {
        let tool = if turn % 3 == 1 { "look" } else { "slow" };
        lines.push(call(Some("d/0"), format!("c{turn}"), tool));
    }
    lines.push(r#"{"run":"d/0","text":"Thought."}"#.to_owned());
    lines.join("\n")
}

/// Has a process end while a run below is at work, and another one go on with both.
async fn check_at_work(goes_on_all: bool, gives_purse: bool) {
    let setup = setup(&working(0));
    let (before, agent) = over_its_disk(&setup, 31);
    let state = agent.run(scope(), "go").await;
    drop((before, agent));
    let process = setup.process();
    if goes_on_all {
        process.supervisor.go_on_all(&top(&process.agent, &state, gives_purse)).await.unwrap();
        process.supervisor.idle(scope().run()).await.unwrap();
    }
    let state = process.agent.prompt(scope(), state, "and?").await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let below = below(&process).await;
    // There was enough for all of it.
    assert_eq!(below.result().unwrap().end, ChildEnd::Done, "{goes_on_all} {gives_purse}: {below:?}");
    assert_eq!(below.spent.turns, 11);
    if goes_on_all {
        check(&state, &below);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_at_work_has_what_is_left_of_all_and_no_less() {
    check_at_work(true, false).await;
    check_at_work(true, true).await;
    check_at_work(false, false).await;
}

/// Has both spend more than there is, where the one below takes long to begin again.
async fn check_overspending(gives_purse: bool, waits: bool) {
    let setup = setup(&working(12));
    let (before, agent) = over_its_disk(&setup, 23);
    let state = agent.run(scope(), "go").await;
    drop((before, agent));
    let begins = |kept: &str| kept.contains(r#""status":"running""#);
    let wait = move |kept: &str| if begins(kept) { Duration::from_secs(30) } else { Duration::ZERO };
    let store = Hesitant::new(&setup.disk, wait);
    let (process, agent) = setup.process_over(Arc::new(store), Arc::clone(&setup.disk.pending) as _);
    process.supervisor.go_on_all(&top(&agent, &state, gives_purse)).await.unwrap();
    if waits {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let state = agent.prompt(scope(), state, "and?").await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let below = below(&process).await;
    assert_eq!(state.end(), Some(&RunEnd::BudgetSpent { which: haft_core::BudgetKind::Turns }));
    let all = u64::from(state.turns()) + below.spent.turns;
    // Each of them may close with one turn more.
    assert!((22..=25).contains(&all), "{gives_purse} {waits}: {all} of 23, {below:?}");
}

#[tokio::test(start_paused = true)]
async fn runs_that_go_on_at_once_after_a_restart_spend_no_more_than_there_is() {
    for gives_purse in [false, true] {
        for waits in [false, true] {
            check_overspending(gives_purse, waits).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_spent_by_a_run_that_is_dropped_and_gone_on_with_is_counted_once() {
    let session = WAITING
        .replace(",\"background\":true", "")
        .replace(r#"{"calls":[{"id":"m","name":"make","input":{"name":"cup"}}]}"#, "");
    for in_same in [true, false] {
        let setup = setup(&session);
        let kept = KeptUntil { kept: Arc::default(), last: None };
        let disk = Arc::clone(&kept.kept);
        let (process, agent) = over_its_disk(&setup, 31);
        let agent = agent.kept_by(Arc::new(kept));
        let run = tokio::time::timeout(Duration::from_millis(1500), agent.run(scope(), "go")).await;
        assert!(run.is_err());
        let state: RunState = serde_json::from_str(disk.lock().unwrap().as_ref().unwrap()).unwrap();
        let (process, state) = if in_same {
            let state = agent.go_on(scope(), state).await;
            (process, state)
        } else {
            drop((process, agent));
            let process = setup.process();
            let state = process.agent.go_on(scope(), state).await;
            (process, state)
        };
        check(&state, &below(&process).await);
    }
}
