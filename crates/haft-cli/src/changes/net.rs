//! What a run has changed from its beginning to its end, whatever it did in between.

use haft::workdir::{ChangeSet, ChangeStep, PathState};
use std::collections::BTreeMap;

/// The directory in which tools keep what they delete.
const TRASH: &str = ".haft-trash/";

/// Is what became of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Net {
    /// Where it was; the same as where it is if it was not moved.
    pub(super) was_at: String,
    pub(super) before: PathState,
    pub(super) after: PathState,
}

/// Puts the changes of sets together, by where entries are in the end.
pub(super) fn net<'s>(sets: impl IntoIterator<Item = &'s ChangeSet>) -> BTreeMap<String, Net> {
    let mut entries: BTreeMap<String, Net> = BTreeMap::new();
    for step in sets.into_iter().flat_map(|set| &set.steps) {
        match step {
            ChangeStep::Set { path, before, after } => {
                let entry = entries.entry(path.clone()).or_insert_with(|| Net {
                    was_at: path.clone(),
                    before: before.clone(),
                    after: before.clone(),
                });
                entry.after = after.clone();
            }
            ChangeStep::Move { from, to, what } => {
                let mut moved = BTreeMap::new();
                entries.retain(|path, entry| {
                    let is_there = entry.after.is_there();
                    let rest = path
                        .strip_prefix(from.as_str())
                        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
                    match rest {
                        Some(rest) if is_there => {
                            moved.insert(format!("{to}{rest}"), entry.clone());
                            false
                        }
                        _ => true,
                    }
                });
                moved.entry(to.clone()).or_insert_with(|| Net {
                    was_at: from.clone(),
                    before: what.clone(),
                    after: what.clone(),
                });
                // What was removed from there before is no part of what is there now.
                for (path, mut entry) in moved {
                    if let Some(gone) = entries.remove(&path)
                        && gone.before.is_there()
                    {
                        let apart = entry.before.is_there();
                        if apart {
                            entries.insert(format!("{path}\0"), gone);
                        } else {
                            (entry.was_at, entry.before) = (gone.was_at, gone.before);
                        }
                    }
                    entries.insert(path, entry);
                }
            }
            _ => {}
        }
    }
    // An entry that stands beside another at its place is known by where it was.
    let entries = entries.into_iter().map(|(path, mut entry)| {
        if path.starts_with(TRASH) && entry.before.is_there() && !entry.was_at.starts_with(TRASH) {
            entry.after = PathState::Absent;
            return (entry.was_at.clone(), entry);
        }
        (path.trim_end_matches('\0').to_owned(), entry)
    });
    let mut shown = BTreeMap::new();
    for (path, entry) in
        entries.filter(|(path, _)| !path.starts_with(TRASH) && *path != TRASH[..TRASH.len() - 1])
    {
        let is_same = entry.before == entry.after && entry.was_at == path;
        if !is_same && (entry.before.is_there() || entry.after.is_there()) {
            // Where something was removed and another came, both are the change of the one place.
            let merged = match shown.remove(&path) {
                Some(Net { was_at, before, after: PathState::Absent }) if !entry.before.is_there() => {
                    Net { was_at, before, after: entry.after }
                }
                Some(Net { before: PathState::Absent, after, .. }) if !entry.after.is_there() => {
                    Net { was_at: entry.was_at, before: entry.before, after }
                }
                _ => entry,
            };
            shown.insert(path, merged);
        }
    }
    shown
}
