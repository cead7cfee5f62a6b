//! Answers of a model that break off, and what they cost.

use crate::driver::scope;
use async_trait::async_trait;
use expect_test::{Expect, expect};
use futures_util::stream::{self, StreamExt as _};
use haft_agent::{
    Agent, Budget, CompactError, Compaction, CompactionContext, LogEntry, Price, Prices, RunEnd, RunState,
    StateKeeper, Told, TurnRecord,
};
use haft_core::{Event, EventKind, StopReason, Usage};
use haft_model::{Delta, DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest};
use haft_tools_core::{CallScope, Events, LocalExecutor, Observer, ToolRegistry, now_ms};
use std::collections::VecDeque;
use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How an answer ends.
#[derive(Debug, Clone, Copy)]
enum Ends {
    Whole,
    /// Within a call, and says so.
    Broken,
    /// As above, and wants to be left alone for as many seconds.
    Limited(u64),
    /// In a way that no other try can help.
    Malformed,
    /// Not at all.
    Hangs,
    /// Before it began.
    Refused,
    /// Whole, once its provider was asked again.
    Late,
}

/// Gives one answer after the other; each costs 10 tokens, unless it says nothing of that.
struct Breaks {
    capabilities: ModelCapabilities,
    answers: Mutex<VecDeque<Ends>>,
    counts: bool,
}

impl Breaks {
    fn new(answers: &[Ends], counts: bool) -> Self {
        let answers = Mutex::new(answers.iter().copied().collect());
        Self { capabilities: ModelCapabilities::new("breaks"), answers, counts }
    }
}

#[async_trait]
impl Model for Breaks {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(&self, request: ModelRequest, _: CancellationToken) -> Result<DeltaStream, ModelError> {
        let ends = self.answers.lock().unwrap().pop_front().unwrap();
        let limited = |seconds| ModelError::RateLimited { retry_after: Some(Duration::from_secs(seconds)) };
        let end = match ends {
            Ends::Refused => return Err(ModelError::unavailable("no route")),
            Ends::Late => {
                request.retries.asked_again(&limited(2), Duration::from_millis(1500));
                Ok(Delta::Stop(StopReason::EndTurn))
            }
            Ends::Whole => Ok(Delta::Stop(StopReason::EndTurn)),
            Ends::Broken => Err(ModelError::Truncated),
            Ends::Limited(seconds) => Err(limited(seconds)),
            Ends::Malformed | Ends::Hangs => Ok(Delta::Stop(StopReason::ToolCalls)),
        };
        let usage = Usage { input: 8, output: 2, ..Usage::default() };
        let usage = self.counts.then_some(Ok(Delta::Usage(usage)));
        let begun = usage.into_iter().chain([Ok(Delta::Text("It is done.".to_owned()))]);
        let begun = stream::iter(begun.collect::<Vec<_>>());
        Ok(match ends {
            Ends::Hangs => DeltaStream::new(begun.chain(stream::pending())),
            _ => DeltaStream::new(begun.chain(stream::iter([end]))),
        })
    }
}

/// Runs with these answers; gives what observers saw of the turns, and how the run ended.
async fn run(answers: &[Ends], counts: bool, configured: impl FnOnce(Agent) -> Agent) -> (String, RunState) {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let observer: Arc<dyn Observer> = Arc::new(move |event: &Event| {
        let told = match &event.kind {
            EventKind::TurnStarted { turn } => format!("{turn} started"),
            EventKind::TurnFinished { turn, .. } => format!("{turn} finished"),
            EventKind::TurnDiscarded { turn, reason, again } => {
                format!("{turn} discarded ({again}): {reason}")
            }
            EventKind::ModelRetried { reason, pause_ms } => format!("again in {pause_ms} ms: {reason}"),
            _ => return,
        };
        sink.lock().unwrap().push(told);
    });
    let executor = LocalExecutor::builder(ToolRegistry::new()).build();
    let agent = Agent::new(Breaks::new(answers, counts), executor).events(Events::new([observer]));
    let state = configured(agent).run(scope(), "go").await;
    seen.lock().unwrap().push(format!("{:?}", state.end().unwrap()));
    let seen = seen.lock().unwrap().join("\n");
    (seen, state)
}

