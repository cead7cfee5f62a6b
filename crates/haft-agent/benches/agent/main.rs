//! Measures what a turn costs beyond the model and the tools, beside a loop that does nothing but call both.
//!
//! Run it with `cargo xtask bench agent`. Only the ratio of a time to its floor travels from one machine to another;
//! allocations are exact. The goal is 50 µs a turn beyond the floor, after a thousand turns as well.

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

mod busy;

use async_trait::async_trait;
use busy::{Answers, Busy, Fault, scope};
use haft_agent::{Agent, RunState, StateKeeper};
use haft_model::{Model as _, ModelRequest, assemble};
use haft_testkit::counting::{Counting, Spent};
use haft_tools_core::{Batch, CallScope, ToolExecutor as _};
use std::error::Error;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often each row is measured; the fastest counts, since noise only ever adds.
const ROUNDS: usize = 7;

fn main() -> Result<(), Fault> {
    let runtime = Builder::new_current_thread().build()?;
    println!("| a run | turns | µs a turn | floor, µs | ratio | µs beyond | allocations beyond |");
    println!("|---|---|---|---|---|---|---|");
    for turns in [10, 100, 1_000] {
        let floor = measured(turns, || runtime.block_on(floor(turns)))?;
        let plain = measured(turns, || runtime.block_on(run(turns, None)))?;
        row("kept by nobody", turns, plain, floor);
        let kept = measured(turns, || runtime.block_on(run(turns, Some(Arc::new(Written::default())))))?;
        row("head and new entries written as JSON", turns, kept, floor);
    }
    Ok(())
}

/// Gives the fastest time of a turn, in microseconds, and its allocations.
fn measured(turns: u32, mut work: impl FnMut() -> Result<(), Fault>) -> Result<(f64, f64), Fault> {
    let (mut best, mut spent) = (Duration::MAX, Spent::default());
    for _ in 0..ROUNDS {
        let (start, before) = (Instant::now(), Spent::so_far());
        work()?;
        best = best.min(start.elapsed());
        spent = Spent::so_far() - before;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are not 2⁵³ of them")]
    let allocations = spent.allocations as f64;
    Ok((best.as_secs_f64() * 1e6 / f64::from(turns), allocations / f64::from(turns)))
}

fn row(what: &str, turns: u32, (time, allocations): (f64, f64), (floor, of_floor): (f64, f64)) {
    println!(
        "| {what} | {turns} | {time:.1} | {floor:.1} | {:.2} | {:.1} | {:.1} |",
        time / floor,
        time - floor,
        allocations - of_floor
    );
}

async fn run(turns: u32, keeper: Option<Arc<dyn StateKeeper>>) -> Result<(), Fault> {
    let agent = Agent::from_executor(Busy::new(turns), Arc::new(Answers), Arc::new([]));
    let agent = match keeper {
        Some(keeper) => agent.kept_by(keeper),
        None => agent,
    };
    let state = agent.run(scope()?, "go").await;
    assert_eq!(state.turns(), turns);
    Ok(())
}

/// Has the same model answer and the same executor execute, and keeps nothing.
async fn floor(turns: u32) -> Result<(), Fault> {
    let (model, scope) = (Busy::new(turns), scope()?);
    for _ in 0..turns {
        let request = ModelRequest::new([haft_core::Message::user("go")]);
        let turn = assemble(model.stream(request, CancellationToken::new()).await?, |_| {}).await?;
        let calls = turn.message.tool_calls().cloned().collect();
        black_box(Answers.execute_batch(Batch::new(scope.clone(), calls)).await);
    }
    Ok(())
}

/// Writes what is to be kept, as a store does before it goes to the disk.
#[derive(Default)]
struct Written(Mutex<usize>);

#[async_trait]
impl StateKeeper for Written {
    async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut entries = self.0.lock().map_err(|_| "the keeper broke before")?;
        for entry in state.log_from(*entries) {
            black_box(serde_json::to_string(&entry)?);
            *entries += 1;
        }
        black_box(serde_json::to_string(state.head())?);
        Ok(())
    }
}
