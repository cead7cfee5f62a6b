//! How what haft does grows with the number of tools, of files and of calls, and with the size of an output.
//!
//! `cargo xtask bench scaling` prints lines of `plot,series,x,y`, which `docs/performance/scaling.csv` holds and
//! `cargo xtask docs` draws. Each is the least of several measurements; the floors are of the same run.

#![cfg(unix)]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark speaks on the terminal")]

mod concurrency;
mod files;
mod output;
mod tools;

use haft::tools_core::Selector;
use haft::{Batch, CallScope, LocalExecutor, Policy, Rule, ToolCall, ToolExecutor as _, ToolRegistry};
use haft_testkit::counting::CountingAll;
use serde_json::Value;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: CountingAll = CountingAll::new();

/// An executor that allows all, with what it runs on.
struct Bench {
    executor: LocalExecutor,
    runtime: Runtime,
}

impl Bench {
    fn new(registry: ToolRegistry) -> Self {
        let policy = Policy::new().allow(Rule::tools(Selector::all()));
        let executor = LocalExecutor::builder(registry).policy(policy).build();
        Self { executor, runtime: Runtime::new().unwrap() }
    }

    /// Makes calls of one tool in one batch.
    fn call(&self, tool: &str, inputs: Vec<Value>) {
        let calls = inputs
            .into_iter()
            .enumerate()
            .map(|(place, input)| ToolCall::new(format!("c{place}").parse().unwrap(), tool, input));
        let batch = Batch::new(CallScope::new("bench".parse().unwrap()), calls.collect());
        let replies = self.runtime.block_on(self.executor.execute_batch(batch)).into_replies().unwrap();
        for reply in replies {
            assert!(reply.status.is_ok(), "{}", reply.output.to_text());
        }
    }
}

fn main() {
    println!("plot,series,x,y");
    tools::sweep();
    concurrency::sweep();
    output::sweep();
    files::sweep();
}

fn point(plot: &str, series: &str, x: usize, y: f64) {
    println!("{plot},{series},{x},{y:.4}");
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn least<T>(times: u32, mut work: impl FnMut() -> T) -> Duration {
    let mut once = || {
        let started = Instant::now();
        black_box(work());
        started.elapsed()
    };
    (0..times).map(|_| once()).min().unwrap_or_default()
}
