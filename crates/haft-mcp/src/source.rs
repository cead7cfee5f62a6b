use crate::McpServer;
use crate::tool::McpTool;
use async_trait::async_trait;
use haft_tools_core::{Changes, OfferedTools, SourceError, Tool, ToolSource};
use std::sync::Arc;

/// Gives the tools of one server to a [`Catalog`](haft_tools_core::Catalog).
///
/// The server is started when its tools are first asked for. The tools are named `server__tool` already, so the catalog
/// must not be [`prefixed`](haft_tools_core::CatalogBuilder::prefixed). Those that cannot be called until they are accepted
/// are among them, and deny every call.
#[derive(Debug, Clone)]
pub struct McpSource(McpServer);

impl McpSource {
    pub(crate) fn new(server: McpServer) -> Self {
        Self(server)
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
        Ok(tools.map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect())
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.0.shared().changes.changes())
    }
}
