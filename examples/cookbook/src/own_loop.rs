//! Add tools to a loop of your own
//!
//! You have a loop that asks a model, and a client for its API. Keep both: give the model the names, descriptions and schemas of a
//! registry, and hand the calls of each answer to an executor as one batch. Every call gets exactly one reply, in the order of the
//! calls, and one that is wrong costs the others nothing. Arguments that are no JSON are handed on as the text they are: they are
//! repaired where that can be told, and otherwise the model is told what is wrong.

use crate::Done;
use haft::{
    Accesses, Batch, CallContext, CallScope, LocalExecutor, Policy, Rule, ToolCall, ToolError,
    ToolExecutor as _, ToolRegistry, tool_fn,
};
use serde_json::Value;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {
    /// The text to count.
    text: String,
}

pub(crate) async fn run() -> Done {
    let count = tool_fn(
        "count_words",
        "Counts words.",
        Accesses::none(),
        |input: Input, _: CallContext| async move { Ok::<_, ToolError>(input.text.split_whitespace().count()) },
    )?;
    let executor = LocalExecutor::builder(ToolRegistry::new().with(count)?)
        .policy(Policy::new().allow(Rule::tools("count_words".parse()?)))
        .build();

    // This goes into your request.
    for spec in executor.registry().direct_specs().iter() {
        println!(
            "tool {}: {} {}",
            spec.name(),
            spec.description(),
            spec.input_schema().as_value()["properties"]
        );
    }

    // This came out of the model's answer: ids, names and arguments as they were written.
    let answer = [
        ("c1", "count_words", r#"{"text": "a haft is a handle"}"#),
        ("c2", "count_words", r#"{"txt": "one two"}"#),
        ("c3", "count_word", r#"{"text": "three"}"#),
    ];
    let mut calls = Vec::new();
    for (id, name, arguments) in answer {
        let input = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
        calls.push(ToolCall::new(id.parse()?, name, input));
    }
    let batch = Batch::new(CallScope::new("run-1".parse()?), calls);
    for reply in executor.execute_batch(batch).await.into_replies()? {
        println!("{} {}: {}", reply.call_id, reply.status, reply.output.to_text());
    }
    Ok(())
}
