//! Random batches over a thousand tools that panic, hang, fail, call each other and ask, and that are cancelled, steered
//! and dropped: every invariant of the executor is checked on them, and that nothing is left of them.
//!
//! `HAFT_SOAK_BATCHES` says how many batches there are, `HAFT_SOAK_SEED` which. Time is tokio's own, so that hours pass at
//! once.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod batches;
mod random;
mod tools;
mod world;

use batches::{Fate, Planned, plan};
use futures_util::future::join_all;
use haft_core::ToolCall;
use haft_testkit::counting::{Counting, Spent};
use haft_tools_core::{
    Approval, Batch, CallOutcome, CallScope, Cancel, EventReader, Events, HeldCall, Journal, LocalExecutor,
    Policy, Resumption, Rule, Steer, Strategy, ToolExecutor as _,
};
use random::Random;
use serde_json::json;
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tools::{Meddling, limits, registry};
use world::{In, World, is_kept, widths};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many batches there are when nothing is said: as many as an unoptimized build does in some seconds.
const BATCHES: u64 = 600;

const SEED: u64 = 1;

/// Bytes by which what is live may grow between the middle and the end.
const MOST_GROWTH: i64 = 64 * 1024;

/// Longer than anything takes, in tokio's time.
const AGES: Duration = Duration::from_hours(24);

#[tokio::test(start_paused = true)]
async fn whatever_happens_every_call_is_answered_once_and_nothing_is_left() {
    let (batches, seed) = (said("HAFT_SOAK_BATCHES", BATCHES), said("HAFT_SOAK_SEED", SEED));
    println!("{batches} batches with the seed {seed}");
    let mut soak = Soak::new(seed);
    let mut live = Vec::with_capacity(usize::try_from(batches).unwrap());
    while soak.batches < batches {
        if timeout(AGES, soak.wave()).await.is_err() {
            soak.world.violated("the batches of a wave never end");
        }
        let violations = soak.world.take_violations();
        assert!(
            violations.is_empty(),
            "seed {seed}, within the first {} batches:\n{}",
            soak.batches,
            violations.join("\n")
        );
        live.push(Spent::so_far().live);
    }
    // What waves leave behind differs by where they end, so the least of some is compared.
    let (middle, end) = (live.len() / 2, live.len());
    let least = |from: usize, to: usize| live[from..to].iter().min().copied().unwrap_or_default();
    let tenth = (end / 10).max(1);
    let (before, after) = (least(middle, (middle + tenth).min(end)), least(end - tenth, end));
    println!("{} calls in all; live bytes: {before} in the middle, {after} at the end", soak.calls);
    println!("{:#?}", soak.world.totals());
    assert!(after - before < MOST_GROWTH, "live bytes have grown from {before} to {after}");
}

