use super::{Requester, ServerRequestError};
use crate::client::pages::{Page, read_pages};
use haft_tools_core::CallContext;
use serde_json::Value;

/// The most items of which it is said why they were left out.
const MOST_REASONS: usize = 100;

/// Is a list of a server, with what was left out of it.
///
/// ```
/// use haft_mcp::{ServerContent, ServerRequestError};
///
/// /// Names the prompts of a server, and says why others are left out.
/// async fn names(content: &ServerContent) -> Result<Vec<String>, ServerRequestError> {
///     let list = content.prompts().await?;
///     Ok(list.items.into_iter().map(|prompt| prompt.name).chain(list.left_out).collect())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// // It is not installed here, so it cannot be reached.
/// assert!(names(&notes.content()).await.is_err());
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerList<T> {
    /// What is on it, in the server's order.
    pub items: Vec<T>,
    /// What was left out and why, for people.
    pub left_out: Vec<String>,
}

/// Reads all pages of a list; an item that cannot be read is left out.
pub(super) async fn read_list<T>(
    requester: &dyn Requester,
    method: &'static str,
    key: &str,
    of: Option<&CallContext>,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<ServerList<T>, ServerRequestError> {
    let pages = read_pages(|params| async move {
        let result = requester.request(method, params, of).await?;
        Page::of(result, key).ok_or_else(|| {
            ServerRequestError::unusable(format!("its answer to `{method}` has no list `{key}`"))
        })
    });
    let pages = pages.await?;
    let mut list = ServerList { items: Vec::new(), left_out: Vec::new() };
    for item in pages.items {
        match read(&item) {
            Ok(item) => list.items.push(item),
            Err(reason) if list.left_out.len() < MOST_REASONS => list.left_out.push(reason),
            Err(_) => {}
        }
    }
    list.left_out.extend(pages.cut.map(|why| format!("the list {why}")));
    Ok(list)
}
