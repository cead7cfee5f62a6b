//! Runs that are steered, paused, cancelled and limited while they are driven.

use crate::compacting::observed;
use crate::driver::{model, scope, transcript};
use crate::fixture::told_by_user;
use async_trait::async_trait;
use expect_test::expect;
use haft_agent::{
    Agent, Budget, Purse, Reservation, RunEnd, RunEvent, RunHandle, RunState, Spent, StateKeeper, SteerWhen,
};
use haft_core::{EventKind, RunId, ToolError};
use haft_model::{DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ScriptedModel};
use haft_tools_core::{
    Access, Accesses, AllowAll, CallContext, CallScope, LocalExecutor, Resource, Scheme, ToolRegistry,
    tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Is set to the agent that drives the run, for tools that act as a person would meanwhile.
pub(crate) type Hand = Arc<OnceLock<Arc<Agent>>>;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What to do.
    what: String,
}

const STEP: Scheme = Scheme::new("step");

/// Makes a tool that does to its run what its input says, one call after the other.
pub(crate) fn act(hand: &Hand) -> ToolRegistry {
    let hand = Arc::clone(hand);
    let touches = |_: &Input| Ok(Accesses::from(Access::write(Resource::exact(STEP, "all"))));
    let act = tool_fn("act", "Acts.", touches, move |input: Input, cx: CallContext| {
        let hand = Arc::clone(&hand);
        async move {
            let run: RunId = cx.scope().run().clone();
            let agent = || hand.get().unwrap();
            match input.what.as_str() {
                "steer now" => agent().steer(&run, "Something new.", SteerWhen::Now).unwrap(),
                "steer after" => agent().steer(&run, "One more thing.", SteerWhen::AfterTurn).unwrap(),
                "conclude" => RunHandle::of(cx.scope()).unwrap().conclude("Concluded.").unwrap(),
                "pause" => agent().pause(&run).unwrap(),
                "cancel" => agent().cancel(&run).unwrap(),
                "wait" => tokio::task::yield_now().await,
                "hang" => cx.cancellation().cancelled().await,
                "draw" => {
                    let purse = cx.scope().extension::<Purse>().unwrap();
                    let mut part = purse.reserve(&Budget::default().turns(3)).unwrap();
                    let mut spent = Spent::default();
                    spent.turns = 2;
                    part.record(spent);
                }
                _ => {}
            }
            Ok::<_, ToolError>(input.what.repeat(500))
        }
    });
    ToolRegistry::new().with(act.unwrap()).unwrap()
}

