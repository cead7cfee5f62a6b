//! Moving, copying and removing files, and making directories.

mod copy_entry;
mod delete_entry;
mod doing;
mod entry;
mod make_directory;
mod move_entry;

pub use copy_entry::CopyEntry;
pub use delete_entry::DeleteEntry;
pub use make_directory::MakeDirectory;
pub use move_entry::MoveEntry;

use haft_tools_core::Tool;
use haft_workdir::Workdir;
use std::sync::Arc;

/// Makes every tool that manages files in a working directory: `move`, `copy`, `delete` and `make_directory`.
///
/// ```
/// use haft_tools_core::ToolRegistry;
///
/// # let tree = haft_testkit::Tree::new();
/// # let workdir = tree.workdir();
/// let tools = haft_tool_fs::tools(&workdir).into_iter().chain(haft_tool_fs::manage_tools(&workdir));
/// let registry = ToolRegistry::of(tools)?;
/// assert_eq!(registry.names().count(), 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn manage_tools(workdir: &Workdir) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(MoveEntry::new(workdir.clone())),
        Arc::new(CopyEntry::new(workdir.clone())),
        Arc::new(DeleteEntry::new(workdir.clone())),
        Arc::new(MakeDirectory::new(workdir.clone())),
    ]
}
