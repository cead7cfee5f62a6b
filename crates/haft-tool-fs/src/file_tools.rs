use crate::{ApplyPatch, EditFile, ListFiles, ReadFile, WriteFile};
use haft_tools_core::Tool;
use haft_workdir::Workdir;
use std::sync::Arc;

/// Makes every file tool for a working directory: `read_file`, `write_file`, `edit_file`, `apply_patch` and `list_files`.
///
/// ```
/// use haft_tools_core::ToolRegistry;
///
/// # let tree = haft_testkit::Tree::new();
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of(haft_tool_fs::tools(&workdir))?;
/// assert_eq!(registry.names().collect::<Vec<_>>(), ["apply_patch", "edit_file", "list_files", "read_file", "write_file"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tools(workdir: &Workdir) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ReadFile::new(workdir.clone())),
        Arc::new(WriteFile::new(workdir.clone())),
        Arc::new(EditFile::new(workdir.clone())),
        Arc::new(ApplyPatch::new(workdir.clone())),
        Arc::new(ListFiles::new(workdir.clone())),
    ]
}
