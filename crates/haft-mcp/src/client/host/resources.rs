use crate::ListedTemplate;
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

/// Is a resource as a server lists it; every text in it was written by the server.
///
/// ```
/// use haft_mcp::{ListedResource, ServerContent, ServerRequestError};
///
/// /// Finds the resources that are text.
/// async fn texts(content: &ServerContent) -> Result<Vec<ListedResource>, ServerRequestError> {
///     let is_text = |listed: &ListedResource| {
///         listed.mime_type.as_deref().is_some_and(|mime_type| mime_type.starts_with("text/"))
///     };
///     Ok(content.resources().await?.items.into_iter().filter(is_text).collect())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// // It is not installed here, so it cannot be reached.
/// assert!(texts(&notes.content()).await.is_err());
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedResource {
    /// Its address, by which it is read.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// The type of its content.
    pub mime_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
}

/// Has a server tell of changes of a resource for as long as it lives.
///
/// A server of the legacy era goes on telling until the connection ends or
/// [`unwatch_resource`](crate::ServerContent::unwatch_resource) is called.
///
/// ```
/// use haft_mcp::{McpEventKind, McpEvents, ServerContent, ServerRequestError};
///
/// /// Waits until a resource becomes another.
/// async fn changed(
///     content: &ServerContent,
///     events: &mut McpEvents,
///     wanted: &str,
/// ) -> Result<(), ServerRequestError> {
///     let watch = content.watch_resource(wanted).await?;
///     while let Some(event) = events.next().await {
///         if matches!(event.kind, McpEventKind::ResourceUpdated { uri } if uri == wanted) {
///             break;
///         }
///     }
///     content.unwatch_resource(watch).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// // It is not installed here, so it cannot be reached.
/// assert!(notes.content().watch_resource("note:///plan").await.is_err());
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "what is not kept is not told any more"]
pub struct ResourceWatch {
    pub(super) uri: String,
    /// The request by which a server of the modern era tells; none of the legacy era.
    pub(super) listening: Option<AbortOnDropHandle<()>>,
}

impl ResourceWatch {
    /// The address of the resource.
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

impl ListedResource {
    pub(super) fn read(told: &Value) -> Result<Self, String> {
        let uri = text_of(told, "uri").ok_or("a resource has no `uri`")?;
        Ok(Self {
            name: text_of(told, "name").unwrap_or_else(|| uri.clone()),
            title: text_of(told, "title"),
            description: text_of(told, "description"),
            mime_type: text_of(told, "mimeType"),
            size: told.get("size").and_then(Value::as_u64),
            uri,
        })
    }
}

impl ListedTemplate {
    pub(super) fn read(told: &Value) -> Result<Self, String> {
        let uri_template = text_of(told, "uriTemplate").ok_or("a template has no `uriTemplate`")?;
        Ok(Self {
            name: text_of(told, "name").unwrap_or_else(|| uri_template.clone()),
            title: text_of(told, "title"),
            description: text_of(told, "description"),
            mime_type: text_of(told, "mimeType"),
            uri_template,
        })
    }
}

/// Copies a text of what a server says.
pub(super) fn text_of(told: &Value, name: &str) -> Option<String> {
    told.get(name).and_then(Value::as_str).map(str::to_owned)
}
