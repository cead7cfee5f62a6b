//! Calls of the file tools in a tree.

use haft_core::{ToolCall, ToolReply};
use haft_testkit::{Tree, call};
use haft_tools_core::{
    AccessMode, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme, Selector, ToolExecutor as _,
    ToolRegistry,
};
use serde_json::Value;

pub(crate) const FILE: Scheme = Scheme::new("file");

/// Names one file or directory, and nothing below it.
pub(crate) fn exactly(path: &str) -> Resource {
    Resource::exact(FILE, path)
}

pub(crate) fn registry(tree: &Tree) -> ToolRegistry {
    ToolRegistry::of(haft_tool_fs::tools(&tree.workdir())).unwrap()
}

/// Runs one call in a tree.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run(tree: &Tree, tool: &str, input: Value) -> ToolReply {
    call(&registry(tree), tool, input).await
}

/// Runs one call where all is allowed but to read some things.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run_without<const N: usize>(
    tools: &ToolRegistry,
    denied: [Resource; N],
    tool: &str,
    input: Value,
) -> ToolReply {
    let policy = Policy::new().allow(Rule::tools(Selector::all()));
    let policy =
        denied.into_iter().fold(policy, |policy, within| policy.deny(Rule::access(AccessMode::Read, within)));
    let executor = LocalExecutor::builder(tools.clone()).policy(policy).build();
    let call = ToolCall::new("c1".parse().unwrap(), tool, input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    executor.execute_batch(batch).await.into_replies().unwrap().remove(0)
}

/// Writes a reply as its status and text.
pub(crate) fn shown(reply: &ToolReply) -> String {
    format!("{}\n{}\n", reply.status, reply.output.to_text())
}
