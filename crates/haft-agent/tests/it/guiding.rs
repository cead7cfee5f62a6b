//! Runs that are steered, paused, cancelled, limited and compacted while they are driven.

use crate::driver::{model, scope, transcript};
use async_trait::async_trait;
use expect_test::expect;
use haft_agent::{
    Agent, Budget, CompactError, Compaction, Context, CutOutputs, Price, Prices, Purse, Reservation, RunEnd,
    RunState, Spent, Told, When,
};
use haft_core::{Event, EventKind, RunId, StopReason, ToolError, Usage};
use haft_model::{Delta, DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ScriptedModel};
use haft_tools_core::{
    Access, Accesses, AllowAll, CallContext, Events, LocalExecutor, LocalOutputs, Observer, OutputStore,
    Resource, Scheme, ToolRegistry, read_output, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Is set to the agent that drives the run, for tools that act as a person would meanwhile.
type Hand = Arc<OnceLock<Arc<Agent>>>;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What to do.
    what: String,
}

const STEP: Scheme = Scheme::new("step");

/// Makes a tool that does to its run what its input says, one call after the other.
fn act(hand: &Hand) -> ToolRegistry {
    let hand = Arc::clone(hand);
    let touches = |_: &Input| Ok(Accesses::from(Access::write(Resource::exact(STEP, "all"))));
    let act = tool_fn("act", "Acts.", touches, move |input: Input, cx: CallContext| {
        let hand = Arc::clone(&hand);
        async move {
            let run: RunId = cx.scope().run().clone();
            let agent = || hand.get().unwrap();
            match input.what.as_str() {
                "steer now" => agent().steer(&run, "Something new.", When::Now).unwrap(),
                "steer after" => agent().steer(&run, "One more thing.", When::AfterTurn).unwrap(),
                "pause" => agent().pause(&run).unwrap(),
                "cancel" => agent().cancel(&run).unwrap(),
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

fn agent(model: impl Model, change: impl FnOnce(Agent) -> Agent) -> Arc<Agent> {
    let hand = Hand::default();
    let executor = LocalExecutor::builder(act(&hand)).approver(AllowAll).build();
    let agent = Arc::new(change(Agent::new(model, executor)));
    assert!(hand.set(Arc::clone(&agent)).is_ok());
    agent
}

/// Cuts replies, which are long, to what they begin with.
fn short(state: &RunState) -> String {
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
    let error = agent.steer(&"run-1".parse().unwrap(), "Late.", When::Now).unwrap_err();
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

#[tokio::test]
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

#[tokio::test]
async fn what_is_drawn_beyond_the_end_of_a_run_is_counted_when_it_goes_on() {
    let kept: Arc<Mutex<Option<Reservation>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let draw = tool_fn("draw", "Draws.", Accesses::none(), move |_: Input, cx: CallContext| {
        let purse = cx.scope().extension::<Purse>().unwrap();
        *keep.lock().unwrap() = Some(purse.reserve(&Budget::default().turns(5)).unwrap());
        async { Ok::<_, ToolError>("drawn") }
    });
    let model = model(concat!(
        r#"{"calls":[{"id":"c1","name":"draw","input":{"what":"it"}}]}"#,
        "\n{\"text\":\"It is drawn.\"}\n{\"text\":\"It goes on.\"}\n{\"text\":\"That is all.\"}",
    ));
    let executor =
        LocalExecutor::builder(ToolRegistry::new().with(draw.unwrap()).unwrap()).approver(AllowAll).build();
    let agent = Agent::new(model, executor).budget(Budget::default().turns(20));
    let state = agent.run(scope(), "go").await;
    let stands = |state: &RunState| (state.spent().turns, state.account().reserved.turns);
    assert_eq!(stands(&state), (2, 5));
    let state = agent.prompt(scope(), state, "go on").await.unwrap();
    assert_eq!(stands(&state), (3, 5));
    let mut part = kept.lock().unwrap().take().unwrap();
    let mut spent = Spent::default();
    spent.turns = 4;
    part.record(spent);
    drop(part);
    let state = agent.prompt(scope(), state, "go on").await.unwrap();
    assert_eq!(stands(&state), (3 + 4 + 1, 0));
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

/// Calls `act` with something new in each turn, until it is offered no tools; each turn reads 1,000 tokens.
struct Busy {
    capabilities: ModelCapabilities,
    requests: Mutex<Vec<ModelRequest>>,
    counts: bool,
}

impl Busy {
    fn new(counts: bool) -> Arc<Self> {
        let capabilities = ModelCapabilities::new("busy").with_context_window(4_000);
        Arc::new(Self { capabilities, requests: Mutex::default(), counts })
    }

    fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().clone()
    }
}

#[async_trait]
impl Model for Busy {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(&self, request: ModelRequest, _: CancellationToken) -> Result<DeltaStream, ModelError> {
        let mut requests = self.requests.lock().unwrap();
        requests.push(request.clone());
        let number = requests.len();
        let end = if request.tools.is_empty() || number == 30 {
            vec![Delta::Text("Enough.".to_owned()), Delta::Stop(StopReason::EndTurn)]
        } else {
            let (id, name) = (format!("c{number}").parse().unwrap(), "act".to_owned());
            let fragment = format!(r#"{{"what":"{number}"}}"#);
            vec![
                Delta::ToolCallStart { index: 0, id, name },
                Delta::ToolCallArguments { index: 0, fragment },
                Delta::Stop(StopReason::ToolCalls),
            ]
        };
        let input = if self.counts { 1_000 } else { 0 };
        let usage = Delta::Usage(Usage { input, ..Usage::default() });
        Ok(DeltaStream::from_deltas([usage].into_iter().chain(end)))
    }
}

#[tokio::test]
async fn money_is_spent_by_the_price_of_the_model() {
    let costs = |agent: Agent| agent.budget(Budget::default().cost(0.01));
    let priced = |agent| costs(agent).prices(Prices::new().with("busy", Price::new(3.0, 15.0)));
    let state = agent(Busy::new(true), priced).run(scope(), "go").await;
    // 3 thousandths a turn: the fourth is over it, the fifth closes.
    assert_eq!((state.turns(), state.spent().cost_nanos), (5, 15_000_000));
    let state = agent(Busy::new(true), costs).run(scope(), "go").await;
    expect![[r#"
        person
        Some(Failed { reason: "the run has a budget of money, and there is no pr"#]]
    .assert_eq(&short(&state));
}

fn observed() -> (Events, Arc<Mutex<Vec<Event>>>) {
    let seen: Arc<Mutex<Vec<Event>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let observer: Arc<dyn Observer> = Arc::new(move |event: &Event| sink.lock().unwrap().push(event.clone()));
    (Events::new([observer]), seen)
}

#[tokio::test]
async fn old_outputs_are_told_by_their_handles_and_can_be_read() {
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let registry = act(&Hand::default()).with(read_output(Arc::clone(&outputs))).unwrap();
    let executor = LocalExecutor::builder(registry).approver(AllowAll).outputs(Arc::clone(&outputs)).build();
    let (model, (events, seen)) = (Busy::new(false), observed());
    let agent = Agent::new(Arc::clone(&model), executor).events(events);
    let state = agent.run(scope(), "go").await;
    assert_eq!(state.end(), Some(&RunEnd::Completed));

    let requests = model.requests();
    let size = |request: &ModelRequest| {
        let bytes: usize =
            request.messages.iter().map(|message| serde_json::to_string(message).unwrap().len()).sum();
        bytes / 4
    };
    let largest = requests.iter().map(size).max().unwrap();
    assert!((2_500..4_000).contains(&largest), "{largest}");
    let whole: usize =
        state.messages().iter().map(|message| serde_json::to_string(message).unwrap().len()).sum();
    assert!(whole / 4 > 6_000, "{whole}");

    let told = serde_json::to_value(&*requests.last().unwrap().messages[2]).unwrap();
    let told = told["replies"][0]["output"]["content"][0]["text"].as_str().unwrap().to_owned();
    expect![[
        r#"[500 bytes of output are left out here, to make room: read_output gives them, with output "o1"]"#
    ]]
    .assert_eq(&told);
    let kept = serde_json::to_value(&*state.messages()[2]).unwrap();
    let id = "o1".parse().unwrap();
    let chunk = outputs.read(&scope(), &id, 0..10_000).await.unwrap();
    assert_eq!(
        kept["replies"][0]["output"]["content"][0]["text"],
        String::from_utf8_lossy(&chunk.bytes).as_ref()
    );
    let compacted =
        seen.lock().unwrap().iter().filter(|event| matches!(event.kind, EventKind::Compacted { .. })).count();
    assert!((1..=8).contains(&compacted), "{compacted}");
    // The tools and what was told last are as before.
    assert!(requests.windows(2).all(|pair| Arc::ptr_eq(&pair[0].tools, &pair[1].tools)));
}

/// Cannot do it.
struct Unable;

#[async_trait]
impl Compaction for Unable {
    async fn compact(&self, _: Context<'_>) -> Result<Vec<Told>, CompactError> {
        Err("the summariser is out".into())
    }
}

#[tokio::test]
async fn a_run_that_cannot_be_compacted_goes_on_and_says_so_now_and_then() {
    let (events, seen) = observed();
    let state =
        agent(Busy::new(false), |agent| agent.compacted_by(Unable).events(events)).run(scope(), "go").await;
    assert_eq!(state.end(), Some(&RunEnd::Completed));
    let failed: Vec<String> = seen
        .lock()
        .unwrap()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::CompactionFailed { reason } => Some(reason.clone()),
            _ => None,
        })
        .collect();
    assert!((1..=20).contains(&failed.len()), "{}", failed.len());
    assert_eq!(failed[0], "the summariser is out");
}

#[tokio::test]
async fn where_little_is_left_to_cut_the_last_turns_are_cut_as_well() {
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let model = Busy::new(false);
    let compaction = CutOutputs::new(outputs).keep_turns(100);
    let state = agent(Arc::clone(&model), |agent| agent.compacted_by(compaction)).run(scope(), "go").await;
    assert_eq!(state.end(), Some(&RunEnd::Completed));
    assert!(state.context_tokens() < 4_000, "{}", state.context_tokens());
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
