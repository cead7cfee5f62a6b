//! The server of this crate, with permission, validation and a journal on.

use crate::Fault;
use crate::client::announce;
use async_trait::async_trait;
use haft_core::ToolError;
use haft_mcp::{Bench, Caller, HttpConfig, HttpLimits, HttpListener, McpServe, Rate, Toolbox};
use haft_tools_core::{
    Accesses, CallContext, CallScope, Journal, JsonlJournal, LocalExecutor, MemoryPending, Policy, Rule,
    ToolRegistry, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

struct One(Arc<Bench>, watch::Sender<u64>);

#[async_trait]
impl Toolbox for One {
    async fn bench(&self, _caller: &Caller, _roots: Option<&[String]>) -> Result<Arc<Bench>, String> {
        Ok(Arc::clone(&self.0))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.1.subscribe()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What is said again.
    text: String,
}

/// Serves so many tools; gives where they write down what they do.
fn server(tools: usize) -> Result<(McpServe, tempfile::TempDir), Fault> {
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
    let bench = Bench::new(move || registry.clone(), Arc::new(executor), scope, pending);
    Ok((McpServe::builder(One(Arc::new(bench), watch::Sender::new(0))).build(), directory))
}

pub(crate) async fn over_http(tools: usize) -> Result<(), Fault> {
    let (server, _directory) = server(tools)?;
    let mut limits = HttpLimits::default();
    limits.rate = Rate::new(1e9, 1e9);
    let config = HttpConfig::new("127.0.0.1:0".parse()?).limits(limits);
    let listener = HttpListener::bind(config).await?;
    announce(listener.address())?;
    server.serve_http(listener, CancellationToken::new()).await;
    Ok(())
}

pub(crate) async fn over_lines() -> Result<(), Fault> {
    let (server, _directory) = server(1)?;
    Box::pin(server.serve_stdio(CancellationToken::new())).await;
    Ok(())
}
