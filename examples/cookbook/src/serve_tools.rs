//! Serve your tools to MCP clients
//!
//! A `Toolbox` gives each caller a toolset: the tools as they are now, the executor that runs them, and the scope of the calls. One that
//! serves a single client is a few lines. The same server speaks over standard streams, as here, over a socket, and over HTTP; what it
//! serves goes through the policy like any other call. The next recipe is its client.

use crate::Done;
use async_trait::async_trait;
use haft::mcp::{Caller, ToolServer, Toolbox, Toolset};
use haft::tools_core::MemoryPending;
use haft::{CallScope, LocalExecutor, Policy, Rule, ToolError, ToolRegistry};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Counts the words of a text.
#[haft::tool(accesses = none, read_only)]
async fn count_words(
    /// The text to count.
    text: String,
) -> Result<usize, ToolError> {
    Ok(text.split_whitespace().count())
}

/// Forgets everything.
#[haft::tool(accesses = none, destructive)]
async fn forget() -> Result<String, ToolError> {
    Ok("gone".to_owned())
}

struct One(Arc<Toolset>);

#[async_trait]
impl Toolbox for One {
    async fn toolset(&self, _caller: &Caller, _roots: Option<&[String]>) -> Result<Arc<Toolset>, String> {
        Ok(Arc::clone(&self.0))
    }
}

pub(crate) async fn run() -> Done {
    let tools = ToolRegistry::new().with(count_words_tool())?.with(forget_tool())?;
    let pending = Arc::new(MemoryPending::new());
    let executor = LocalExecutor::builder(tools.clone())
        .policy(Policy::new().allow(Rule::tools("*".parse()?)))
        .pending(Arc::clone(&pending) as _)
        .build();
    let scope = CallScope::new("served".parse()?);
    let toolset = Arc::new(Toolset::new(move || tools.clone(), Arc::new(executor), scope, pending));
    let server = ToolServer::builder(One(toolset)).name("words", "1.0").build();
    server.serve_stdio(CancellationToken::new()).await;
    server.stop().await;
    Ok(())
}
