use super::Request;
use super::entry::Entry;
use super::input::Role;
use super::tally::Tally;
use super::visit::{Entries, FileNamed, Item, Part};
use crate::page::COUNTED_ON;
use crate::scan::Take;
use haft_workdir::WorkdirPath;
use std::ops::ControlFlow;
use std::sync::Arc;

/// How many places may wait for those before them.
const MOST_WAITING: usize = 4096;

/// Gathers where a name is, in the order of the paths.
pub(super) struct Places {
    role: Role,
    /// How many of each can be needed.
    most: u64,
    pub(super) definitions: Gathered,
    pub(super) references: Gathered,
    /// Whether there are more than were counted.
    pub(super) has_more: bool,
    pub(super) tally: Tally,
}

/// The first places of one kind, and how many there are.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) total: u64,
    pub(super) first: Vec<(Arc<WorkdirPath>, Entry)>,
}

impl Places {
    pub(super) fn new(request: &Request, role: Role) -> Self {
        Self {
            role,
            most: request.offset + request.limit,
            definitions: Gathered::default(),
            references: Gathered::default(),
            has_more: false,
            tally: Tally::default(),
        }
    }

    fn add(&mut self, item: Item) -> ControlFlow<()> {
        match item {
            Item::Tally(tally) => self.tally.add(&tally),
            Item::Named(FileNamed { path, is_broken, definitions, references }) => {
                self.tally.searched += 1;
                self.tally.broken += u64::from(is_broken);
                let path = Arc::new(path);
                self.definitions.add(&path, definitions, self.most);
                self.references.add(&path, references, self.most);
            }
            Item::Outlined(_) => {}
        }
        let enough = self.most + COUNTED_ON;
        let is_enough = |is_asked: bool, gathered: &Gathered| !is_asked || gathered.total >= enough;
        if is_enough(self.role.has_definitions(), &self.definitions)
            && is_enough(self.role.has_references(), &self.references)
        {
            self.has_more = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Gathered {
    fn add(&mut self, path: &Arc<WorkdirPath>, found: Entries, most: u64) {
        self.total += found.total;
        let room = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(self.first.len());
        self.first.extend(found.entries.into_iter().take(room).map(|entry| (Arc::clone(path), entry)));
    }
}

impl Take<Part> for Places {
    fn take(&mut self, part: Part) -> ControlFlow<()> {
        part.0.into_iter().try_for_each(|item| self.add(item))
    }

    fn most_waiting(&self) -> usize {
        MOST_WAITING
    }
}
