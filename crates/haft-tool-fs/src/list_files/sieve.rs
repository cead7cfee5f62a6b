use crate::resource;
use haft_tools_core::{Access, CallContext};
use haft_workdir::{EntryKind, Workdir, WorkdirPath};

/// Passes by what is denied to a listing.
pub(super) struct Sieve(Option<Asked>);

/// Who is asked what is denied.
struct Asked {
    cx: CallContext,
    /// Whether a rule denies something of the directory. Where none does, nothing is asked for entries, but for links, which can
    /// lead elsewhere.
    of_entries: bool,
}

impl Sieve {
    /// Passes by what is denied of a directory.
    pub(super) fn of(cx: &CallContext, directory: &WorkdirPath) -> Self {
        let of_entries = cx.denies(&Access::read(resource::tree(directory)));
        Self(Some(Asked { cx: cx.clone(), of_entries }))
    }

    /// Passes nothing by.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Tells whether an entry is not to be named: it is denied, or a link to what is.
    pub(super) fn holds_back(&self, workdir: &Workdir, path: &WorkdirPath, kind: EntryKind) -> bool {
        let Some(Asked { cx, of_entries }) = &self.0 else { return false };
        let target = (kind == EntryKind::Symlink).then(|| workdir.resolve(path.as_str()).ok()).flatten();
        let leads_there = target.is_some_and(|target| {
            let kind = workdir.kind(&target).unwrap_or(EntryKind::File);
            is_denied(cx, &target, kind)
        });
        leads_there || (*of_entries && is_denied(cx, path, kind))
    }
}

/// Tells whether something is denied; of a directory, itself or all that is in it.
fn is_denied(cx: &CallContext, path: &WorkdirPath, kind: EntryKind) -> bool {
    cx.denies(&match kind {
        EntryKind::Directory => Access::read(resource::tree(path)).sifted(),
        _ => Access::read(resource::file(path)),
    })
}
