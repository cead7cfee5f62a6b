use super::found::{Found, FoundEntry, Inside};
use super::sieve::Sieve;
use crate::blocking::go_on;
use crate::failure::failure;
use haft_core::ToolError;
use haft_workdir::{EntryKind, Skipped, WalkEntry, WalkOptions, Workdir, WorkdirPath};
use tokio_util::sync::CancellationToken;

/// How many entries are held in memory and counted.
const GATHERED_ENTRIES: usize = 20_000;

/// How many entries of one directory are counted that is below the depth.
const COUNTED_ENTRIES: usize = 1000;

/// Walks over a directory.
pub(super) fn gather(
    workdir: &Workdir,
    start: &WorkdirPath,
    depth: usize,
    options: WalkOptions,
    sieve: &Sieve,
    stop: &CancellationToken,
) -> Result<Found, ToolError> {
    let walk = workdir.walk_without(start, options.most_depth(Some(depth)), sieve.unread());
    let mut walk = walk.map_err(failure)?;
    let mut entries: Vec<FoundEntry> = Vec::new();
    // The place, among the entries, of the directory that each level is in.
    let mut directories: Vec<usize> = Vec::new();
    let mut ended_early = false;
    while let Some(step) = walk.next() {
        go_on(stop)?;
        let entry = match step {
            Ok(entry) if sieve.holds_back(workdir, entry.path(), entry.kind()) => {
                walk.hold_back();
                continue;
            }
            Ok(entry) => entry,
            Err(error) => {
                // It is the directory that was yielded last, since the walk enters it next.
                if let Some(entry) = entries.last_mut().filter(|entry| entry.path == *error.path()) {
                    entry.inside = Inside::Unreadable;
                }
                continue;
            }
        };
        if entries.len() == GATHERED_ENTRIES {
            ended_early = true;
            break;
        }
        let kind = entry.kind();
        let path = entry.into_path();
        let level = path.segments().count() - start.segments().count();
        directories.truncate(level - 1);
        if let Some(directory) = directories.last()
            && let Inside::Listed { entries, .. } = &mut entries[*directory].inside
        {
            *entries += 1;
        }
        directories.push(entries.len());
        let is_listed = kind == EntryKind::Directory && level < depth;
        let inside = if is_listed { Inside::Listed { entries: 0, shown: 0 } } else { Inside::Unknown };
        entries.push(FoundEntry { path, kind, level, inside, is_shown: true });
    }
    let skipped = walk.skipped();
    Ok(Found { start: start.clone(), options, entries, skipped, ended_early })
}

/// What is in a directory that a listing does not go into.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    /// At most [`COUNTED_ENTRIES`].
    pub(super) entries: usize,
    pub(super) is_all: bool,
    pub(super) skipped: Skipped,
}

/// Counts the entries of one directory that a listing could show; nothing where it cannot be listed.
pub(super) fn count(
    workdir: &Workdir,
    directory: &WorkdirPath,
    options: WalkOptions,
    sieve: &Sieve,
) -> Option<Counted> {
    let mut walk = workdir.walk_without(directory, options.most_depth(Some(1)), sieve.unread()).ok()?;
    let shown = |entry: &WalkEntry| !sieve.holds_back(workdir, entry.path(), entry.kind());
    let entries = walk.by_ref().take(COUNTED_ENTRIES).flatten().filter(shown).count();
    let is_all = walk.next().is_none();
    Some(Counted { entries, is_all, skipped: walk.skipped() })
}
