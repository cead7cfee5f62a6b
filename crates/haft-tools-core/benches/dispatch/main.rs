//! Measures one no-op call through the whole pipeline beside a direct call of the same tool.
//!
//! Run it with `cargo xtask bench dispatch`. Every row is measured in the same run as its floor, since only the ratio
//! of the two travels from one machine to another; allocations and bytes are exact.

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

mod counting;

use counting::{Counting, Spent};
use haft_core::{ToolCall, ToolError};
use haft_tools_core::{
    Accesses, Batch, CallContext, CallScope, LocalExecutor, Policy, Rule, Selector, Tool, ToolExecutor as _,
    ToolRegistry, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many calls one measurement makes.
const CALLS: u32 = 20_000;

/// How many measurements are taken; the fastest counts, since noise only ever adds.
const ROUNDS: usize = 9;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are parsed and not used: the tool does nothing")]
struct Input {
    /// A file.
    path: String,
    /// A number.
    limit: u32,
    /// A flag.
    recursive: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    println!("| what | tools | ns | ratio | allocations | bytes |");
    println!("|---|---|---|---|---|---|");
    for tools in [10, 1_000, 10_000] {
        let registry = registry(tools)?;
        let name = format!("tool_{}", tools / 2);
        let (direct, pipeline) = measure_pair(&runtime, &registry, &name)?;
        row("direct call", tools, &direct, &direct);
        row("whole pipeline", tools, &pipeline, &direct);
    }
    Ok(())
}

fn no_op(name: &str) -> Result<impl Tool, haft_core::NameError> {
    tool_fn(name, "Does nothing.", Accesses::none(), |_: Input, _: CallContext| async {
        Ok::<_, ToolError>("")
    })
}

fn registry(tools: usize) -> Result<ToolRegistry, Box<dyn std::error::Error>> {
    let mut all: Vec<Arc<dyn Tool>> = Vec::with_capacity(tools);
    for number in 0..tools {
        all.push(Arc::new(no_op(&format!("tool_{number}"))?));
    }
    Ok(ToolRegistry::of(all)?)
}

fn input() -> Value {
    json!({ "path": "src/lib.rs", "limit": 5, "recursive": true })
}

struct Measured {
    time: Duration,
    spent: Spent,
}

/// Measures the floor and the pipeline by turns, so that both meet the same noise.
fn measure_pair(
    runtime: &Runtime,
    registry: &ToolRegistry,
    name: &str,
) -> Result<(Measured, Measured), Box<dyn std::error::Error>> {
    let tool: Arc<dyn Tool> = Arc::new(no_op(name)?);
    let scope = CallScope::new("bench".parse()?);
    let cx = CallContext::detached("c1".parse()?, scope.clone());
    let executor = LocalExecutor::builder(registry.clone())
        .policy(Policy::new().allow(Rule::tools(Selector::all())))
        .build();
    let call = ToolCall::new("c1".parse()?, name, Value::Null);

    let direct = || {
        runtime.block_on(async {
            for _ in 0..CALLS {
                let input = black_box(input());
                let prepared = tool.prepare(&input, &scope).map_err(|error| error.to_string())?;
                black_box(prepared.run(cx.clone()).await.map_err(|error| error.to_string())?);
            }
            Ok::<_, String>(())
        })
    };
    let pipeline = || {
        runtime.block_on(async {
            for _ in 0..CALLS {
                let mut call = call.clone();
                call.input = black_box(input());
                let outcome = executor.execute_batch(Batch::new(scope.clone(), vec![call])).await;
                let replies = black_box(outcome.into_replies().map_err(|error| error.to_string())?);
                if !replies.iter().all(|reply| reply.status.is_ok()) {
                    return Err(replies[0].output.to_text());
                }
            }
            Ok::<_, String>(())
        })
    };
    let mut best: Option<(Measured, Measured)> = None;
    for _ in 0..ROUNDS {
        let pair = (measure(direct)?, measure(pipeline)?);
        best = Some(match best {
            None => pair,
            Some((direct, pipeline)) => (faster(direct, pair.0), faster(pipeline, pair.1)),
        });
    }
    best.ok_or_else(|| "no round was measured".into())
}

fn faster(one: Measured, other: Measured) -> Measured {
    if other.time < one.time { other } else { one }
}

fn measure(work: impl Fn() -> Result<(), String>) -> Result<Measured, String> {
    let before = Spent::so_far();
    let start = Instant::now();
    work()?;
    Ok(Measured { time: start.elapsed(), spent: Spent::so_far() - before })
}

fn row(what: &str, tools: usize, measured: &Measured, floor: &Measured) {
    let nanoseconds = measured.time.as_nanos() / u128::from(CALLS);
    let ratio = measured.time.as_secs_f64() / floor.time.as_secs_f64();
    let calls = u64::from(CALLS);
    let (allocations, bytes) = (measured.spent.allocations / calls, measured.spent.bytes / calls);
    println!("| {what} | {tools} | {nanoseconds} | {ratio:.2} | {allocations} | {bytes} |");
}
