use crate::resource;
use haft_tools_core::{Access, CallContext};
use haft_workdir::{EntryKind, Workdir, WorkdirPath};

/// Passes by what is denied to a listing.
pub(super) struct Sieve(Option<CallContext>);

impl Sieve {
    /// Asks for each entry where a rule denies something of the directory, and for none where none does.
    pub(super) fn of(cx: &CallContext, directory: &WorkdirPath) -> Self {
        Self(cx.denies(&Access::read(resource::tree(directory))).then(|| cx.clone()))
    }

    /// Passes nothing by.
    pub(super) fn open() -> Self {
        Self(None)
    }

    /// Tells whether an entry is not to be named: it is denied, or a link to what is.
    pub(super) fn holds_back(&self, workdir: &Workdir, path: &WorkdirPath, kind: EntryKind) -> bool {
        let Some(cx) = &self.0 else { return false };
        let target = (kind == EntryKind::Symlink).then(|| workdir.resolve(path.as_str()).ok()).flatten();
        let leads_there = target.is_some_and(|target| {
            let kind = workdir.kind(&target).unwrap_or(EntryKind::File);
            is_denied(cx, &target, kind)
        });
        leads_there || is_denied(cx, path, kind)
    }
}

fn is_denied(cx: &CallContext, path: &WorkdirPath, kind: EntryKind) -> bool {
    cx.denies(&Access::read(resource::file(path)))
        || (kind == EntryKind::Directory && cx.denies(&Access::read(resource::tree(path)).sifted()))
}
