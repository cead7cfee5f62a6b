use crate::{FindFiles, Glob, Grep};
use haft_tools_core::Tool;
use haft_workdir::Workdir;
use std::sync::Arc;

/// Makes the search tools for a working directory: `grep`, `glob` and `find_files`.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// let workdir = haft_workdir::Workdir::open(directory.path())?;
/// let registry = haft_tools_core::ToolRegistry::of(haft_tool_search::tools(&workdir))?;
/// assert_eq!(registry.names().collect::<Vec<_>>(), ["find_files", "glob", "grep"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tools(workdir: &Workdir) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Grep::new(workdir.clone())),
        Arc::new(Glob::new(workdir.clone())),
        Arc::new(FindFiles::new(workdir.clone())),
    ]
}
