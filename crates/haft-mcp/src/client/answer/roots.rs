use super::{MOST_REASON_BYTES, REJECTED, refused};
use crate::client::session::AskRefused;
use crate::shown::line;
use async_trait::async_trait;
use haft_core::ToolError;
use haft_tools_core::CallContext;
use serde_json::{Value, json};
use std::path::Path;
use url::Url;

/// Is a directory that a server may regard as the place of the work; it is told, and nothing keeps the server to it.
///
/// ```
/// use haft_mcp::Root;
///
/// let root = Root::directory("/home/me/my work").expect("an absolute path is a root");
/// assert_eq!((root.uri(), root.name()), ("file:///home/me/my%20work", "my work"));
/// assert_eq!(Root::directory("my work"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    uri: String,
    name: String,
}

impl Root {
    /// Tells of a directory, called by its last name; `None` if the path is not absolute.
    pub fn directory(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        let uri = Url::from_file_path(path).ok()?.into();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Some(Self { uri, name })
    }

    /// Tells of the directory at an address, called by its last name; `None` if that is not one of a file of this machine.
    pub fn at(uri: &str) -> Option<Self> {
        let url = Url::parse(uri).ok()?;
        Self::directory(url.to_file_path().ok()?)
    }

    /// Says what people call it.
    pub fn called(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The address, `file:///…`.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// What people call it; empty for the root of all.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Knows which directories servers are told of; asked each time that one wants to know.
///
/// ```
/// use haft_mcp::{McpServers, Root, Roots};
///
/// /// Shows servers no directory.
/// struct Nothing;
///
/// impl Roots for Nothing {
///     fn roots(&self) -> Vec<Root> {
///         Vec::new()
///     }
/// }
///
/// let servers = McpServers::builder().roots(Nothing).build()?;
/// # let _ = servers;
/// # Ok::<(), haft_mcp::DuplicateServerError>(())
/// ```
#[async_trait]
pub trait Roots: Send + Sync + 'static {
    /// The directories there are now.
    fn roots(&self) -> Vec<Root>;

    /// The directories that a server is told of which asks while it works on a call; by default the same ones.
    ///
    /// # Errors
    ///
    /// Why it is told of none; the text goes to the server.
    ///
    /// # Cancel safety
    ///
    /// Dropped when the call has ended.
    async fn of_call(&self, cx: &CallContext) -> Result<Vec<Root>, ToolError> {
        let _ = cx;
        Ok(self.roots())
    }
}

impl Roots for Vec<Root> {
    fn roots(&self) -> Vec<Root> {
        self.clone()
    }
}

/// Answers `roots/list`.
pub(super) async fn answer(roots: &dyn Roots, call: Option<&CallContext>) -> Result<Value, AskRefused> {
    let told = match call {
        Some(call) => {
            let told = roots.of_call(call).await;
            told.map_err(|error| refused(REJECTED, line(error.message(), MOST_REASON_BYTES)))?
        }
        None => roots.roots(),
    };
    let entry = |root: Root| match root.name() {
        "" => json!({ "uri": root.uri }),
        name => json!({ "uri": root.uri, "name": name }),
    };
    Ok(json!({ "roots": told.into_iter().map(entry).collect::<Vec<_>>() }))
}
