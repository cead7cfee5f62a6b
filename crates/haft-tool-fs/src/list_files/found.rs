use haft_workdir::{EntryKind, Skipped, WalkOptions, WorkdirPath};

/// What a walk over a directory has found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) start: WorkdirPath,
    /// What the walk included.
    pub(super) options: WalkOptions,
    /// In the order of their paths, each directory right before its entries.
    pub(super) entries: Vec<FoundEntry>,
    pub(super) skipped: Skipped,
    /// Whether the walk was ended before it had seen everything.
    pub(super) ended_early: bool,
}

/// One entry of the tree.
#[derive(Debug)]
pub(super) struct FoundEntry {
    pub(super) path: WorkdirPath,
    pub(super) kind: EntryKind,
    /// 1 for an entry of the start.
    pub(super) level: usize,
    pub(super) inside: Inside,
    pub(super) is_shown: bool,
}

/// What is known of a directory's own entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// Nothing: it is below the depth, or no directory.
    Unknown,
    /// It was listed and has this many that can be shown, of which so many are.
    Listed { entries: u64, shown: u64 },
    /// It cannot be listed.
    Unreadable,
}

impl Found {
    /// Chooses what to show: everything if it fits, else the entries nearest to the start.
    pub(super) fn choose(&mut self, limit: usize) {
        let mut per_level: Vec<usize> = Vec::new();
        for entry in &self.entries {
            if per_level.len() < entry.level {
                per_level.resize(entry.level, 0);
            }
            per_level[entry.level - 1] += 1;
        }
        let mut left = limit;
        for count in &mut per_level {
            *count = left.min(*count);
            left -= *count;
        }
        // The place, among the entries, of the directory that each level is in.
        let mut directories: Vec<usize> = Vec::new();
        for index in 0..self.entries.len() {
            let entry = &mut self.entries[index];
            let (level, room) = (entry.level, &mut per_level[entry.level - 1]);
            entry.is_shown = *room > 0;
            *room = room.saturating_sub(1);
            if let Inside::Listed { shown, .. } = &mut entry.inside {
                *shown = 0;
            }
            let is_shown = entry.is_shown;
            directories.truncate(level - 1);
            if let Some(directory) = directories.last()
                && let Inside::Listed { shown, .. } = &mut self.entries[*directory].inside
            {
                *shown += u64::from(is_shown);
            }
            directories.push(index);
        }
    }

    /// Counts the entries that are shown.
    pub(super) fn shown(&self) -> usize {
        self.entries.iter().filter(|entry| entry.is_shown).count()
    }
}
