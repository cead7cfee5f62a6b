//! What a run is given by the one that starts it: what it has said and heard, its mode, its place, and its budget.

use crate::fixture::{Hesitant, Setup, helper, later, policy, scope, slow, transcript};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_agent::{Budget, Purse, RunEnd, Spent};
use haft_core::Message;
use haft_subagents::{AgentSpec, ChildEnd, ChildOutcome, ChildResult, ChildRun, Runner, Share};
use haft_tools_core::{AllowAll, Approval, Mode, PendingStore as _, Rule};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Says back what it was told of the run above, one message a line, and then its task.
struct Tells;

#[async_trait]
impl Runner for Tells {
    async fn run(&self, child: ChildRun) -> ChildOutcome {
        let mut lines: Vec<String> = child.messages.iter().map(|message| told(message)).collect();
        lines.push(format!("task: {}", child.task));
        ChildOutcome::Ended(ChildResult::done(lines.join("\n")))
    }
}

fn told(message: &Message) -> String {
    match message {
        Message::User { content } => format!("user: {}", content[0].as_text().unwrap_or_default()),
        Message::Tool { replies } => format!("{} replies", replies.len()),
        _ => format!("assistant: {}", message.assistant_text()),
    }
}

async fn check_shared(share: Share, expected: Expect) {
    let session = r#"
{"calls":[{"id":"l","name":"look","input":{"name":"cup"}}],"text":"I look."}
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Go on."}]}}],"text":"I delegate."}
{"text":"Done."}
"#;
    let setup = Setup { agents: vec![helper("helper").context(share)], ..Setup::new(session) };
    let process = setup.process_driven_by(Tells);
    assert_eq!(process.run().await.end(), Some(&RunEnd::Completed));
    let children = process.supervisor.children(scope().run()).await.unwrap();
    expected.assert_eq(&children[0].result().unwrap().text);
}

#[tokio::test]
async fn a_run_is_told_as_much_of_the_one_above_as_its_agent_asks_for() {
    check_shared(Share::Fresh, expect!["task: Go on."]).await;
    check_shared(
        Share::Last(2),
        expect![[r#"
        1 replies
        assistant: I delegate.
        task: Go on."#]],
    )
    .await;
    check_shared(
        Share::All,
        expect![[r#"
        user: go
        assistant: I look.
        1 replies
        assistant: I delegate.
        task: Go on."#]],
    )
    .await;
}

#[tokio::test]
async fn an_agent_begins_with_what_it_is_told() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Go on."}]}}],"text":"I delegate."}
{"run":"d/0","text":"I go on."}
{"text":"Done."}
"#;
    let setup = Setup { agents: vec![helper("helper").context(Share::All)], ..Setup::new(session) };
    let process = setup.process();
    assert_eq!(
        process.run().await.end(),
        Some(&RunEnd::Completed),
        "its own turn comes first after what it is told"
    );
    let children = process.supervisor.children(scope().run()).await.unwrap();
    assert_eq!(children[0].result().unwrap().text, "I go on.");
}

/// Has one agent make a thing, and another one below it, and gives what was made.
async fn made(above: Option<Mode>, below: Option<Mode>, top: Option<Mode>) -> Vec<String> {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"lead","task":"Lead."}]}}]}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"above"}},{"id":"d","name":"delegate","input":{"tasks":[{"agent":"maker","task":"Make."}]}}]}
{"run":"d/0/d/0","calls":[{"id":"m","name":"make","input":{"name":"below"}}]}
{"run":"d/0/d/0","text":"Tried."}
{"run":"d/0","text":"Tried."}
{"text":"Done."}
"#;
    let with = |spec: AgentSpec, mode: Option<Mode>| match mode {
        Some(mode) => spec.mode(mode),
        None => spec,
    };
    let agents = vec![with(helper("lead"), above), with(helper("maker"), below)];
    let setup = Setup { agents, approver: Arc::new(AllowAll), ..Setup::new(session) };
    let scope = match top {
        Some(mode) => scope().with_mode(mode),
        None => scope(),
    };
    let state = setup.process().agent.run(scope, "go").await;
    assert_eq!(state.end(), Some(&RunEnd::Completed), "{}", transcript(&state));
    setup.disk.made.lock().unwrap().keys().cloned().collect()
}

