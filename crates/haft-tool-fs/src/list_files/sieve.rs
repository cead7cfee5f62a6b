use crate::resource;
use haft_tools_core::{Access, CallContext};
use haft_workdir::{EntryKind, UnreadRules, Workdir, WorkdirPath};
use std::iter;

/// Passes by what is denied to a listing.
pub(super) struct Sieve {
    cx: CallContext,
    /// Whether a rule denies something of the directory. Where none does, nothing is asked for entries, but for links, which can
    /// lead elsewhere.
    of_entries: bool,
}

impl Sieve {
    /// Passes by what is denied of a directory.
    pub(super) fn of(cx: &CallContext, directory: &WorkdirPath) -> Self {
        let of_entries = cx.denies(&Access::read(resource::tree(directory)));
        Self { cx: cx.clone(), of_entries }
    }

    /// Says which ignore files are denied to the listing, and do not count for it.
    pub(super) fn unread(&self) -> UnreadRules {
        let cx = self.cx.clone();
        UnreadRules::new(move |file| {
            let mut above =
                iter::successors(file.parent(), WorkdirPath::parent).filter(|path| !path.is_root());
            is_denied(&cx, file, EntryKind::File)
                || above.any(|directory| is_denied(&cx, &directory, EntryKind::Directory))
        })
    }

    /// Tells whether an entry is not to be named: it is denied, or a link to what is.
    pub(super) fn holds_back(&self, workdir: &Workdir, path: &WorkdirPath, kind: EntryKind) -> bool {
        let Self { cx, of_entries } = self;
        let target = (kind == EntryKind::Symlink).then(|| workdir.resolve(path.as_str()).ok()).flatten();
        let leads_there = target.is_some_and(|target| {
            let kind = workdir.kind(&target).unwrap_or(EntryKind::File);
            is_denied(cx, &target, kind)
        });
        leads_there || (*of_entries && is_denied(cx, path, kind))
    }
}

/// Tells whether something is denied; of a directory, itself or all that is in it.
pub(crate) fn is_denied(cx: &CallContext, path: &WorkdirPath, kind: EntryKind) -> bool {
    cx.denies(&match kind {
        EntryKind::Directory => Access::read(resource::tree(path)).sifted(),
        _ => Access::read(resource::file(path)),
    })
}