async fn check(answers: &[Ends], expected: Expect) -> RunState {
    let (seen, state) = run(answers, true, |agent| agent).await;
    expected.assert_eq(&seen);
    state
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_asked_for_again_and_each_is_paid_for() {
    let state = check(
        &[Ends::Broken, Ends::Limited(20), Ends::Whole],
        expect![[r"
        1 started
        1 discarded (true): the model's answer broke off before it was finished; ask again
        1 started
        1 discarded (true): the model's provider limits the rate of requests; wait 20 s, then ask again
        1 started
        1 finished
        Completed"]],
    )
    .await;
    assert_eq!((state.turns(), state.last_text().as_str(), state.messages().len()), (1, "It is done.", 2));
    assert_eq!((state.usage().total(), state.spent().tokens), (30, 30));
}

#[tokio::test]
async fn it_is_told_that_a_provider_is_asked_again() {
    check(
        &[Ends::Late],
        expect![[r"
        1 started
        again in 1500 ms: the model's provider limits the rate of requests
        1 finished
        Completed"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_breaks_off_again_and_again_ends_the_run() {
    let state = check(
        &[Ends::Broken; 3],
        expect![[r#"
        1 started
        1 discarded (true): the model's answer broke off before it was finished; ask again
        1 started
        1 discarded (true): the model's answer broke off before it was finished; ask again
        1 started
        1 discarded (false): the model's answer broke off before it was finished; ask again
        Failed { reason: "the model's answer broke off before it was finished; ask again" }"#]],
    )
    .await;
    assert_eq!((state.turns(), state.usage().total(), state.messages().len()), (0, 30, 1));
}

#[tokio::test(start_paused = true)]
async fn what_no_other_try_can_help_ends_the_run() {
    check(
        &[Ends::Malformed],
        expect![[r#"
        1 started
        1 discarded (false): the model's answer is malformed: it waits for replies, but made no call
        Failed { reason: "the model's answer is malformed: it waits for replies, but made no call" }"#]],
    )
    .await;
    check(
        &[Ends::Refused],
        expect![[r#"
        1 started
        1 discarded (false): the model is not available: no route
        Failed { reason: "the model is not available: no route" }"#]],
    )
    .await;
    check(
        &[Ends::Limited(600)],
        expect![[r#"
        1 started
        1 discarded (false): the model's provider limits the rate of requests; wait 600 s, then ask again
        Failed { reason: "the model's provider limits the rate of requests; wait 600 s, then ask again" }"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_waited_for_is_paid_for() {
    let prices = || Prices::new().with("breaks", Price::new(1.0, 1.0));
    let limited =
        |agent: Agent| agent.budget(Budget::default().wall_time(Duration::from_secs(30))).prices(prices());
    let (seen, state) = run(&[Ends::Hangs, Ends::Whole], true, limited).await;
    expect![[r"
        1 started
        1 discarded (true): the time of the run was over
        1 started
        1 finished
        BudgetSpent { which: WallTime }"]]
    .assert_eq(&seen);
    assert_eq!((state.usage().total(), state.spent().cost_nanos), (20, 20_000));

    let token = CancellationToken::new();
    let cancels = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let cancelled = run(&[Ends::Hangs], true, |agent| agent.cancelled_by(token.clone()));
    let ((seen, state), ()) = tokio::join!(cancelled, cancels);
    expect![[r"
        1 started
        1 discarded (false): the run was cancelled
        Cancelled"]]
    .assert_eq(&seen);
    assert_eq!((state.end(), state.spent().tokens), (Some(&RunEnd::Cancelled), 10));
}

/// What a run keeps of the turns of its model but when they were, which is no time that a test knows.
fn turns(state: &RunState) -> String {
    let turn = |record: &TurnRecord| {
        let TurnRecord { turn, model, took_us, usage, cost_nanos, error, .. } = record;
        let error = error.as_deref().unwrap_or("taken");
        format!(
            "{turn} of {model}: {error} after {took_us} us, {} tokens, {cost_nanos} nanos\n",
            usage.total()
        )
    };
    state.turn_records().map(turn).collect()
}

#[tokio::test(start_paused = true)]
async fn each_time_that_a_model_was_asked_is_kept_with_what_it_cost() {
    let began = now_ms();
    let priced = |agent: Agent| agent.prices(Prices::new().with("breaks", Price::new(1.0, 1.0)));
    let (_, state) = run(&[Ends::Broken, Ends::Limited(20), Ends::Whole], true, priced).await;
    expect![[r"
        1 of breaks: truncated after 0 us, 10 tokens, 10000 nanos
        1 of breaks: rate_limited after 0 us, 10 tokens, 10000 nanos
        1 of breaks: taken after 0 us, 10 tokens, 10000 nanos
    "]]
    .assert_eq(&turns(&state));
    // Each record stands in the log before what came of the turn, and the times are of the clock that the journal has.
    let kinds: Vec<&str> = state
        .log_from(0)
        .map(|entry| match entry {
            LogEntry::Turn(_) => "turn",
            _ => "message",
        })
        .collect();
    assert_eq!(kinds, ["message", "turn", "turn", "turn", "message"]);
    let times: Vec<u64> = state.turn_records().map(|record| record.at_ms).collect();
    assert!(times.is_sorted() && times[0] >= began && times[2] <= now_ms(), "{began} {times:?}");

    let limited = |agent: Agent| agent.budget(Budget::default().wall_time(Duration::from_secs(30)));
    let (_, state) = run(&[Ends::Hangs, Ends::Whole], true, limited).await;
    expect![[r"
        1 of breaks: timed_out after 30000000 us, 10 tokens, 0 nanos
        1 of breaks: taken after 0 us, 10 tokens, 0 nanos
    "]]
    .assert_eq(&turns(&state));
    let (_, state) = run(&[Ends::Refused], true, |agent| agent).await;
    expect![[r"
        1 of breaks: unavailable after 0 us, 0 tokens, 0 nanos
    "]]
    .assert_eq(&turns(&state));
    let token = CancellationToken::new();
    let cancels = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let cancelled = run(&[Ends::Hangs], true, |agent| agent.cancelled_by(token.clone()));
    let ((_, state), ()) = tokio::join!(cancelled, cancels);
    expect![[r"
        1 of breaks: cancelled after 1000000 us, 10 tokens, 0 nanos
    "]]
    .assert_eq(&turns(&state));
    // A model that was not asked has taken no turn.
    let unpriced = |agent: Agent| agent.budget(Budget::default().cost(1.0));
    let (_, state) = run(&[], true, unpriced).await;
    assert_eq!((state.end().is_some(), turns(&state)), (true, String::new()));
}

#[tokio::test(start_paused = true)]
async fn where_a_model_does_not_say_what_it_costs_budgets_count_an_estimate() {
    // The text has 11 bytes, which are 3 tokens, and the prompt takes up 5.
    let (_, state) = run(&[Ends::Whole], false, |agent| agent).await;
    assert_eq!((state.usage().total(), state.spent().tokens), (0, 0));
    let (_, state) = run(&[Ends::Whole], false, |agent| agent.budget(Budget::default().tokens(100))).await;
    assert_eq!((state.usage().total(), state.spent().tokens), (0, 8));
    let priced = |agent: Agent| {
        let prices = Prices::new().with("breaks", Price::new(1.0, 10.0));
        agent.budget(Budget::default().cost(1.0)).prices(prices)
    };
    let (_, state) = run(&[Ends::Whole], false, priced).await;
    assert_eq!(state.spent().cost_nanos, 35_000);
    // What broke off counts as far as it came.
    let (_, state) =
        run(&[Ends::Broken, Ends::Whole], false, |agent| agent.budget(Budget::default().tokens(100))).await;
    assert_eq!(state.spent().tokens, 16);
}

/// Has no room.
struct Full;

#[async_trait]
impl StateKeeper for Full {
    async fn keep(&self, _: &CallScope, _: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        Err("the disk is full".into())
    }
}

#[tokio::test]
async fn what_has_happened_is_told_in_order_also_when_the_run_cannot_be_kept() {
    let (seen, _) = run(&[], true, |agent| agent.kept_by(Arc::new(Full))).await;
    expect![[r#"
        1 started
        1 discarded (false): the run cannot be kept: the disk is full
        Failed { reason: "the run cannot be kept: the disk is full" }"#]]
    .assert_eq(&seen);
}

/// Counts how often it is asked to make less of a request.
struct Asked(Arc<AtomicU32>);

#[async_trait]
impl Compaction for Asked {
    async fn compact(&self, _: CompactionContext<'_>) -> Result<Vec<Told>, CompactError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Vec::new())
    }
}

#[tokio::test(start_paused = true)]
async fn what_stands_around_the_messages_counts_also_after_answers_that_broke_off() {
    let asked: Arc<AtomicU32> = Arc::default();
    let (_, broken) = run(&[Ends::Broken; 3], true, |agent| agent).await;
    assert_eq!((broken.turns(), broken.usage().input), (0, 24));
    let executor = LocalExecutor::builder(ToolRegistry::new()).build();
    let agent = Agent::new(Breaks::new(&[Ends::Whole], true), executor)
        .compacted_by(Asked(Arc::clone(&asked)))
        .context_window(20_000)
        .system("x".repeat(80_000));
    let state = agent.prompt(scope(), broken, "again").await.unwrap();
    assert_eq!(state.end(), Some(&RunEnd::Completed));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_asked_for_again_within_a_turn_that_an_engine_takes() {
    let executor = LocalExecutor::builder(ToolRegistry::new()).build();
    let agent = Agent::new(Breaks::new(&[Ends::Broken, Ends::Whole], true), executor);
    let prompted = [haft_agent::RunEvent::Prompted { text: "Go.".to_owned() }];
    let state =
        agent.take_turn(&scope(), agent.new_state(), prompted, &CancellationToken::new()).await.unwrap();
    assert_eq!((state.end(), state.turns(), state.usage().total()), (Some(&RunEnd::Completed), 1, 20));
}