#[tokio::test]
async fn no_mode_of_an_agent_is_wider_than_those_above_it() {
    assert_eq!(made(None, None, None).await, ["above", "below"]);
    assert_eq!(made(None, Some(Mode::Plan), None).await, ["above"]);
    assert!(made(Some(Mode::Plan), Some(Mode::Auto), None).await.is_empty());
    // In a plan explorers may be sent out, and none of them changes anything.
    assert!(made(Some(Mode::Auto), None, Some(Mode::Plan)).await.is_empty());
}

fn delegating(id: &str, task: &str) -> serde_json::Value {
    json!({ "id": id, "name": "delegate", "input": { "tasks": [{ "agent": "helper", "task": task }] } })
}

#[tokio::test]
async fn two_delegations_of_one_turn_do_not_take_the_budget_from_each_other() {
    let session = [
        json!({ "calls": [delegating("a", "A."), delegating("b", "B.")] }).to_string(),
        json!({ "run": "a/0", "text": "A." }).to_string(),
        json!({ "run": "b/0", "text": "B." }).to_string(),
        json!({ "text": "Done.", "after": { "a": "ok", "b": "ok" } }).to_string(),
    ];
    let setup = Setup::new(&session.join("\n"));
    let (_process, agent) =
        setup.process_over(Arc::clone(&setup.disk.children) as _, Arc::clone(&setup.disk.pending) as _);
    let state = agent.budget(Budget::default().turns(20)).run(scope(), "go").await;
    assert_eq!(state.end(), Some(&RunEnd::Completed), "{}", transcript(&state));
    assert_eq!(state.spent().turns, 4);
}

#[tokio::test]
async fn delegations_of_one_turn_start_no_more_runs_than_one_may() {
    let session = [
        json!({ "calls": [delegating("a", "A."), delegating("b", "B."), delegating("c", "C.")] }).to_string(),
        json!({ "run": "a/0", "text": "A." }).to_string(),
        json!({ "run": "b/0", "text": "B." }).to_string(),
        json!({ "run": "c/0", "text": "C." }).to_string(),
        json!({ "text": "Done." }).to_string(),
    ];
    let mut setup = Setup::new(&session.join("\n"));
    setup.limits.children = 2;
    let process = setup.process();
    assert_eq!(process.run().await.end(), Some(&RunEnd::Completed));
    assert_eq!(process.supervisor.children(scope().run()).await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_approved_call_is_made_though_it_was_the_last_that_the_run_could_pay_for() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make."}]}}]}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"cup"}}]}
{"run":"d/0","text":"Made."}
{"text":"Done."}
"#;
    for budget in [Budget::default().turns(1), Budget::default().calls(1)] {
        let agents = vec![helper("helper").budget(budget)];
        let setup = Setup { agents, approver: later(), ..Setup::new(session) };
        let process = setup.process();
        let state = process.run().await;
        let waits = state.pending().next().unwrap().clone();
        let leaf = waits.leaves().next().unwrap().clone();
        setup.disk.pending.answer(&leaf.id, &Approval::Approve).await.unwrap();
        let state = process.agent.resume(scope(), state, &waits.call.id, Approval::Approve).await.unwrap();
        assert_eq!(state.end(), Some(&RunEnd::Completed), "{}", transcript(&state));
        assert_eq!(setup.disk.made.lock().unwrap().get("cup"), Some(&1), "{budget:?}");
    }
}

/// Lets something draw on the purse of a run, and knows nothing of it itself.
struct Lends;

#[async_trait]
impl Runner for Lends {
    async fn run(&self, child: ChildRun) -> ChildOutcome {
        let purse = child.scope.extension::<Purse>().unwrap();
        let mut part = purse.reserve(&Budget::default().tokens(300)).unwrap();
        let mut spent = Spent::default();
        spent.tokens = 120;
        part.record(spent);
        drop(part);
        ChildOutcome::Ended(ChildResult::done("Lent."))
    }
}

#[tokio::test]
async fn what_was_drawn_on_the_purse_of_any_runner_is_counted() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Lend."}]}}]}
{"text":"Done."}
"#;
    let setup = Setup::new(session);
    let process = setup.process_driven_by(Lends);
    let state = process.run().await;
    assert_eq!(state.spent().tokens, 120);
    let children = process.supervisor.children(scope().run()).await.unwrap();
    assert_eq!(children[0].spent.tokens, 120);
}

