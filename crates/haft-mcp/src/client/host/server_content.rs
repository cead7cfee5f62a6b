use super::list::read_list;
use super::{
    Completion, CompletionOf, ListedPrompt, ListedResource, PromptText, Requester, ResourceWatch, ServerList,
    ServerRequestError,
};
use crate::client::content::{left_out, read_document};
use crate::client::retry_pause::RetryPause;
use crate::{Era, ListedTemplate};
use haft_core::Content;
use haft_tools_core::CallContext;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;

/// The most parts of a resource.
const MOST_PARTS: usize = 1_000;

/// Gives the resources and prompts of one server to the host; the server is started if need be.
///
/// Everything in them was written by the server: show it with [`Visible`](haft_core::Visible), and give it to a model only
/// as something that a stranger wrote.
///
/// ```
/// use haft_mcp::{ServerContent, ServerRequestError};
///
/// /// Reads the first resource of a server.
/// async fn first(content: &ServerContent) -> Result<Option<String>, ServerRequestError> {
///     let Some(resource) = content.resources().await?.items.into_iter().next() else { return Ok(None) };
///     let parts = content.read_resource(&resource.uri).await?;
///     Ok(parts.first().and_then(|part| part.as_text()).map(str::to_owned))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// // It is not installed here, so it cannot be reached.
/// assert!(first(&notes.content()).await.is_err());
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ServerContent(Arc<dyn Requester>);

impl ServerContent {
    pub(crate) fn new(requester: Arc<dyn Requester>) -> Self {
        Self(requester)
    }

    /// Lists the resources there are; none of a server that has no resources.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, refuses, or its answer is no list.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, as are all methods here: the request is cancelled.
    pub async fn resources(&self) -> Result<ServerList<ListedResource>, ServerRequestError> {
        self.resources_for(None).await
    }

    /// Lists the patterns of addresses of resources.
    ///
    /// # Errors
    ///
    /// As for [`resources`](Self::resources).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn templates(&self) -> Result<ServerList<ListedTemplate>, ServerRequestError> {
        self.templates_for(None).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, does not have it, or its answer has no content.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<Content>, ServerRequestError> {
        self.read_resource_for(uri, None).await
    }

    /// Has the server tell of changes of a resource, which are then among the events of the servers.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, or does not tell of changes.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped before it is done, the server may tell of changes all the same.
    pub async fn watch_resource(&self, uri: &str) -> Result<ResourceWatch, ServerRequestError> {
        let listening = match self.0.era().await? {
            Era::Legacy => {
                self.0.request("resources/subscribe", json!({ "uri": uri }), None).await?;
                None
            }
            Era::Modern => {
                if !self.0.tells_of_resources().await? {
                    let reason = "it does not tell of changes of single resources";
                    return Err(ServerRequestError::unusable(reason));
                }
                let listening = listen(Arc::clone(&self.0), uri.to_owned());
                Some(AbortOnDropHandle::new(tokio::spawn(listening)))
            }
        };
        Ok(ResourceWatch { uri: uri.to_owned(), listening })
    }

    /// Has the server tell no more of changes of a resource.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, or refuses.
    ///
    /// # Cancel safety
    ///
    /// As for [`watch_resource`](Self::watch_resource).
    pub async fn unwatch_resource(&self, watch: ResourceWatch) -> Result<(), ServerRequestError> {
        if watch.listening.is_none() {
            self.0.request("resources/unsubscribe", json!({ "uri": watch.uri }), None).await?;
        }
        Ok(())
    }

    /// Lists the prompts there are; none of a server that has no prompts.
    ///
    /// # Errors
    ///
    /// As for [`resources`](Self::resources).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn prompts(&self) -> Result<ServerList<ListedPrompt>, ServerRequestError> {
        let listed = read_list(&*self.0, "prompts/list", "prompts", None, ListedPrompt::read).await;
        none_if_unknown(listed)
    }

    /// Gets a prompt with its arguments filled in.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, does not have it, or its answer is no prompt.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<PromptText, ServerRequestError> {
        let mut params = json!({ "name": name });
        if !arguments.is_empty() {
            params["arguments"] = json!(arguments);
        }
        let result = self.0.request("prompts/get", params, None).await?;
        PromptText::read(result).map_err(ServerRequestError::unusable)
    }

    /// Asks how a value can go on; `filled` are the arguments that have a value already.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, or completes nothing.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn complete(
        &self,
        of: &CompletionOf,
        argument: &str,
        begun: &str,
        filled: &BTreeMap<String, String>,
    ) -> Result<Completion, ServerRequestError> {
        let mut params = Map::new();
        params.insert("ref".to_owned(), of.reference());
        params.insert("argument".to_owned(), json!({ "name": argument, "value": begun }));
        if !filled.is_empty() {
            params.insert("context".to_owned(), json!({ "arguments": filled }));
        }
        let result = self.0.request("completion/complete", params.into(), None).await?;
        Ok(result.get("completion").map(Completion::read).unwrap_or_default())
    }

    pub(super) async fn resources_for(
        &self,
        of: Option<&CallContext>,
    ) -> Result<ServerList<ListedResource>, ServerRequestError> {
        none_if_unknown(read_list(&*self.0, "resources/list", "resources", of, ListedResource::read).await)
    }

    pub(super) async fn templates_for(
        &self,
        of: Option<&CallContext>,
    ) -> Result<ServerList<ListedTemplate>, ServerRequestError> {
        let (method, key) = ("resources/templates/list", "resourceTemplates");
        none_if_unknown(read_list(&*self.0, method, key, of, ListedTemplate::read).await)
    }

    pub(super) async fn read_resource_for(
        &self,
        uri: &str,
        of: Option<&CallContext>,
    ) -> Result<Vec<Content>, ServerRequestError> {
        let mut result = self.0.request("resources/read", json!({ "uri": uri }), of).await?;
        let Some(Value::Array(parts)) = result.get_mut("contents").map(Value::take) else {
            return Err(ServerRequestError::unusable("its answer to `resources/read` has no `contents`"));
        };
        let part = |told| read_document(Some(told)).unwrap_or_else(|why| left_out("a part", why));
        Ok(parts.into_iter().take(MOST_PARTS).map(part).collect())
    }
}

/// Listens for changes of a resource, again and again, until the server refuses.
async fn listen(requester: Arc<dyn Requester>, uri: String) {
    let mut pause = RetryPause::default();
    loop {
        let params = json!({ "notifications": { "resourceSubscriptions": [uri] } });
        // The request is answered when there is nothing more to tell for now; until then it is told of changes.
        let began = Instant::now();
        let ended = requester.hold("subscriptions/listen", params).await;
        if let Err(ServerRequestError::Refused { code, .. }) = ended {
            tracing::debug!(code, "a resource is watched no more");
            return;
        }
        sleep(pause.after(began.elapsed())).await;
        while requester.era().await.is_err() {
            sleep(pause.after(Duration::ZERO)).await;
        }
        // What has changed meanwhile was told to nobody.
        requester.missed(&uri);
    }
}

/// A server that does not know the method of a list has nothing to list.
fn none_if_unknown<T>(
    listed: Result<ServerList<T>, ServerRequestError>,
) -> Result<ServerList<T>, ServerRequestError> {
    match listed {
        Err(error) if error.is_unknown_method() => Ok(ServerList { items: Vec::new(), left_out: Vec::new() }),
        listed => listed,
    }
}

impl fmt::Debug for ServerContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerContent").field(self.0.server()).finish()
    }
}

#[cfg(test)]
mod tests;
