use crate::ServerName;
use crate::client::session::{Ask, AskRefused, News, Watch};
use async_trait::async_trait;
use haft_tools_core::Tool;
use serde_json::Value;
use std::sync::Arc;

/// Answers what servers ask, for all of them.
#[async_trait]
pub(crate) trait Answers: Send + Sync + 'static {
    /// The capabilities of a client, as this server is told them.
    fn capabilities(&self, server: &ServerName) -> Value;

    /// Answers what a server asks; `of` is what it asks it for, as far as that is known.
    async fn answer(
        &self,
        server: &ServerName,
        ask: Ask,
        of: Option<Arc<dyn Watch>>,
    ) -> Result<Value, AskRefused>;

    /// Makes the tools by which what this server asks is done as a call, so that it is permitted like one.
    fn tools(&self, server: &ServerName) -> Vec<Arc<dyn Tool>> {
        let _ = server;
        Vec::new()
    }

    /// Takes note of what a server tells unasked, besides changes of its tools and its log.
    fn hear(&self, server: &ServerName, news: &News) {
        let _ = (server, news);
    }
}
