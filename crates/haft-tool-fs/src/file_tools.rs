use crate::{ApplyPatch, EditFile, ListFiles, ReadFile, WriteFile};
use haft_tools_core::Tool;
use haft_workdir::Workdir;
use std::sync::Arc;

/// Makes every file tool for a working directory: `read_file`, `write_file`, `edit_file`, `apply_patch` and `list_files`.
pub fn tools(workdir: &Workdir) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ReadFile::new(workdir.clone())),
        Arc::new(WriteFile::new(workdir.clone())),
        Arc::new(EditFile::new(workdir.clone())),
        Arc::new(ApplyPatch::new(workdir.clone())),
        Arc::new(ListFiles::new(workdir.clone())),
    ]
}
