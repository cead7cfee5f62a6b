//! How many runs there are, how deep, how many at once, and what they may spend.

use crate::fixture::{Odd, Setup, THING, helper, policy, scope, transcript, unnamed};
use expect_test::{Expect, expect};
use haft_agent::{Budget, RunEnd};
use haft_core::ToolError;
use haft_subagents::SpawnLimits;
use haft_tools_core::{
    Access, Accesses, Approval, Approver, CallContext, PendingCall, Resource, Rule, ToolRegistry, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Barrier, Notify};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

async fn check(setup: &Setup, expected: Expect) {
    expected.assert_eq(&transcript(&setup.process().run().await));
}

fn tasks(count: usize) -> Vec<Value> {
    (0..count).map(|place| json!({ "agent": "helper", "task": format!("Task {place}.") })).collect()
}

#[tokio::test(start_paused = true)]
async fn a_hundred_runs_of_width_4_keep_4_at_work() {
    let (count, width) = (100, 4);
    let mut lines = vec![
        json!({ "calls": [{ "id": "c1", "name": "delegate", "input": { "tasks": tasks(count) } }] })
            .to_string(),
    ];
    for place in 0..count {
        let run = format!("c1/{place}");
        lines.push(json!({ "run": run, "calls": [{ "id": "w", "name": "work", "input": {} }] }).to_string());
        lines.push(json!({ "run": run, "text": "Worked." }).to_string());
    }
    lines.push(json!({ "text": "All worked." }).to_string());

    // Four have to be at work for any of them to go on, and there are never more.
    let (all, most, now) =
        (Arc::new(Barrier::new(width)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (seen, at_once) = (Arc::clone(&most), Arc::clone(&now));
    let work = tool_fn("work", "Works.", Accesses::none(), move |_: Nothing, _: CallContext| {
        let (all, most, now) = (Arc::clone(&all), Arc::clone(&seen), Arc::clone(&at_once));
        async move {
            let working = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(working, Ordering::SeqCst);
            all.wait().await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ToolError>("worked")
        }
    });
    let setup = Setup {
        limits: SpawnLimits { tasks: count, children: count, width, ..SpawnLimits::default() },
        policy: policy().allow(Rule::tools("work".parse().unwrap())),
        tools: ToolRegistry::new().with(work.unwrap()).unwrap(),
        ..Setup::new(&lines.join("\n"))
    };
    let run = tokio::time::timeout(Duration::from_hours(1), async { setup.process().run().await });
    assert_eq!(run.await.unwrap().end(), Some(&RunEnd::Completed));
    assert_eq!(most.load(Ordering::SeqCst), width);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_others_is_not_at_work() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"One."}]}}]}
{"run":"d/0","calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Two."}],"background":true}}]}
{"run":"d/0/d/0","calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Three."}]}}]}
{"run":"d/0/d/0/d/0","text":"Three."}
{"run":"d/0/d/0","text":"Two."}
{"run":"d/0","calls":[{"id":"w","name":"wait_agents","input":{}}]}
{"run":"d/0","text":"One.","after":{"w":"ok"}}
{"text":"Done."}
"#;
    let limits = SpawnLimits { depth: 3, width: 1, ..SpawnLimits::default() };
    let setup = Setup { limits, ..Setup::new(session) };
    let run = tokio::time::timeout(Duration::from_hours(1), async { setup.process().run().await });
    assert_eq!(run.await.unwrap().end(), Some(&RunEnd::Completed));
}

/// Answers about one thing when another was made.
struct AfterOther {
    other: Arc<Notify>,
}

