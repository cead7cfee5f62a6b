use haft::Workdir;
use std::path::{Path, PathBuf};

/// Says whose word a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// The user's own configuration.
    User,
    /// The workspace's file, which the user trusts as it is.
    Workspace,
    /// The workspace's file, which may say anything.
    Untrusted,
}

/// Is a file of configuration as it was read.
#[derive(Debug, Clone)]
pub(crate) struct ConfigFile {
    pub(crate) layer: Layer,
    /// The path, for errors.
    pub(crate) path: String,
    /// A short name, for lists.
    pub(crate) name: String,
    /// Where relative paths begin.
    pub(crate) folder: PathBuf,
    pub(crate) text: String,
}

/// Names a directory for people, so that its files are found by it: nothing stands for the current one.
pub(super) fn named(workdir: &Workdir) -> &Path {
    let path = workdir.root_path();
    let is_current = std::env::current_dir()
        .and_then(|current| current.canonicalize())
        .is_ok_and(|current| current == path);
    if is_current { Path::new("") } else { path }
}