#[tokio::test(start_paused = true)]
async fn what_is_spent_while_the_run_above_is_not_at_work_is_charged_when_it_looks() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Think."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"l","name":"look","input":{"name":"cup"}}]}
{"run":"d/0","text":"Thought."}
{"text":"It thinks."}
{"calls":[{"id":"l","name":"list_agents","input":{}}]}
{"text":"It has thought."}
"#;
    let setup = Setup::new(session);
    let before = setup.process();
    let state = before.run().await;
    let first = state.spent().turns;
    drop(before);
    let process = setup.process();
    process.supervisor.go_on_all(&scope()).await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let below = process.supervisor.children(scope().run()).await.unwrap()[0].clone();
    assert_eq!(below.status.name(), "done");
    let state = process.agent.prompt(scope(), state, "and?").await.unwrap();
    assert_eq!(state.spent().turns, first + 2 + below.spent.turns);
}

#[tokio::test(start_paused = true)]
async fn what_a_run_spent_before_its_process_ended_is_charged_when_it_is_cancelled() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Think."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s1","name":"slow","input":{}}]}
{"run":"d/0","calls":[{"id":"s2","name":"slow","input":{}}]}
{"run":"d/0","text":"Never said."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"text":"It thinks."}
{"text":"It was cancelled."}
"#;
    let policy = policy().allow(Rule::tools("slow".parse().unwrap()));
    let setup = Setup { policy, tools: slow(), ..Setup::new(session) };
    let before = setup.process();
    let state = before.run().await;
    let first = state.spent().turns;
    drop(before);
    // Where its agent is not there any more, it ends as well.
    let other =
        Setup { agents: Vec::new(), disk: setup.disk.copied().await, ..Setup::new(session) }.process();
    other.supervisor.go_on_all(&scope()).await.unwrap();
    other.supervisor.idle(scope().run()).await.unwrap();
    let lost = other.supervisor.children(scope().run()).await.unwrap()[0].clone();
    assert_eq!((lost.status.name(), lost.spent.turns), ("lost", 2));
    let process = setup.process();
    process.supervisor.cancel_below(scope().run()).await.unwrap();
    let below = process.supervisor.children(scope().run()).await.unwrap()[0].clone();
    assert_eq!((below.status.name(), below.spent.turns), ("cancelled", 2));
    let state = process.agent.prompt(scope(), state, "and?").await.unwrap();
    assert_eq!(state.spent().turns, first + 1 + below.spent.turns, "{}", transcript(&state));
}

/// Has a process end before any run without runs below it begins, and another one go on; gives what each has then for turns.
async fn turns_after_a_restart(session: &str, agents: Vec<AgentSpec>) -> Vec<(String, Option<u64>)> {
    let policy = policy().allow(Rule::tools("slow".parse().unwrap()));
    let setup = Setup { agents, policy, tools: slow(), approver: later(), ..Setup::new(session) };
    let never = |kept: &str| kept.contains(r#""status":"running""#) && kept.contains(r#""agent":"helper""#);
    let store =
        Hesitant::new(
            &setup.disk,
            move |kept| {
                if never(kept) { Duration::from_hours(24) } else { Duration::ZERO }
            },
        );
    let (before, agent) = setup.process_over(Arc::new(store), Arc::clone(&setup.disk.pending) as _);
    agent.budget(Budget::default().turns(40)).run(scope(), "go").await;
    drop(before);
    let process = setup.process();
    process.supervisor.go_on_all(&scope()).await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let children = process.supervisor.children(scope().run()).await.unwrap();
    children.into_iter().map(|child| (child.path, child.budget.turns)).collect()
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_runs_share_what_the_run_above_has_left() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"A."},{"agent":"helper","task":"B."},{"agent":"helper","task":"C."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0","text":"A."}
{"run":"d/1","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/1","text":"B."}
{"run":"d/2","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/2","text":"C."}
{"text":"They work."}
"#;
    let turns = turns_after_a_restart(session, vec![helper("helper")]).await;
    let of = |place: usize, turns| (format!("d/{place}"), Some(turns));
    assert_eq!(turns, [of(0, 9), of(1, 7), of(2, 5)]);
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_runs_share_what_is_kept_of_a_run_below() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"lead","task":"Lead."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"e","name":"delegate","input":{"tasks":[{"agent":"helper","task":"A."},{"agent":"helper","task":"B."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"cup"}}]}
{"run":"d/0","text":"Led."}
{"run":"d/0/e/0","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0/e/0","text":"A."}
{"run":"d/0/e/1","calls":[{"id":"s","name":"slow","input":{}}]}
{"run":"d/0/e/1","text":"B."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"text":"They work."}
"#;
    let lead = helper("lead").budget(Budget::default().turns(10));
    let turns = turns_after_a_restart(session, vec![lead, helper("helper")]).await;
    let of = |path: &str, turns| (path.to_owned(), Some(turns));
    assert_eq!(turns, [of("d/0", 10), of("d/0/e/0", 2), of("d/0/e/1", 2)]);
}

