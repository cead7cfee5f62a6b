use crate::list_files::is_denied;
use crate::resource;
use haft_tools_core::{Access, CallContext};
use haft_workdir::{EntryKind, Error, Workdir, WorkdirPath};
use std::iter;
use std::sync::OnceLock;

/// Which directory's names a reply may show, where the call cannot do what it was asked to.
///
/// Showing them is a read that has to be declared, so it is decided when the call is prepared: if the path is not what
/// the tool needs then, the names are declared, and if it is, the reply shows none whatever becomes of the path. The names
/// that are denied to the call are passed by, so that a rule which denies some of them does not refuse the call.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    directory: Option<WorkdirPath>,
    /// The call that names are shown to; none is shown before it is known.
    asked: OnceLock<CallContext>,
}

impl Hints {
    /// Decides for a tool that, where nothing exists, answers with the names near it.
    pub(crate) fn where_missing(workdir: &Workdir, path: &WorkdirPath) -> Self {
        Self::decide(workdir, path, &workdir.kind(path))
    }

    /// Decides for a tool that answers with the content of a directory too.
    pub(crate) fn where_no_file(workdir: &Workdir, path: &WorkdirPath) -> Self {
        match workdir.kind(path) {
            Ok(EntryKind::Directory) => Self::of(Some(path.clone())),
            found => Self::decide(workdir, path, &found),
        }
    }

    fn decide(workdir: &Workdir, path: &WorkdirPath, found: &Result<EntryKind, Error>) -> Self {
        match found {
            Err(Error::NotFound { .. }) => {
                let highest = missing_above(workdir, path).pop();
                Self::of(highest.as_ref().unwrap_or(path).parent())
            }
            _ => Self::default(),
        }
    }

    fn of(directory: Option<WorkdirPath>) -> Self {
        Self { directory, asked: OnceLock::new() }
    }

    /// Says to which call the names are shown.
    pub(crate) fn asked_by(&self, cx: &CallContext) {
        if self.directory.is_some() {
            // A call runs once.
            let _ = self.asked.set(cx.clone());
        }
    }

    /// Declares that the names are read.
    pub(crate) fn access(&self) -> Option<Access> {
        self.directory.as_ref().map(|directory| Access::read(resource::tree(directory)).sifted())
    }

    /// Tells whether names in a directory may be shown.
    pub(crate) fn cover(&self, directory: &WorkdirPath) -> bool {
        self.directory.as_ref().is_some_and(|covered| directory.starts_with(covered))
    }

    /// Gives the names near a path that does not exist, as far as they may be shown.
    pub(crate) fn near(&self, workdir: &Workdir, path: &WorkdirPath) -> Vec<WorkdirPath> {
        let Some((covered, cx)) = self.directory.as_ref().zip(self.asked()) else { return Vec::new() };
        // They are from a directory above it, if it is gone meanwhile.
        let is_covered = |near: &WorkdirPath| near.parent().is_some_and(|directory| self.cover(&directory));
        workdir
            .near_names_where(path, |near| is_covered(near) && !is_denied_below(cx, workdir, covered, near))
    }

    /// Gives the call that is asked about what is in a directory before it is named.
    pub(crate) fn asked(&self) -> Option<&CallContext> {
        self.asked.get()
    }
}

/// Tells whether something below a directory is denied, or a directory on the way to it, or where it leads.
fn is_denied_below(cx: &CallContext, workdir: &Workdir, covered: &WorkdirPath, path: &WorkdirPath) -> bool {
    let way =
        iter::successors(path.parent(), WorkdirPath::parent).take_while(|directory| directory != covered);
    if way.into_iter().any(|directory| is_denied(cx, &directory, EntryKind::Directory)) {
        return true;
    }
    match workdir.kind(path) {
        Ok(kind) => is_denied(cx, path, kind),
        // A link, or it is gone meanwhile.
        Err(_) => match workdir.resolve(path.as_str()) {
            Ok(target) => {
                let kind = workdir.kind(&target).unwrap_or(EntryKind::File);
                is_denied(cx, path, EntryKind::File) || is_denied(cx, &target, kind)
            }
            Err(_) => true,
        },
    }
}

/// Gives the directories above a path that do not exist, the lowest first.
pub(crate) fn missing_above(workdir: &Workdir, path: &WorkdirPath) -> Vec<WorkdirPath> {
    let is_missing = |directory: &WorkdirPath| matches!(workdir.kind(directory), Err(Error::NotFound { .. }));
    iter::successors(path.parent(), WorkdirPath::parent).take_while(is_missing).collect()
}
