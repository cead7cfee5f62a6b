use haft_core::Digest;
use serde_json::Value;
use std::sync::Arc;

/// Is a tool that a server lists and nobody may call, with everything that is said of it.
///
/// ```
/// use haft_mcp::McpServer;
///
/// /// Says in a line each what somebody has to look at before it can be called.
/// fn to_look_at(server: &McpServer) -> Vec<String> {
///     server.quarantined().iter().map(|tool| format!("{}: {}", tool.name, tool.why)).collect()
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// assert!(to_look_at(notes).is_empty());
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QuarantinedTool {
    /// The name the server gives it.
    pub name: String,
    /// Identifies the definition: what is accepted is accepted by it.
    pub digest: Digest,
    /// What a model or a person would be told of it, as the server sent it; at most about 1 MiB.
    pub definition: Arc<Value>,
    /// Why it cannot be called, such as `its description changed since it was accepted`.
    pub why: String,
}