#[async_trait::async_trait]
impl Approver for AfterOther {
    async fn approve(&self, call: &PendingCall) -> Approval {
        if call.call.input["name"] == "slow" {
            self.other.notified().await;
        } else {
            self.other.notify_one();
        }
        Approval::Approve
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_a_person_is_not_at_work() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"A."},{"agent":"helper","task":"B."}]}}]}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"slow"}}]}
{"run":"d/1","calls":[{"id":"m","name":"make","input":{"name":"fast"}}]}
{"run":"d/0","text":"A."}
{"run":"d/1","text":"B."}
{"text":"Done."}
"#;
    let limits = SpawnLimits { width: 1, ..SpawnLimits::default() };
    let approver = Arc::new(AfterOther { other: Arc::default() });
    let setup = Setup { limits, approver, ..Setup::new(session) };
    let run = tokio::time::timeout(Duration::from_hours(1), async { setup.process().run().await });
    assert_eq!(run.await.unwrap().end(), Some(&RunEnd::Completed));
    assert_eq!(setup.disk.made.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_run_that_is_as_deep_as_it_may_be_has_no_tool_to_go_deeper() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"One."}]}}]}
{"run":"d/0","calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Two."}]}},{"id":"l","name":"list_agents","input":{}}]}
{"run":"d/0","text":"I cannot.","after":{"d":{"error":"unknown_tool"},"l":{"error":"unknown_tool"}}}
{"text":"So be it."}
"#;
    let setup = Setup { limits: SpawnLimits::default(), ..Setup::new(session) };
    check(
        &setup,
        expect![[r#"
        person: go
        model: 
        d ok: I cannot.
        model: So be it.
        Some(Completed)"#]],
    )
    .await;
    let none = Setup { limits: SpawnLimits { depth: 0, ..SpawnLimits::default() }, ..Setup::new(session) };
    check(
        &none,
        expect![[r#"
        person: go
        model: 
        d denied: nothing can be delegated here; do it yourself
        model: So be it.
        Some(Completed)"#]],
    )
    .await;
}

#[tokio::test]
async fn a_run_starts_so_many_others_and_no_more() {
    let session = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"helper","task":"One."},{"agent":"helper","task":"Two."}]}}]}
{"run":"c1/0","text":"One."}
{"run":"c1/1","text":"Two."}
{"calls":[{"id":"c2","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Three."},{"agent":"helper","task":"Four."}]}}]}
{"calls":[{"id":"c3","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Three."}]}}]}
{"run":"c3/0","text":"Three."}
{"calls":[{"id":"c4","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Four."}]}}]}
{"text":"So be it."}
"#;
    let setup =
        Setup { limits: SpawnLimits { children: 3, ..SpawnLimits::default() }, ..Setup::new(session) };
    check(
        &setup,
        expect![[r#"
        person: go
        model: 
        c1 ok: [1 of 2] `helper-#` done:
        One.
        [2 of 2] `helper-#` done:
        Two.
        model: 
        c2 denied: this run may start 3 others in all, and has 1 left to start; delegate fewer tasks
        model: 
        c3 ok: Three.
        model: 
        c4 denied: this run may start 3 others in all, and has 0 left to start; do the rest yourself
        model: So be it.
        Some(Completed)"#]],
    )
    .await;
}

#[tokio::test]
async fn what_a_run_spends_is_taken_from_the_run_above_and_the_rest_goes_back() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"short","task":"Look."},{"agent":"helper","task":"Look."}]}}]}
{"run":"d/0","calls":[{"id":"l1","name":"look","input":{"name":"cup"}}]}
{"run":"d/0","calls":[{"id":"l2","name":"look","input":{"name":"pot"}}]}
{"run":"d/0","text":"I saw a cup and a pot."}
{"run":"d/1","calls":[{"id":"l1","name":"look","input":{"name":"pan"}}]}
{"run":"d/1","text":"A pan."}
{"text":"Done."}
"#;
    let short = helper("short").budget(Budget::default().turns(2));
    let setup = Setup { agents: vec![short, helper("helper")], ..Setup::new(session) };
    let (process, agent) =
        setup.process_over(Arc::clone(&setup.disk.children) as _, Arc::clone(&setup.disk.pending) as _);
    let agent = agent.budget(Budget::default().turns(20));
    let state = agent.run(scope(), "go").await;
    expect![[r#"
        person: go
        model: 
        d ok: [1 of 2] `short-#` stopped: its budget of model turns is spent
        What it said last:
        I saw a cup and a pot.
        [2 of 2] `helper-#` done:
        A pan.
        model: Done.
        Some(Completed)"#]]
    .assert_eq(&transcript(&state));
    let children = process.supervisor.children(scope().run()).await.unwrap();
    let turns: Vec<u64> = children.iter().map(|child| child.spent.turns).collect();
    assert_eq!((turns, state.spent().turns, state.account().reserved.turns), (vec![3, 2], 7, 0));
}

#[tokio::test(start_paused = true)]
async fn one_that_breaks_costs_its_siblings_nothing() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"panics","task":"A."},{"agent":"helper","task":"B."},{"agent":"fails","task":"C."},{"agent":"hangs","task":"D."}]}}]}
{"run":"d/1","text":"B is done."}
{"calls":[{"id":"d2","name":"delegate","input":{"tasks":[{"agent":"panics","task":"E."}]}}]}
{"text":"So be it."}
"#;
    let agents = vec![helper("helper"), helper("panics"), helper("fails"), helper("hangs")];
    let odd = vec![("panics", Odd::Panics), ("fails", Odd::Fails), ("hangs", Odd::Hangs)];
    let setup = Setup { agents, odd, ..Setup::new(session) };
    let process = setup.process();
    expect![[r#"
        person: go
        model: 
        d ok: [1 of 4] `panics-#` failed: it broke through a fault of this program; do not repeat the task as it is
        [2 of 4] `helper-#` done:
        B is done.
        [3 of 4] `fails-#` failed: it could not go on; go on without it, or delegate the task again later
        [4 of 4] `hangs-#` stopped: its budget of time is spent
        model: 
        d2 error: failed: `panics-#` failed: it broke through a fault of this program; do not repeat the task as it is
        model: So be it.
        Some(Completed)"#]].assert_eq(&transcript(&process.run().await));
    let children = process.supervisor.children(scope().run()).await.unwrap();
    let ends: Vec<String> = children
        .iter()
        .map(|child| {
            let result = child.result().unwrap();
            format!("{} {}: {}", child.agent, result.end.name(), result.detail.clone().unwrap_or_default())
        })
        .collect();
    expect![[r#"
        panics failed: it panicked: the model is broken
        helper done: 
        fails failed: the model's answer broke off before it was finished; ask again
        hangs stopped: 
        panics failed: it panicked: the model is broken"#]]
    .assert_eq(&unnamed(&ends.join("\n")));
}

#[test]
fn calls_of_one_message_that_delegate_do_not_wait_for_each_other() {
    let access = || Access::call(Resource::exact(crate::fixture::AGENT, "helper")).unordered();
    assert!(!access().conflicts_with(&access()));
    assert!(!access().conflicts_with(&Access::write(Resource::exact(THING, "helper"))));
}
