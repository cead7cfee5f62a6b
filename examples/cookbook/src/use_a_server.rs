//! Use the tools of an MCP server, behind a policy
//!
//! A server is a source of a `Catalog`: its tools come as they are listed and go when it does, each under `SERVER__TOOL`. What a server
//! says of its tools informs, and permits nothing: here one of them may be called, one is denied, and any that the server adds later
//! would be asked about. The server is that of the recipe before, started as a program.

use crate::Done;
use haft::mcp::{McpServers, ServerConfig, ServerProgram, Transport};
use haft::tools_core::Catalog;
use haft::{Batch, CallScope, LocalExecutor, Policy, Rule, ToolCall, ToolExecutor as _};
use serde_json::json;

pub(crate) async fn run() -> Done {
    let program = ServerProgram::new(std::env::current_exe()?, ["serve_tools"]);
    let servers = McpServers::builder()
        .server(ServerConfig::new("words".parse()?, Transport::Stdio(program)))
        .build()?;
    let mut catalog = Catalog::builder();
    for source in servers.sources() {
        catalog = catalog.source(source);
    }
    let catalog = catalog.build()?;
    catalog.refresh().await;
    let tools = catalog.snapshot();
    for spec in tools.iter() {
        println!("{}: {}", spec.name(), spec.description());
    }

    let policy = Policy::new()
        .allow(Rule::calls("@words/count_words".parse()?))
        .deny(Rule::calls("@words/forget".parse()?));
    let executor = LocalExecutor::builder(tools).policy(policy).build();
    let calls = vec![
        ToolCall::new("c1".parse()?, "words__count_words", json!({ "text": "a haft is a handle" })),
        ToolCall::new("c2".parse()?, "words__forget", json!({})),
    ];
    let batch = Batch::new(CallScope::new("run-1".parse()?), calls);
    for reply in executor.execute_batch(batch).await.into_replies()? {
        println!("{} {}: {}", reply.call_id, reply.status, reply.output.to_text());
    }
    servers.stop().await;
    Ok(())
}
