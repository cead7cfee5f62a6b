use haft_tools_core::{Resource, Scheme};
use haft_workdir::WorkdirPath;

/// The scheme of everything in a working directory; its paths are those of a [`WorkdirPath`].
///
/// Every crate whose tools touch files names it so, and calls of one batch wait for each other by it.
const FILE: Scheme = Scheme::new("file");

/// Names one file.
pub(crate) fn file(path: &WorkdirPath) -> Resource {
    Resource::exact(FILE, relative(path))
}

/// Names a directory and everything below it.
pub(crate) fn tree(path: &WorkdirPath) -> Resource {
    Resource::subtree(FILE, relative(path))
}

/// The root is the empty path, below which everything lies.
fn relative(path: &WorkdirPath) -> &str {
    if path.is_root() { "" } else { path.as_str() }
}
