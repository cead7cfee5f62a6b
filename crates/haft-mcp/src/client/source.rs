use crate::McpServer;
use crate::client::host::{Requester, resource_tools};
use crate::client::tool::McpTool;
use async_trait::async_trait;
use haft_tools_core::{Changes, OfferedTools, SourceError, Tool, ToolSource};
use std::sync::Arc;

/// Gives the tools of one server to a [`Catalog`](haft_tools_core::Catalog).
///
/// The server is started when its tools are first asked for. The tools are named `server__tool` already, so the catalog
/// must not be [`prefixed`](haft_tools_core::CatalogBuilder::prefixed). Those that cannot be called until they are accepted
/// are among them, and deny every call.
///
/// ```
/// use haft_tools_core::{Catalog, ToolSource as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// let source = notes.source();
/// assert_eq!(source.name(), "notes");
/// let catalog = Catalog::builder().source(source).build()?;
/// assert!(catalog.refresh().await.is_empty(), "it is not installed here");
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct McpSource(McpServer);

impl McpSource {
    pub(crate) fn new(server: McpServer) -> Self {
        Self(server)
    }

    /// The tools of this host for what the server has besides tools, and for what it asks.
    fn host_tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools = self.0.shared().ear.tools();
        if self.0.config().resource_tools {
            let requester = Arc::new(self.0.clone()) as Arc<dyn Requester>;
            tools.extend(resource_tools(&requester, self.0.config().limits));
        }
        tools
    }
}

#[async_trait]
impl ToolSource for McpSource {
    fn name(&self) -> &str {
        self.0.name().as_str()
    }

    async fn tools(&self) -> Result<OfferedTools, SourceError> {
        let listing = self.0.listed().await.map_err(|error| SourceError::new(error.to_string()))?;
        let tools = listing.tools.iter().map(|tool| McpTool::new(self.0.clone(), Arc::clone(tool)));
        let mut tools: Vec<Arc<dyn Tool>> = tools.map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect();
        for tool in self.host_tools() {
            // What the server itself lists under the name is what it says it has.
            if tools.iter().all(|listed| listed.spec().name() != tool.spec().name()) {
                tools.push(tool);
            }
        }
        Ok(tools.into_iter().collect())
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.0.shared().changes.changes())
    }
}
