//! Turns that are taken one by one, for an engine that keeps the run and makes its calls.

use crate::driver::scope;
use crate::fixture::{executed, last_replies};
use haft_agent::{Agent, Budget, Effect, RunEnd, RunEvent, RunLimits, RunState};
use haft_core::BudgetKind;
use haft_model::{ScriptedModel, Session};
use haft_tools_core::{LocalExecutor, ToolRegistry};
use tokio_util::sync::CancellationToken;

const SESSION: &str = r#"{"calls": [{"id": "a", "name": "ping", "input": {}}, {"id": "b", "name": "ping", "input": {}}]}
{"text": "Done."}"#;

fn agent() -> Agent {
    let model = ScriptedModel::new(Session::parse(SESSION, "turns.jsonl").unwrap());
    Agent::new(model, LocalExecutor::builder(ToolRegistry::new()).build())
}

fn prompted() -> RunEvent {
    RunEvent::Prompted { text: "Go.".to_owned() }
}

async fn turned(agent: &Agent, state: RunState, events: Vec<RunEvent>) -> RunState {
    agent.take_turn(&scope(), state, events, &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn one_turn_is_taken_and_the_calls_after_it_are_left() {
    let agent = agent();
    let state = turned(&agent, agent.new_state(), vec![prompted()]).await;
    let [Effect::ExecuteBatch { calls }] = &*state.outstanding() else { panic!("{:?}", state.phase()) };
    assert_eq!((calls.len(), state.turns()), (2, 1));
    // It is the same from what was kept of it.
    let kept = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    let state = turned(&agent, kept, vec![executed(&["a", "b"])]).await;
    assert_eq!((state.end(), state.last_text().as_str()), (Some(&RunEnd::Completed), "Done."));
}

#[tokio::test]
async fn a_run_that_is_told_to_stop_answers_its_calls_and_ends() {
    let agent = agent();
    let state = turned(&agent, agent.new_state(), vec![prompted()]).await;
    let stop = CancellationToken::new();
    stop.cancel();
    let state = agent.take_turn(&scope(), state, [], &stop).await.unwrap();
    assert_eq!((state.end(), last_replies(&state).len()), (Some(&RunEnd::Cancelled), 2));
    let begun = agent.take_turn(&scope(), agent.new_state(), [prompted()], &stop).await.unwrap();
    assert_eq!((begun.end(), begun.turns()), (Some(&RunEnd::Cancelled), 0));
}

#[tokio::test]
async fn what_an_engine_has_counted_is_spent_before_the_turn() {
    let agent = agent().budget(Budget::default().tokens(100));
    let state = turned(&agent, agent.new_state(), vec![prompted()]).await;
    let mut spent = haft_agent::Spent::default();
    spent.tokens = 200;
    let metered = RunEvent::Metered { spent, reserved: haft_agent::Spent::default(), counted: [].into() };
    let state = turned(&agent, state, vec![metered, executed(&["a", "b"])]).await;
    assert_eq!(state.end(), Some(&RunEnd::BudgetSpent { which: BudgetKind::Tokens }));
}

#[tokio::test]
async fn a_run_that_lies_too_deep_takes_no_turn() {
    let agent = agent();
    let deep = scope().with_extension(RunLimits::new().depth(0)).child("below".parse().unwrap());
    let state =
        agent.take_turn(&deep, agent.new_state(), [prompted()], &CancellationToken::new()).await.unwrap();
    assert_eq!(state.turns(), 0);
    assert!(
        matches!(state.end(), Some(RunEnd::Failed { reason }) if reason.contains("1 runs above it")),
        "{state:?}"
    );
}

#[tokio::test]
async fn an_event_that_does_not_fit_is_refused() {
    let agent = agent();
    let refused =
        agent.take_turn(&scope(), agent.new_state(), [executed(&["a"])], &CancellationToken::new()).await;
    assert_eq!(refused.unwrap_err().to_string(), "a run that is new cannot take the event `batch executed`");
}
