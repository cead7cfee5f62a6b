//! What the search tools do, seen through the executor.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod attacks;
mod bad_input;
mod bounds;
mod denials;
mod glob_property;
mod grep_property;
#[cfg(feature = "code")]
mod outline;
mod pages;
mod ripgrep;
mod specs;
mod threads;

use haft_core::ToolReply;
use haft_testkit::Tree;
use haft_tools_core::ToolRegistry;
use serde_json::Value;

/// The search tools for a tree.
fn registry(tree: &Tree) -> ToolRegistry {
    ToolRegistry::of(haft_tool_search::tools(&tree.workdir())).unwrap()
}

/// Runs one call.
fn call(tree: &Tree, tool: &str, input: Value) -> ToolReply {
    call_of(&registry(tree), tool, input)
}

/// Runs one call of a tool of a registry.
fn call_of(registry: &ToolRegistry, tool: &str, input: Value) -> ToolReply {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(haft_testkit::call(registry, tool, input))
}

/// Runs one call and gives what the model gets.
fn text(tree: &Tree, tool: &str, input: Value) -> String {
    call(tree, tool, input).output.to_text()
}
