use crate::resource;
use haft_tools_core::Access;
use haft_workdir::{EntryKind, Error, Workdir, WorkdirPath};
use std::iter;

/// Which directory's names a reply may show, where the call cannot do what it was asked to.
///
/// Showing them is a read that has to be declared, so it is decided when the call is prepared: if the path is not what
/// the tool needs then, the names are declared, and if it is, the reply shows none whatever becomes of the path.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    directory: Option<WorkdirPath>,
}

impl Hints {
    /// Decides for a tool that, where nothing exists, answers with the names near it.
    pub(crate) fn where_missing(workdir: &Workdir, path: &WorkdirPath) -> Self {
        Self::decide(workdir, path, &workdir.kind(path))
    }

    /// Decides for a tool that answers with the content of a directory too.
    pub(crate) fn where_no_file(workdir: &Workdir, path: &WorkdirPath) -> Self {
        match workdir.kind(path) {
            Ok(EntryKind::Directory) => Self { directory: Some(path.clone()) },
            found => Self::decide(workdir, path, &found),
        }
    }

    fn decide(workdir: &Workdir, path: &WorkdirPath, found: &Result<EntryKind, Error>) -> Self {
        match found {
            Err(Error::NotFound { .. }) => {
                let highest = missing_above(workdir, path).pop();
                Self { directory: highest.as_ref().unwrap_or(path).parent() }
            }
            _ => Self::default(),
        }
    }

    /// Declares that the names are read.
    pub(crate) fn access(&self) -> Option<Access> {
        self.directory.as_ref().map(|directory| Access::read(resource::tree(directory)))
    }

    /// Tells whether names in a directory may be shown.
    pub(crate) fn cover(&self, directory: &WorkdirPath) -> bool {
        self.directory.as_ref().is_some_and(|covered| directory.starts_with(covered))
    }

    /// Gives the names near a path that does not exist, as far as they may be shown.
    pub(crate) fn near(&self, workdir: &Workdir, path: &WorkdirPath) -> Vec<WorkdirPath> {
        if self.directory.is_none() {
            return Vec::new();
        }
        let mut near = workdir.near_names(path);
        // They are from a directory above it, if it is gone meanwhile.
        near.retain(|near| near.parent().is_some_and(|directory| self.cover(&directory)));
        near
    }
}

/// Gives the directories above a path that do not exist, the lowest first.
pub(crate) fn missing_above(workdir: &Workdir, path: &WorkdirPath) -> Vec<WorkdirPath> {
    let is_missing = |directory: &WorkdirPath| matches!(workdir.kind(directory), Err(Error::NotFound { .. }));
    iter::successors(path.parent(), WorkdirPath::parent).take_while(is_missing).collect()
}
