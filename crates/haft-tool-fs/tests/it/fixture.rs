//! Calls of the file tools in a tree.

use haft_core::ToolReply;
use haft_testkit::{Tree, call};
use haft_tools_core::ToolRegistry;
use serde_json::Value;

pub(crate) fn registry(tree: &Tree) -> ToolRegistry {
    ToolRegistry::of(haft_tool_fs::tools(&tree.workdir())).unwrap()
}

/// Runs one call in a tree.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run(tree: &Tree, tool: &str, input: Value) -> ToolReply {
    call(&registry(tree), tool, input).await
}

/// Writes a reply as its status and text.
pub(crate) fn shown(reply: &ToolReply) -> String {
    format!("{}\n{}\n", reply.status, reply.output.to_text())
}