fn said(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Executors of one tree, one for each strategy, and what happens to them.
struct Soak {
    random: Random,
    world: Arc<World>,
    events: Events,
    executors: Vec<(LocalExecutor, Ordered)>,
    batches: u64,
    calls: usize,
}

/// Says whether an executor orders calls by what they touch.
type Ordered = bool;

impl Soak {
    fn new(seed: u64) -> Self {
        let world = Arc::new(World::default());
        let events = Events::new([Arc::new(In(Arc::clone(&world))) as _]);
        let journal = Journal::new(Arc::new(In(Arc::clone(&world))));
        let tools = registry(&world);
        let builder = || {
            let rule = |tools: &str| Rule::tools(tools.parse().unwrap());
            LocalExecutor::builder(tools.clone())
                .policy(Policy::new().ask(rule("asked_*")).deny(rule("barred_*")).allow(rule("*")))
                .approver(In(Arc::clone(&world)))
                .limits(limits())
                .layer(Meddling)
                .events(events.clone())
                .journal(journal.clone())
        };
        let first = builder().widths(&widths()).build();
        let of = |strategy| builder().strategy(strategy).in_tree_of(&first).build();
        let executors = vec![
            (of(Strategy::ByAccess), true),
            (of(Strategy::Sequential), true),
            (of(Strategy::Parallel), false),
            (of(Strategy::Batched { size: NonZeroUsize::new(3).unwrap() }), false),
            (first, true),
        ];
        Self { random: Random::new(seed), world, events, executors, batches: 0, calls: 0 }
    }

    /// Runs some batches at once, and sees that nothing is left of them.
    async fn wave(&mut self) {
        let mut reader = self.events.subscribe(16);
        let (first_event, kept) = (self.world.next_sequence(), self.world.totals().kept_events);
        let mut planned = Vec::new();
        for _ in 0..=self.random.below(4) {
            let (executor, ordered) = self.random.pick(&self.executors);
            let run = format!("run-{}", self.batches);
            let plan = plan(&mut self.random, &self.world, run, ordered);
            self.batches += 1;
            self.calls += plan.calls.len();
            planned.push((executor, plan));
        }
        let dropped = Mutex::new(HashSet::new());
        let world = &self.world;
        join_all(planned.into_iter().map(async |(executor, plan)| {
            let run = plan.run.clone();
            if !play(world, &executor, plan).await {
                dropped.lock().unwrap().insert(run);
            }
        }))
        .await;
        // Tools that speak late do so meanwhile.
        sleep(Duration::from_secs(1)).await;
        let executor = &self.executors[0].0;
        executor.idle().await;
        let left = (executor.task_count(), executor.cancel(&Cancel::Tree));
        if left != (0, 0) {
            world.violated(format_args!("{} tasks and {} calls are left", left.0, left.1));
        }
        let dropped = dropped.into_inner().unwrap();
        world.settles(|run| !dropped.contains(run));
        check_reader(world, &mut reader, first_event, kept);
        self.fill().await;
    }

    /// Fills all room there is, which takes as long as one call; and makes one that is alone.
    async fn fill(&self) {
        let world = &self.world;
        let (executor, ordered) = &self.executors[0];
        let run = format!("fill-{}", self.batches);
        let widths = widths();
        let classes = [
            ("read", widths.read),
            ("connect", widths.connect),
            ("write", widths.write),
            ("execute", widths.execute),
        ];
        let all = classes.iter().flat_map(|(access, width)| (0..*width).map(move |number| (*access, number)));
        let calls: Vec<ToolCall> = all
            .map(|(access, number)| {
                let id = format!("{access}-{number}");
                world.makes((run.clone(), id.clone()));
                let input = json!({
                    "access": access, "path": id, "act": "sleep", "ms": 10, "ordered": ordered,
                });
                ToolCall::new(id.parse().unwrap(), "free_0", input)
            })
            .collect();
        let alone = json!({ "access": "opaque", "path": "", "act": "ok", "ms": 0, "ordered": ordered });
        world.makes((run.clone(), "alone".to_owned()));
        let scope = CallScope::new(run.parse().unwrap());
        let began = Instant::now();
        executor.execute_batch(Batch::new(scope.clone(), calls)).await;
        let took = began.elapsed();
        if took > Duration::from_millis(12) {
            world.violated(format_args!("as many calls as there is room for took {took:?}"));
        }
        let alone = vec![ToolCall::new("alone".parse().unwrap(), "free_0", alone)];
        executor.execute_batch(Batch::new(scope, alone)).await;
        world.settles(|_| true);
    }
}

/// Plays a batch to its end; tells whether it was not dropped.
async fn play(world: &World, executor: &LocalExecutor, Planned { run, calls, fate }: Planned) -> bool {
    let ids: Vec<String> = calls.iter().map(|call| call.id.to_string()).collect();
    let scope = CallScope::new(run.parse().unwrap());
    let token = CancellationToken::new();
    let mut batch = Batch::new(scope.clone(), calls).cancelled_by(token.clone());
    let steered = |so_many: u64, steer: fn() -> Steer| {
        let asked = AtomicU64::new(0);
        move |_: &ToolCall| {
            if asked.fetch_add(1, Ordering::Relaxed) < so_many { Steer::Continue } else { steer() }
        }
    };
    match fate {
        Fate::Skipped(so_many) => batch = batch.steered_by(steered(so_many, || Steer::skip("something new"))),
        Fate::Stopped(so_many) => batch = batch.steered_by(steered(so_many, || Steer::Cancel)),
        Fate::Broken(so_many) => {
            batch = batch
                .steered_by(steered(so_many, || std::panic::resume_unwind(Box::new("the steering broke"))));
        }
        _ => {}
    }
    let disturb = async {
        match &fate {
            Fate::Cancelled(after) => {
                sleep(*after).await;
                token.cancel();
            }
            Fate::RunCancelled(after) => {
                sleep(*after).await;
                executor.cancel(&Cancel::Run(run.parse().unwrap()));
            }
            Fate::CallCancelled(after, call) => {
                sleep(*after).await;
                let call = call.parse().unwrap();
                executor.cancel(&Cancel::Call { run: run.parse().unwrap(), call });
            }
            Fate::TreeCancelled(after) => {
                sleep(*after).await;
                executor.cancel(&Cancel::Tree);
            }
            _ => {}
        }
    };
    let work = async {
        let outcomes = executor.execute_batch(batch).await.into_outcomes();
        let answered: Vec<String> = outcomes.iter().map(|outcome| outcome.call_id().to_string()).collect();
        if answered != ids {
            world.violated(format_args!("the calls {ids:?} of {run} were answered as {answered:?}"));
        }
        let mut held = Vec::new();
        for (place, outcome) in outcomes.into_iter().enumerate() {
            match outcome {
                CallOutcome::Held(call) => hold(world, &scope, &mut held, *call),
                outcome => go_on(world, executor, &scope, outcome, place).await,
            }
        }
        take_up(world, executor, &scope, held).await;
    };
    if let Fate::Dropped(after) = fate {
        timeout(after, work).await.is_ok()
    } else {
        tokio::join!(work, disturb);
        true
    }
}

/// Keeps a call that is held back, which is this test's to take up from now on.
fn hold(world: &World, scope: &CallScope, held: &mut Vec<HeldCall>, call: HeldCall) {
    world.puts_off(&(scope.run().to_string(), call.call.id.to_string()));
    held.push(call);
}

/// Takes up calls that were held back by others, until none is.
async fn take_up(world: &World, executor: &LocalExecutor, scope: &CallScope, mut held: Vec<HeldCall>) {
    while !held.is_empty() {
        for held in &held {
            world.takes_up(&(scope.run().to_string(), held.call.id.to_string()));
        }
        let batch = Batch::of_held(scope.clone(), std::mem::take(&mut held));
        for (place, outcome) in executor.execute_batch(batch).await.into_outcomes().into_iter().enumerate() {
            match outcome {
                CallOutcome::Held(call) => hold(world, scope, &mut held, *call),
                outcome => go_on(world, executor, scope, outcome, place).await,
            }
        }
    }
}

/// Answers what waits for a person, now and then; each answer is another.
async fn go_on(
    world: &World,
    executor: &LocalExecutor,
    scope: &CallScope,
    outcome: CallOutcome,
    place: usize,
) {
    let CallOutcome::Pending(pending) = outcome else { return };
    let key = (scope.run().to_string(), pending.call.id.to_string());
    let approval = match place % 5 {
        0 => return,
        1 => Approval::Deny { reason: String::new() },
        2 => {
            let mut input = pending.call.input.clone();
            input["ms"] = json!(1);
            world.approves(&key, &input);
            Approval::Edit { input }
        }
        _ => {
            world.approves(&key, &pending.call.input);
            Approval::Approve
        }
    };
    world.takes_up(&key);
    executor.resume(Resumption::new(scope.clone(), *pending, approval)).await.expect("it is resumed once");
}

/// A reader that is slow loses what it may lose, and knows how much.
fn check_reader(world: &World, reader: &mut EventReader, first: u64, kept_before: u64) {
    let (mut next, mut kept, mut lost) = (first, 0, 0);
    while let Some(delivery) = reader.try_next() {
        if delivery.event.sequence != next + delivery.lost_before {
            world.violated(format_args!("the reader gets {} behind {next}", delivery.event.sequence));
        }
        next = delivery.event.sequence + 1;
        lost += delivery.lost_before;
        kept += u64::from(is_kept(&delivery.event.kind));
    }
    let expected = world.totals().kept_events - kept_before;
    if kept != expected {
        world.violated(format_args!("the reader got {kept} of {expected} events that it may not lose"));
    }
    if lost > reader.lost() {
        world.violated(format_args!("the reader was told of {lost} lost events, and lost {}", reader.lost()));
    }
}
