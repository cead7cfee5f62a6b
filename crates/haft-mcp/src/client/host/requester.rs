use super::ServerRequestError;
use crate::{Era, ServerName};
use async_trait::async_trait;
use haft_tools_core::CallContext;
use serde_json::Value;

/// Sends requests to one server, over whichever connection there is, and starts it if need be.
#[async_trait]
pub(crate) trait Requester: Send + Sync + 'static {
    /// What the server is called here.
    fn server(&self) -> &ServerName;

    /// The era in which it is spoken to; connects if need be.
    async fn era(&self) -> Result<Era, ServerRequestError>;

    /// Whether the server says that it tells of changes of single resources; connects if need be.
    async fn tells_of_resources(&self) -> Result<bool, ServerRequestError>;

    /// Takes note that a resource may have changed without the server having told.
    fn missed(&self, uri: &str);

    /// Sends a request, gives the server what it wants besides, and gives the result that completes it.
    ///
    /// `of` is the call it is sent for, by which people are asked what the server wants to know; without one nobody is
    /// asked.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    async fn request(
        &self,
        method: &'static str,
        params: Value,
        of: Option<&CallContext>,
    ) -> Result<Value, ServerRequestError>;

    /// Sends a request that is answered when there is nothing more to tell, however long that takes.
    ///
    /// Unlike others it is not repeated when the server ends meanwhile: whoever sends it has to know that it was over.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    async fn hold(&self, method: &'static str, params: Value) -> Result<Value, ServerRequestError>;
}
