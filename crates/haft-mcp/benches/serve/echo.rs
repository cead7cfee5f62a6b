//! A server that says again what it is told, with permission, validation and a journal on, and what it is asked.

use async_trait::async_trait;
use haft_core::ToolError;
use haft_mcp::{Caller, ToolServer, Toolbox, Toolset};
use haft_tools_core::{
    Accesses, CallContext, CallScope, Journal, JsonlJournal, LocalExecutor, MemoryPending, Policy, Rule,
    ToolRegistry, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

struct One(Arc<Toolset>);

#[async_trait]
impl Toolbox for One {
    async fn toolset(&self, _caller: &Caller, _roots: Option<&[String]>) -> Result<Arc<Toolset>, String> {
        Ok(Arc::clone(&self.0))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What is said again.
    text: String,
}

/// Serves so many tools; gives where they write down what they do.
pub(crate) fn server(tools: usize) -> Result<(ToolServer, tempfile::TempDir), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let journal = Journal::new(Arc::new(JsonlJournal::open(directory.path().join("journal.jsonl"))?));
    let mut registry = ToolRegistry::new();
    for number in 0..tools {
        let name = if number == 0 { "echo".to_owned() } else { format!("echo_{number}") };
        let echo = |input: Input, _cx: CallContext| async move { Ok::<_, ToolError>(input.text) };
        registry = registry.with(tool_fn(&name, "Says it again.", Accesses::none(), echo)?)?;
    }
    let pending = Arc::new(MemoryPending::new());
    let executor = LocalExecutor::builder(registry.clone())
        .policy(Policy::new().allow(Rule::tools("*".parse()?)))
        .pending(Arc::clone(&pending) as _)
        .journal(journal)
        .build();
    let scope = CallScope::new("bench".parse()?);
    let toolset = Toolset::new(move || registry.clone(), Arc::new(executor), scope, pending);
    Ok((ToolServer::builder(One(Arc::new(toolset))).build(), directory))
}

pub(crate) fn message(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

pub(crate) fn call() -> String {
    message("tools/call", json!({ "name": "echo", "arguments": { "text": "hello world" } }))
}

pub(crate) fn request(method: &str, name: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\ncontent-type: \
         application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}content-length: \
         {}\r\n\r\n{body}",
        body.len()
    )
}
