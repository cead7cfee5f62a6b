use super::open::Configured;
use async_trait::async_trait;
use haft::tools_core::{OfferedTools, SourceError, ToolSource};

/// Gives the tools of a document that is read when they are asked for.
pub(super) struct DocumentSource {
    name: String,
    configured: Configured,
}

impl DocumentSource {
    pub(super) fn new(configured: Configured) -> Self {
        // An MCP server may have the name as well.
        Self { name: format!("openapi:{}", configured.name), configured }
    }
}

#[async_trait]
impl ToolSource for DocumentSource {
    fn name(&self) -> &str {
        &self.name
    }

    async fn tools(&self) -> Result<OfferedTools, SourceError> {
        match self.configured.open().await {
            Ok(opened) => Ok(opened.tools.tools().into()),
            Err(error) => Err(SourceError::new(format!("{error:#}"))),
        }
    }
}
