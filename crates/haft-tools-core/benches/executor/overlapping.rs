//! Batches of 64 calls of 10 ms each, which can overlap as far as they touch different files.

use crate::Fault;
use crate::files::{Width, batch, executor};
use crate::measuring::{Work, by_turns};
use haft_tools_core::{LocalExecutor, ToolExecutor as _};
use std::time::Duration;
use tokio::runtime::Runtime;

const CALLS: usize = 64;

/// How long each call takes.
const EACH: Duration = Duration::from_millis(10);

const ROUNDS: usize = 12;

/// Measurements of what takes as long as all calls in order.
const LONG_ROUNDS: usize = 3;

fn reads(place: usize) -> (&'static str, String) {
    ("read", place.to_string())
}

fn alternating(place: usize) -> (&'static str, String) {
    (["read", "write"][place % 2], place.to_string())
}

fn alternating_on_one(place: usize) -> (&'static str, String) {
    (["read", "write"][place % 2], "one".to_owned())
}

fn run(
    runtime: &Runtime,
    executor: &LocalExecutor,
    call: fn(usize) -> (&'static str, String),
) -> Result<(), String> {
    let batch = batch(CALLS, call)?;
    let replies =
        runtime.block_on(executor.execute_batch(batch)).into_replies().map_err(|error| error.to_string())?;
    match replies.iter().find(|reply| !reply.status.is_ok()) {
        Some(reply) => Err(reply.output.to_text()),
        None => Ok(()),
    }
}

fn sleep(runtime: &Runtime, times: usize) {
    runtime.block_on(async {
        for _ in 0..times {
            tokio::time::sleep(EACH).await;
        }
    });
}

/// Prints how long the batches take beside a sleep, and beside as many sleeps in order.
pub(crate) fn table(runtime: &Runtime) -> Result<(), Fault> {
    let (wide, default) = (executor(EACH, Width::Of(CALLS))?, executor(EACH, Width::Default)?);
    let works: [&Work<'_>; 5] = [
        &|| {
            sleep(runtime, 1);
            Ok(())
        },
        &|| run(runtime, &wide, reads),
        &|| run(runtime, &wide, alternating),
        &|| run(runtime, &default, reads),
        &|| run(runtime, &default, alternating),
    ];
    let [floor, wide_reads, wide_both, default_reads, default_both] = by_turns(ROUNDS, works)?;
    let works: [&Work<'_>; 2] = [
        &|| {
            sleep(runtime, CALLS);
            Ok(())
        },
        &|| run(runtime, &wide, alternating_on_one),
    ];
    let [in_order, on_one] = by_turns(LONG_ROUNDS, works)?;
    println!("| 64 calls of 10 ms | widths | ms | floor, ms | ratio |");
    println!("|---|---|---|---|---|");
    for (what, widths, measured, floor) in [
        ("reads", "64", wide_reads, floor),
        ("reads and writes of different files, alternating", "64", wide_both, floor),
        ("reads and writes of one file, alternating", "64", on_one, in_order),
        ("reads", "default: 32", default_reads, floor),
        ("reads and writes of different files, alternating", "default: 32 and 8", default_both, floor),
    ] {
        println!(
            "| {what} | {widths} | {:.1} | {:.1} | {:.2} |",
            measured.milliseconds(),
            floor.milliseconds(),
            measured.ratio(&floor)
        );
    }
    Ok(())
}