const OUTLIVING: &str = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Think."}],"background":true}}]}
{"calls":[{"id":"l1","name":"look","input":{"name":"cup"}}]}
{"calls":[{"id":"l2","name":"look","input":{"name":"jug"}}]}
{"text":"It thinks."}
{"calls":[{"id":"l3","name":"look","input":{"name":"pot"}}]}
{"calls":[{"id":"l4","name":"look","input":{"name":"pan"}}]}
{"calls":[{"id":"l5","name":"look","input":{"name":"lid"}}]}
{"calls":[{"id":"l6","name":"look","input":{"name":"mug"}}]}
{"calls":[{"id":"l7","name":"look","input":{"name":"can"}}]}
{"calls":[{"id":"l8","name":"look","input":{"name":"tin"}}]}
{"text":"Looked."}
{"run":"d/0","calls":[{"id":"s1","name":"slow","input":{}}]}
{"run":"d/0","calls":[{"id":"s2","name":"look","input":{"name":"s2"}}]}
{"run":"d/0","calls":[{"id":"s3","name":"slow","input":{}}]}
{"run":"d/0","calls":[{"id":"s4","name":"slow","input":{}}]}
{"run":"d/0","calls":[{"id":"s5","name":"look","input":{"name":"s5"}}]}
{"run":"d/0","calls":[{"id":"s6","name":"slow","input":{}}]}
{"run":"d/0","calls":[{"id":"s7","name":"slow","input":{}}]}
{"run":"d/0","calls":[{"id":"s8","name":"slow","input":{}}]}
{"run":"d/0","text":"Thought."}
"#;

/// Has a process end before the run below begins, and another one go on with both, which want to spend more than there is;
/// gives the turns that the run below may take, and how many it and the one above have taken.
async fn turns_of_both(gives_purse: bool) -> (Option<u64>, u64, usize) {
    let policy = policy().allow(Rule::tools("slow".parse().unwrap()));
    let setup = Setup { policy, tools: slow(), ..Setup::new(OUTLIVING) };
    let never = |kept: &str| kept.contains(r#""status":"running""#);
    let wait = move |kept: &str| if never(kept) { Duration::from_hours(24) } else { Duration::ZERO };
    let store = Hesitant::new(&setup.disk, wait);
    let (before, agent) = setup.process_over(Arc::new(store), Arc::clone(&setup.disk.pending) as _);
    let state = agent.budget(Budget::default().turns(10)).run(scope(), "go").await;
    assert_eq!(state.spent().turns, 4, "{}", transcript(&state));
    drop(before);
    let process = setup.process();
    let purse = process.agent.purse(scope().run(), &state);
    let top = if gives_purse { scope().with_extension(purse) } else { scope() };
    process.supervisor.go_on_all(&top).await.unwrap();
    drop(top);
    // The run below begins.
    tokio::time::sleep(Duration::from_millis(10)).await;
    let state = process.agent.prompt(scope(), state, "and?").await.unwrap();
    process.supervisor.idle(scope().run()).await.unwrap();
    let below = process.supervisor.children(scope().run()).await.unwrap()[0].clone();
    let is_turn = |message: &&Arc<Message>| matches!(***message, Message::Assistant { .. });
    assert!(
        matches!(below.result().unwrap().end, ChildEnd::Stopped { ref reason } if reason.contains("budget"))
    );
    (below.budget.turns, below.spent.turns, state.messages().iter().filter(is_turn).count())
}

#[tokio::test(start_paused = true)]
async fn a_run_and_what_went_on_below_it_before_it_did_spend_no_more_than_there_is() {
    // Both share the 6 that are left of 10; what closes a run comes on top.
    assert_eq!(turns_of_both(true).await, (Some(3), 3 + 1, 4 + 3 + 1));
    // Without its purse nobody knows what it has spent since it asked for the other one, but what that may spend is set aside
    // when it goes on.
    assert_eq!(turns_of_both(false).await, (Some(4), 4 + 1, 4 + 2 + 1));
}
