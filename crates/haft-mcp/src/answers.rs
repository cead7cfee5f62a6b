use crate::ServerName;
use crate::session::{Ask, AskRefused, News, Watch};
use async_trait::async_trait;
use serde_json::{Value, json};
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

    /// Takes note of what a server tells unasked, besides changes of its tools and its log.
    fn hear(&self, server: &ServerName, news: &News) {
        let _ = (server, news);
    }
}

/// Answers nothing.
pub(crate) struct NoAnswers;

#[async_trait]
impl Answers for NoAnswers {
    fn capabilities(&self, _server: &ServerName) -> Value {
        json!({})
    }

    async fn answer(
        &self,
        _server: &ServerName,
        ask: Ask,
        _of: Option<Arc<dyn Watch>>,
    ) -> Result<Value, AskRefused> {
        Err(AskRefused { code: -32601, message: format!("there is no `{}` here", ask.method) })
    }
}
