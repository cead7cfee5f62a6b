//! Runs that read and give much: what they cost, and what their models are told.

use crate::driver::scope;
use crate::guiding::{Hand, act, agent, short};
use async_trait::async_trait;
use expect_test::expect;
use haft_agent::{
    Agent, Budget, CompactError, Compaction, CompactionContext, CutOutputs, Price, Prices, RunEnd, RunState,
    Told,
};
use haft_core::{Content, Event, EventKind, Message, ReplyStatus, StopReason, ToolOutput, ToolReply, Usage};
use haft_model::{Delta, DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest};
use haft_tools_core::{
    AllowAll, Batch, BatchOutcome, CallOutcome, Events, LocalExecutor, LocalOutputs, Observer, OutputStore,
    ReadOutput, Resumption, ResumptionError, ToolExecutor,
};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// Calls `act` with something new in each turn, until it is offered no tools; each turn reads 1,000 tokens.
struct Busy {
    capabilities: ModelCapabilities,
    requests: Mutex<Vec<ModelRequest>>,
    counts: bool,
}

impl Busy {
    fn new(counts: bool) -> Arc<Self> {
        let capabilities = ModelCapabilities::new("busy").context_window(4_000);
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
        let end = if request.without_calls || number == 30 {
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

pub(crate) fn observed() -> (Events, Arc<Mutex<Vec<Event>>>) {
    let seen: Arc<Mutex<Vec<Event>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let observer: Arc<dyn Observer> = Arc::new(move |event: &Event| sink.lock().unwrap().push(event.clone()));
    (Events::new([observer]), seen)
}

#[tokio::test]
async fn old_outputs_are_told_by_their_handles_and_can_be_read() {
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let registry = act(&Hand::default()).with(ReadOutput::new(Arc::clone(&outputs))).unwrap();
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
        r#"[500 bytes of output are left out here, to make room: `read_output` gives them, with output "o1"]"#
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

#[tokio::test]
async fn handles_are_told_anew_where_the_store_is_another() {
    let store = || -> Arc<dyn OutputStore> { Arc::new(LocalOutputs::in_memory()) };
    let (first, second) = (store(), store());
    let cuts = |outputs: &Arc<dyn OutputStore>| CutOutputs::new(Arc::clone(outputs));
    let state = agent(Busy::new(false), |agent| agent.compacted_by(cuts(&first))).run(scope(), "go").await;
    assert!(state.told() != state.messages());
    // What has the name of an output in the other store is not the same.
    second.store(&scope(), &"c1".parse().unwrap(), "other".repeat(100)).await.unwrap();

    let stored: RunState = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
    let model = Busy::new(false);
    let other = agent(Arc::clone(&model), |agent| agent.compacted_by(cuts(&second)));
    let limited = stored.budget(Budget::default().turns(u64::from(state.turns())));
    other.prompt(scope(), limited, "And now?").await.unwrap();
    let mut told = 0;
    for (place, message) in model.requests()[0].messages.iter().enumerate() {
        let Message::Tool { replies } = &**message else { continue };
        let text = replies[0].output.to_text();
        let Some((_, name)) = text.split_once("with output \"") else { continue };
        let output = name.split('"').next().unwrap().parse().unwrap();
        let chunk = second.read(&scope(), &output, 0..10_000).await.unwrap();
        let Message::Tool { replies } = &*state.messages()[place] else { panic!("{place}") };
        assert_eq!(String::from_utf8_lossy(&chunk.bytes), replies[0].output.to_text(), "{output}");
        told += 1;
    }
    assert!(told > 3, "{told}");
}

/// Cannot do it.
struct Unable;

#[async_trait]
impl Compaction for Unable {
    async fn compact(&self, _: CompactionContext<'_>) -> Result<Vec<Told>, CompactError> {
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

/// Never comes to an end.
struct Hangs;

#[async_trait]
impl Compaction for Hangs {
    async fn compact(&self, _: CompactionContext<'_>) -> Result<Vec<Told>, CompactError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_compaction_that_takes_too_long_is_given_up() {
    let (events, seen) = observed();
    let state =
        agent(Busy::new(false), |agent| agent.compacted_by(Hangs).events(events)).run(scope(), "go").await;
    assert_eq!(state.end(), Some(&RunEnd::Completed));
    let seen = seen.lock().unwrap();
    let failed = seen.iter().find_map(|event| match &event.kind {
        EventKind::CompactionFailed { reason } => Some(reason.as_str()),
        _ => None,
    });
    expect!["it was not done after 60 s"].assert_eq(failed.unwrap());
}

#[tokio::test]
async fn what_no_handle_gives_back_stays_whole() {
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let specs = act(&Hand::default()).direct_specs();
    let model = Busy::new(false);
    let agent = Agent::from_executor(Arc::clone(&model), Arc::new(Mixed), specs);
    let agent = agent.compacted_by(CutOutputs::new(outputs));
    let agent = agent.budget(Budget::default().turns(12));
    agent.run(scope(), "go").await;
    let requests = model.requests();
    let Message::Tool { replies } = &*requests.last().unwrap().messages[2] else { panic!() };
    let told: Vec<String> = replies[0]
        .output
        .content
        .iter()
        .map(|part| match part {
            Content::Text { text } => text.clone(),
            Content::Image { data, .. } => format!("an image of {} bytes", data.as_bytes().len()),
            other => format!("{other:?}"),
        })
        .collect();
    expect![[r#"
        [1000 bytes of output are left out here, to make room: `read_output` gives them, with output "o1"]
        an image of 9000 bytes"#]]
    .assert_eq(&told.join("\n"));
}

/// Gives an image and a text for each call.
struct Mixed;

#[async_trait]
impl ToolExecutor for Mixed {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        let answered = batch.calls().iter().map(|call| {
            let content = [Content::image(vec![7_u8; 9_000], "image/png"), Content::text("a".repeat(1_000))];
            let output = ToolOutput::new(content.to_vec());
            CallOutcome::Replied(ToolReply::new(call.id.clone(), "act", ReplyStatus::Ok, output))
        });
        BatchOutcome::new(answered.collect())
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumptionError> {
        // Nothing waits.
        let _ = resumption;
        std::future::pending().await
    }
}

/// Counts how often it is asked.
struct Asked(Arc<Mutex<u32>>);

#[async_trait]
impl Compaction for Asked {
    async fn compact(&self, _: CompactionContext<'_>) -> Result<Vec<Told>, CompactError> {
        *self.0.lock().unwrap() += 1;
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn what_stands_around_the_messages_counts_also_when_it_is_tried_again() {
    let asked: Arc<Mutex<u32>> = Arc::default();
    let compacted = |agent: Agent| {
        agent.compacted_by(Asked(Arc::clone(&asked))).system("x".repeat(80_000)).context_window(20_000)
    };
    let state = agent(Busy::new(false), compacted).run(scope(), "go").await;
    assert_eq!(state.turns(), 30);
    // At first, and then each time that 1,000 tokens have come: a turn brings about 250.
    let asked = *asked.lock().unwrap();
    assert!((3..=12).contains(&asked), "{asked}");
}
