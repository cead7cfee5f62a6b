//! One no-op call with a schema of three fields: directly, and through the whole pipeline.

use crate::Fault;
use crate::measuring::{Measured, Work, by_turns};
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
use tokio::runtime::Runtime;

/// How many calls one measurement makes.
const CALLS: u32 = 5_000;

const ROUNDS: usize = 40;

/// The numbers of tools that are compared.
const TOOLS: [usize; 3] = [10, 1_000, 10_000];

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

fn no_op(name: &str) -> Result<impl Tool, haft_core::NameError> {
    tool_fn(name, "Does nothing.", Accesses::none(), |_: Input, _: CallContext| async {
        Ok::<_, ToolError>("")
    })
}

fn input() -> Value {
    json!({ "path": "src/lib.rs", "limit": 5, "recursive": true })
}

/// Makes a registry of so many tools that do nothing.
pub(crate) fn registry(tools: usize) -> Result<ToolRegistry, Fault> {
    let mut all: Vec<Arc<dyn Tool>> = Vec::with_capacity(tools);
    for number in 0..tools {
        all.push(Arc::new(no_op(&format!("tool_{number}"))?));
    }
    Ok(ToolRegistry::of(all)?)
}

/// Calls a tool as whoever has it would.
pub(crate) struct Direct {
    tool: Arc<dyn Tool>,
    scope: CallScope,
    cx: CallContext,
}

impl Direct {
    pub(crate) fn new() -> Result<Self, Fault> {
        let scope = CallScope::new("bench".parse()?);
        let cx = CallContext::detached("c1".parse()?, scope.clone());
        Ok(Self { tool: Arc::new(no_op("tool_5")?), scope, cx })
    }

    pub(crate) fn call(&self, runtime: &Runtime, times: u32) -> Result<(), String> {
        runtime.block_on(async {
            for _ in 0..times {
                let input = black_box(input());
                let prepared = self.tool.prepare(&input, &self.scope).map_err(|error| error.to_string())?;
                black_box(prepared.run(self.cx.clone()).await.map_err(|error| error.to_string())?);
            }
            Ok(())
        })
    }
}

/// Calls one tool of many through an executor.
pub(crate) struct Pipeline {
    executor: LocalExecutor,
    scope: CallScope,
    call: ToolCall,
}

impl Pipeline {
    pub(crate) fn new(tools: usize) -> Result<Self, Fault> {
        let executor = LocalExecutor::builder(registry(tools)?)
            .policy(Policy::new().allow(Rule::tools(Selector::all())))
            .build();
        let name = format!("tool_{}", tools / 2);
        let call = ToolCall::new("c1".parse()?, name, Value::Null);
        Ok(Self { executor, scope: CallScope::new("bench".parse()?), call })
    }

    pub(crate) fn call(&self, runtime: &Runtime, times: u32) -> Result<(), String> {
        runtime.block_on(async {
            for _ in 0..times {
                let mut call = self.call.clone();
                call.input = black_box(input());
                let outcome = self.executor.execute_batch(Batch::new(self.scope.clone(), vec![call])).await;
                let replies = black_box(outcome.into_replies().map_err(|error| error.to_string())?);
                if !replies.iter().all(|reply| reply.status.is_ok()) {
                    return Err(replies[0].output.to_text());
                }
            }
            Ok(())
        })
    }
}

/// Prints a direct call, and the pipeline with few and with many tools.
pub(crate) fn table(runtime: &Runtime) -> Result<(), Fault> {
    let direct = Direct::new()?;
    let [few, more, most] = TOOLS.map(Pipeline::new);
    let (few, more, most) = (few?, more?, most?);
    let works: [&Work<'_>; 4] = [
        &|| direct.call(runtime, CALLS),
        &|| few.call(runtime, CALLS),
        &|| more.call(runtime, CALLS),
        &|| most.call(runtime, CALLS),
    ];
    let measured = by_turns(ROUNDS, works)?;
    println!("| one call | tools | ns | to direct | to 10 tools | allocations | bytes |");
    println!("|---|---|---|---|---|---|---|");
    let [direct, few, ..] = &measured;
    row("direct", "-", direct, direct, None);
    for (tools, pipeline) in TOOLS.iter().zip(&measured[1..]) {
        row("whole pipeline", &tools.to_string(), pipeline, direct, Some(few));
    }
    Ok(())
}

fn row(what: &str, tools: &str, measured: &Measured, direct: &Measured, few: Option<&Measured>) {
    let few = few.map_or_else(|| "-".to_owned(), |few| format!("{:.2}", measured.ratio(few)));
    let calls = u64::from(CALLS);
    println!(
        "| {what} | {tools} | {:.0} | {:.2} | {few} | {} | {} |",
        measured.nanoseconds(CALLS),
        measured.ratio(direct),
        measured.spent.allocations / calls,
        measured.spent.bytes / calls
    );
}
