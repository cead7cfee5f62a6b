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
pub trait Roots: Send + Sync + 'static {
    /// The directories there are now.
    fn roots(&self) -> Vec<Root>;
}

impl Roots for Vec<Root> {
    fn roots(&self) -> Vec<Root> {
        self.clone()
    }
}

/// Writes the answer to `roots/list`.
pub(super) fn answer(roots: &dyn Roots) -> Value {
    let entry = |root: Root| match root.name() {
        "" => json!({ "uri": root.uri }),
        name => json!({ "uri": root.uri, "name": name }),
    };
    json!({ "roots": roots.roots().into_iter().map(entry).collect::<Vec<_>>() })
}
