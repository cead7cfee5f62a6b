//! The roots that change sets were made in.

use super::record::ChangeSet;
use crate::roots::RootAccess;
use crate::workdir::Workdir;
use std::path::PathBuf;
use std::sync::Arc;

impl Workdir {
    /// Returns the directory with the other roots that there were when change sets were made, as far as they are there.
    ///
    /// In all of it everything may be done, whatever holds by now. A root that a symbolic link has replaced is left out, since
    /// it is another directory. Without the roots of a set, its paths in them lead nowhere.
    pub fn with_roots_of<'s>(&self, sets: impl IntoIterator<Item = &'s ChangeSet>) -> Self {
        reaching(self, sets.into_iter().flat_map(|set| &set.other_roots))
    }
}

/// Returns a directory with the other roots that there were for change sets, as far as they are there, all for writing.
///
/// What may be changed by now says nothing of what is to be taken back. A root that a symbolic link has replaced stays out,
/// since it is another directory by now.
pub(super) fn reaching<'s>(workdir: &Workdir, roots: impl IntoIterator<Item = &'s PathBuf>) -> Workdir {
    let alone = Workdir { roots: Arc::new(workdir.roots.of_main_alone()), journal: workdir.journal.clone() };
    roots.into_iter().fold(alone, |reached, root| {
        let is_itself = root.canonicalize().is_ok_and(|found| found == *root);
        let wider = is_itself.then(|| reached.clone().with_root(root, RootAccess::ReadWrite).ok());
        wider.flatten().unwrap_or(reached)
    })
}
