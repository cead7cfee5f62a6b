//! Bound a huge output, and let the model page through it
//!
//! A reply is bounded in bytes and lines, whatever a tool gives; its head and its tail are kept. The whole goes into an output store, and
//! `read_output` reads it from there by its handle: by lines, from the end, or what a pattern finds.

use crate::Done;
use haft::tools_core::{Limits, LocalOutputs, OutputStore, ReadOutput};
use haft::{
    Accesses, Batch, CallContext, CallScope, LocalExecutor, Policy, Rule, ToolCall, ToolError,
    ToolExecutor as _, ToolRegistry, tool_fn,
};
use serde_json::json;
use std::sync::Arc;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {}

pub(crate) async fn run() -> Done {
    let log = tool_fn(
        "log",
        "Gives the log of the day.",
        Accesses::none(),
        |_: Input, _: CallContext| async move {
            let line = |number: u32| match number {
                31_415 => "31415 error: the mill stands still\n".to_owned(),
                _ => format!("{number} all is well\n"),
            };
            Ok::<_, ToolError>((1..=100_000).map(line).collect::<String>())
        },
    )?;
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let executor =
        LocalExecutor::builder(ToolRegistry::new().with(log)?.with(ReadOutput::new(Arc::clone(&outputs)))?)
            .policy(Policy::new().allow(Rule::tools("*".parse()?)))
            .limits(Limits { output_bytes: 200, ..Limits::default() })
            .outputs(outputs)
            .build();
    let scope = CallScope::new("run-1".parse()?);

    let call = ToolCall::new("c1".parse()?, "log", json!({}));
    let replies = executor.execute_batch(Batch::new(scope.clone(), vec![call])).await.into_replies()?;
    println!("{}", replies[0].output.to_text());
    let cut = replies[0].truncation.as_ref().ok_or("it should be cut")?;
    println!("--- {} of {} bytes", cut.kept_bytes, cut.total_bytes);

    // The model has read the handle in the note, and looks for what it wants.
    let handle = cut.output.as_ref().ok_or("it should be kept")?;
    let find = json!({ "output": handle.as_str(), "grep": "error" });
    let last = json!({ "output": handle.as_str(), "offset": -2 });
    let calls = vec![
        ToolCall::new("c2".parse()?, "read_output", find),
        ToolCall::new("c3".parse()?, "read_output", last),
    ];
    for reply in executor.execute_batch(Batch::new(scope, calls)).await.into_replies()? {
        println!("{}", reply.output.to_text());
    }
    Ok(())
}
