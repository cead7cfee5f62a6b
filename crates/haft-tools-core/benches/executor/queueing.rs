//! Batches of thousands of calls: what each costs in time, and in memory while it waits.

use crate::Fault;
use crate::files::{Width, batch, executor};
use crate::measuring::{Work, by_turns};
use futures_util::FutureExt as _;
use haft_testkit::counting::Spent;
use haft_tools_core::{LocalExecutor, ToolExecutor as _};
use std::pin::pin;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The sizes of batch that are compared.
const FEW: u16 = 1_000;
const MANY: u16 = 10_000;

const ROUNDS: usize = 5;

/// Gives the path of the call at a place.
type Path = fn(usize) -> String;

/// Says of each kind of batch what its calls wait for, and the paths they write.
const KINDS: [(&str, Path); 2] = [
    ("the one before: all write one file", |_| "one".to_owned()),
    ("room: each writes its own file", |place: usize| place.to_string()),
];

fn run(runtime: &Runtime, executor: &LocalExecutor, calls: u16, path: Path) -> Result<(), String> {
    let batch = batch(usize::from(calls), |place| ("write", path(place)))?;
    let replies =
        runtime.block_on(executor.execute_batch(batch)).into_replies().map_err(|error| error.to_string())?;
    if replies.len() == usize::from(calls) && replies.iter().all(|reply| reply.status.is_ok()) {
        return Ok(());
    }
    Err("a call of the batch was not answered well".to_owned())
}

/// Holds the bytes that are live for each call while nearly all of a batch wait.
struct Held {
    /// With the call itself: its id, its name and its arguments.
    whole: i64,
    /// What the executor adds.
    added: i64,
}

/// Starts a batch and looks at what it holds when no call can get any further before time passes.
fn held(runtime: &Runtime, calls: u16, path: Path) -> Result<Held, Fault> {
    let executor = executor(Duration::from_secs(1), Width::Default)?;
    let (start, batch) = (Spent::so_far(), batch(usize::from(calls), |place| ("write", path(place)))?);
    let made = Spent::so_far();
    let now = runtime.block_on(async {
        let mut running = pin!(executor.execute_batch(batch));
        // What was dropped with its batch is gone when this gives nothing.
        running.as_mut().now_or_never().is_none().then(Spent::so_far)
    });
    let now = now.ok_or("the batch did not wait")?;
    let each = |since: Spent| (now - since).live / i64::from(calls);
    Ok(Held { whole: each(start), added: each(made) })
}

/// Prints the time of each call in a small and in a large batch, and the bytes of each that waits.
pub(crate) fn table(runtime: &Runtime) -> Result<(), Fault> {
    let executor = executor(Duration::ZERO, Width::Default)?;
    println!(
        "| calls of one batch wait for | calls | ns each | to 1,000 calls | bytes each | of these the call's |"
    );
    println!("|---|---|---|---|---|---|");
    for (what, path) in KINDS {
        let works: [&Work<'_>; 2] =
            [&|| run(runtime, &executor, FEW, path), &|| run(runtime, &executor, MANY, path)];
        let [few, many] = by_turns(ROUNDS, works)?;
        let few_each = few.nanoseconds(u32::from(FEW));
        for (calls, measured) in [(FEW, few), (MANY, many)] {
            let each = measured.nanoseconds(u32::from(calls));
            let Held { whole, added } = held(runtime, calls, path)?;
            println!(
                "| {what} | {calls} | {each:.0} | {:.2} | {whole} | {} |",
                each / few_each,
                whole - added
            );
        }
    }
    Ok(())
}