/// One turn that makes calls of `act`, and another that ends the run.
fn session(acts: &[&str]) -> Arc<ScriptedModel> {
    let call = |(place, what): (usize, &&str)| {
        format!(r#"{{"id":"c{place}","name":"act","input":{{"what":"{what}"}}}}"#)
    };
    let calls: Vec<String> = acts.iter().enumerate().map(call).collect();
    model(&format!("{{\"calls\":[{}]}}\n{{\"text\":\"Done.\"}}", calls.join(",")))
}

pub(crate) fn agent(model: impl Model, change: impl FnOnce(Agent) -> Agent) -> Arc<Agent> {
    let hand = Hand::default();
    let executor = LocalExecutor::builder(act(&hand)).approver(AllowAll).build();
    let agent = Arc::new(change(Agent::new(model, executor)));
    assert!(hand.set(Arc::clone(&agent)).is_ok());
    agent
}

/// Cuts replies, which are long, to what they begin with.
pub(crate) fn short(state: &RunState) -> String {
    let cut = |line: &str| line.chars().take(72).collect::<String>();
    transcript(state).lines().map(cut).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn what_is_said_now_skips_calls_that_have_not_begun() {
    let agent = agent(session(&["look", "steer now", "look"]), |agent| agent);
    let state = agent.run(scope(), "go").await;
    expect![[r"
        person
        model: 
        c0 ok: looklooklooklooklooklooklooklooklooklooklooklooklooklooklooklookl
        c1 ok: steer nowsteer nowsteer nowsteer nowsteer nowsteer nowsteer nowst
        [lines over 2000 bytes are cut within: ask for less at once to see them]
        c2 skipped: not run: the user wrote something new, which follows; read i
        person
        model: Done.
        Some(Completed)"]]
    .assert_eq(&short(&state));
    let error = agent.steer(&"run-1".parse().unwrap(), "Late.", SteerWhen::Now).unwrap_err();
    expect!["the run `run-1` is not at work; it has ended, waits, or is driven elsewhere"]
        .assert_eq(&error.to_string());
}

#[tokio::test]
async fn what_is_said_for_after_the_turn_skips_nothing() {
    let agent = agent(session(&["steer after", "look"]), |agent| agent);
    let state = agent.run(scope(), "go").await;
    expect![[r"
        person
        model: 
        c0 ok: steer aftersteer aftersteer aftersteer aftersteer aftersteer afte
        [lines over 2000 bytes are cut within: ask for less at once to see them]
        c1 ok: looklooklooklooklooklooklooklooklooklooklooklooklooklooklooklookl
        person
        model: Done.
        Some(Completed)"]]
    .assert_eq(&short(&state));
}

/// Writes down where a run stood each time that it was kept, and fails from some time on.
struct Kept {
    stood: Mutex<Vec<String>>,
    most: usize,
}

#[async_trait]
impl StateKeeper for Kept {
    async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut stood = self.stood.lock().unwrap();
        if stood.len() == self.most {
            return Err("the disk is full".into());
        }
        let queue: Vec<&str> = state.queue().iter().map(|queued| queued.text.as_str()).collect();
        stood.push(format!("{} {queue:?}", serde_json::to_value(state.phase())?["phase"]));
        Ok(())
    }
}

#[tokio::test]
async fn what_is_said_is_kept_while_calls_run() {
    let keeper = Arc::new(Kept { stood: Mutex::default(), most: usize::MAX });
    let kept = Arc::clone(&keeper) as Arc<dyn StateKeeper>;
    agent(session(&["steer after", "wait"]), |agent| agent.kept_by(kept)).run(scope(), "go").await;
    expect![[r#"
        "thinking" []
        "acting" []
        "acting" ["One more thing."]
        "thinking" []
        "ended" []"#]]
    .assert_eq(&keeper.stood.lock().unwrap().join("\n"));
}

#[tokio::test]
async fn calls_that_were_made_are_answered_as_they_ended_when_the_run_can_no_more_be_kept() {
    let keeper = Arc::new(Kept { stood: Mutex::default(), most: 2 });
    let state =
        agent(session(&["steer after", "wait"]), |agent| agent.kept_by(keeper)).run(scope(), "go").await;
    expect![[r#"
        person
        model: 
        c0 ok: steer aftersteer aftersteer aftersteer aftersteer aftersteer afte
        [lines over 2000 bytes are cut within: ask for less at once to see them]
        c1 ok: waitwaitwaitwaitwaitwaitwaitwaitwaitwaitwaitwaitwaitwaitwaitwaitw
        person
        Some(Failed { reason: "the run cannot be kept: the disk is full" })"#]]
    .assert_eq(&short(&state));
}

/// Says something to the run while its first end is being kept.
struct Late {
    hand: Hand,
    /// What the run had said last at each of its ends.
    ends: Mutex<Vec<String>>,
}

#[async_trait]
impl StateKeeper for Late {
    async fn keep(&self, scope: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        if state.end().is_none() {
            return Ok(());
        }
        let is_first = {
            let mut ends = self.ends.lock().unwrap();
            ends.push(state.last_text());
            ends.len() == 1
        };
        if is_first {
            self.hand.get().unwrap().steer(scope.run(), "One more thing.", SteerWhen::AfterTurn)?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_run_goes_on_with_what_is_said_while_its_end_is_kept() {
    for (act, first) in [("look", "Done."), ("conclude", "Concluded.")] {
        let hand = Hand::default();
        let late = Arc::new(Late { hand: Arc::clone(&hand), ends: Mutex::default() });
        let keeper = Arc::clone(&late) as Arc<dyn StateKeeper>;
        let call = format!(r#"{{"calls":[{{"id":"c0","name":"act","input":{{"what":"{act}"}}}}]}}"#);
        let turns = if act == "look" { format!("{call}\n{{\"text\":\"Done.\"}}") } else { call };
        let agent =
            agent(model(&format!("{turns}\n{{\"text\":\"That, too.\"}}")), |agent| agent.kept_by(keeper));
        assert!(hand.set(Arc::clone(&agent)).is_ok());
        let state = agent.run(scope(), "go").await;
        assert_eq!(*late.ends.lock().unwrap(), [first, "That, too."]);
        assert_eq!(told_by_user(&state), ["go", "One more thing."]);
        assert_eq!((state.end(), state.last_text().as_str()), (Some(&RunEnd::Completed), "That, too."));
        assert!(state.queue().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_run_is_given_back_and_goes_on_elsewhere() {
    let model = session(&["pause", "look"]);
    let first = agent(Arc::clone(&model), |agent| agent);
    let state = first.run(scope(), "go").await;
    assert!(state.is_paused() && state.end().is_none());
    let stored: RunState = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
    let second = agent(model, |agent| agent);
    let still = second.go_on(scope(), stored.clone()).await;
    assert_eq!(still, stored);
    let state = second.unpause(scope(), stored).await.unwrap();
    assert_eq!(state.last_text(), "Done.");
    let error = second.unpause(scope(), state).await.unwrap_err();
    expect!["a run that is not paused cannot take the event `unpaused`"].assert_eq(&error.to_string());
}

#[tokio::test]
async fn one_run_can_be_cancelled_by_its_id() {
    let agent = agent(session(&["cancel", "look"]), |agent| agent);
    let state = agent.run(scope(), "go").await;
    expect![[r"
        person
        model: 
        c0 ok: cancelcancelcancelcancelcancelcancelcancelcancelcancelcancelcance
        [lines over 2000 bytes are cut within: ask for less at once to see them]
        c1 cancelled: the call was cancelled before it was started; nothing was 
        Some(Cancelled)"]]
    .assert_eq(&short(&state));
}

#[tokio::test(start_paused = true)]
async fn calls_and_models_that_hang_are_stopped_when_the_time_is_over() {
    let limited = |agent: Agent| agent.budget(Budget::default().wall_time(Duration::from_mins(1)));
    let state = agent(session(&["hang"]), limited).run(scope(), "go").await;
    expect![[r"
        person
        model: 
        c0 ok: hanghanghanghanghanghanghanghanghanghanghanghanghanghanghanghangh
        person
        model: Done.
        Some(BudgetSpent { which: WallTime })"]]
    .assert_eq(&short(&state));
    assert!((60_000..63_000).contains(&state.spent().wall_ms), "{:?}", state.spent());

    let state = agent(Hangs(ModelCapabilities::new("hangs")), limited).run(scope(), "go").await;
    expect![[r"
        person
        person
        Some(BudgetSpent { which: WallTime })"]]
    .assert_eq(&short(&state));
}

/// Never answers.
struct Hangs(ModelCapabilities);

#[async_trait]
impl Model for Hangs {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.0
    }

    async fn stream(&self, _: ModelRequest, _: CancellationToken) -> Result<DeltaStream, ModelError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn what_runs_spend_that_a_call_starts_is_counted() {
    let limited = |agent: Agent| agent.budget(Budget::default().turns(10));
    let state = agent(session(&["draw"]), limited).run(scope(), "go").await;
    assert_eq!((state.turns(), state.spent().turns, state.account().reserved.turns), (2, 4, 0));
}

/// Keeps what was set aside by the call `draw`.
type Drawn = Arc<Mutex<Option<Reservation>>>;

/// An agent whose model draws 5 turns in the first of its own and says something in each of the others.
fn drawing(kept: &Drawn, says: usize) -> Agent {
    let keep = Arc::clone(kept);
    let draw = tool_fn("draw", "Draws.", Accesses::none(), move |_: Input, cx: CallContext| {
        let purse = cx.scope().extension::<Purse>().unwrap();
        *keep.lock().unwrap() = Some(purse.reserve(&Budget::default().turns(5)).unwrap());
        async { Ok::<_, ToolError>("drawn") }
    });
    let calls = r#"{"calls":[{"id":"c1","name":"draw","input":{"what":"it"}}]}"#;
    let model = model(&(calls.to_owned() + &"\n{\"text\":\"It goes on.\"}".repeat(says)));
    let executor =
        LocalExecutor::builder(ToolRegistry::new().with(draw.unwrap()).unwrap()).approver(AllowAll).build();
    Agent::new(model, executor).budget(Budget::default().turns(20))
}

fn stands(state: &RunState) -> (u64, u64) {
    (state.spent().turns, state.account().reserved.turns)
}

fn settle(kept: &Drawn, turns: u64) {
    let mut part = kept.lock().unwrap().take().unwrap();
    let mut spent = Spent::default();
    spent.turns = turns;
    part.record(spent);
}

#[tokio::test]
async fn what_is_drawn_beyond_the_end_of_a_run_is_counted_when_it_goes_on() {
    let kept = Drawn::default();
    let agent = drawing(&kept, 3);
    let state = agent.run(scope(), "go").await;
    assert_eq!(stands(&state), (2, 5));
    let state = agent.prompt(scope(), state, "go on").await.unwrap();
    assert_eq!(stands(&state), (3, 5));
    settle(&kept, 4);
    let state = agent.prompt(scope(), state, "go on").await.unwrap();
    assert_eq!(stands(&state), (3 + 4 + 1, 0));
}

#[tokio::test]
async fn what_was_drawn_is_counted_though_the_run_could_not_go_on_at_first() {
    let kept = Drawn::default();
    let agent = drawing(&kept, 2);
    let state = agent.run(scope(), "go").await;
    settle(&kept, 4);
    // It has ended, so nothing can time out.
    assert!(agent.step(scope(), state.clone(), RunEvent::TimedOut).await.is_err());
    assert!(agent.step(scope(), state.clone(), RunEvent::TimedOut).await.is_err());
    let state = agent.prompt(scope(), state, "go on").await.unwrap();
    assert_eq!(stands(&state), (2 + 4 + 1, 0));
}

#[tokio::test]
async fn what_was_set_aside_comes_back_though_the_budget_is_another_then() {
    let kept = Drawn::default();
    let agent = drawing(&kept, 3);
    let state = agent.run(scope(), "go").await;
    assert_eq!(stands(&state), (2, 5));
    let state = agent.prompt(scope(), state.budget(Budget::default()), "go on").await.unwrap();
    settle(&kept, 1);
    let state = agent.prompt(scope(), state.budget(Budget::default().turns(30)), "go on").await.unwrap();
    assert_eq!(stands(&state), (3 + 1 + 1, 0));
}

#[tokio::test]
async fn a_run_that_a_call_makes_does_not_wait_for_that_call() {
    let outer: Arc<OnceLock<LocalExecutor>> = Arc::default();
    let tree = Arc::clone(&outer);
    let touches = |_: &Input| Ok(Accesses::from(Access::write(Resource::exact(STEP, "all"))));
    let nest = tool_fn("nest", "Runs an agent.", touches, move |_: Input, cx: CallContext| {
        let tree = Arc::clone(&tree);
        async move {
            let executor = LocalExecutor::builder(act(&Hand::default()))
                .approver(AllowAll)
                .in_tree_of(tree.get().unwrap())
                .build();
            let inner = Agent::new(session(&["look"]), executor).made_by(&cx);
            let state = inner.run(cx.scope().child("run-2".parse().unwrap()), "go").await;
            Ok::<_, ToolError>(state.last_text())
        }
    });
    let executor =
        LocalExecutor::builder(ToolRegistry::new().with(nest.unwrap()).unwrap()).approver(AllowAll).build();
    assert!(outer.set(executor.clone()).is_ok());
    let calls = r#"{"calls":[{"id":"c1","name":"nest","input":{"what":"it"}}]}"#;
    let agent = Agent::new(model(&format!("{calls}\n{{\"text\":\"Nested.\"}}")), executor);
    let state = agent.run(scope(), "go").await;
    expect![[r"
        person
        model: 
        c1 ok: Done.
        model: Nested.
        Some(Completed)"]]
    .assert_eq(&short(&state));
}

#[tokio::test]
async fn what_a_model_writes_of_its_calls_is_told_piece_by_piece() {
    let (events, seen) = observed();
    agent(session(&["look"]), |agent| agent.events(events)).run(scope(), "go").await;
    let seen = seen.lock().unwrap();
    let written: Vec<String> = seen
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::CallDelta { id, name, arguments } => Some(format!("{id} {name} {arguments}")),
            _ => None,
        })
        .collect();
    assert_eq!(written[0], "c0 act ");
    let arguments: String = written.iter().map(|line| &line["c0 act ".len()..]).collect();
    assert_eq!(arguments, r#"{"what":"look"}"#);
}
