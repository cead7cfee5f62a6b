use super::Request;
use super::collect::Want;
use super::file_search::{FileSearch, Outcome};
use super::found::Found;
use super::input::Mode;
use crate::left_out::PassedBy;
use crate::order::Order;
use crate::scan::{Place, Visit};
use crate::watch::{Halt, Stop};
use crate::wording::OneLine;
use haft_workdir::{EntryKind, Error, Metadata, Skipped, WalkListing, WorkdirPath};
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// What was looked at and what was not, in a part of a search or all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Files that were searched.
    pub(super) searched: u64,
    pub(super) binary: u64,
    pub(super) too_large: u64,
    pub(super) unreadable_files: u64,
    pub(super) skipped: Skipped,
    pub(super) passed_by: PassedBy,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        let Self { searched, binary, too_large, unreadable_files, skipped, passed_by } = other;
        self.searched += searched;
        self.binary += binary;
        self.too_large += too_large;
        self.unreadable_files += unreadable_files;
        self.skipped += skipped;
        self.passed_by.append(passed_by);
    }
}

/// What a part of a search brings, in the order of the paths.
#[derive(Debug)]
pub(super) enum Item {
    Tally(Tally),
    File(FileMatches),
}

/// A file with matches. It is counted as searched by itself.
#[derive(Debug)]
pub(super) struct FileMatches {
    pub(super) path: WorkdirPath,
    /// When it last changed.
    pub(super) modified: Option<SystemTime>,
    pub(super) found: Found,
}

#[derive(Debug, Default)]
pub(super) struct Part(pub(super) Vec<Item>);

impl Part {
    fn tally(&mut self) -> &mut Tally {
        if !matches!(self.0.last(), Some(Item::Tally(_))) {
            self.0.push(Item::Tally(Tally::default()));
        }
        match self.0.last_mut() {
            Some(Item::Tally(tally)) => tally,
            _ => unreachable!("a tally was put there if none was"),
        }
    }
}

/// What the threads of a search are told meanwhile, so that they do no more than is needed.
#[derive(Debug, Default)]
pub(super) struct Needed {
    /// How many matches were taken so far, or passed over because of `offset`.
    seen: AtomicU64,
    /// What a file must not come behind, where the order is by time: the one that would be given up next.
    last: Mutex<Option<ByTime>>,
}

/// The place of a file where the one changed last comes first.
pub(super) type ByTime = (std::cmp::Reverse<Option<SystemTime>>, WorkdirPath);

impl Needed {
    pub(super) fn set_seen(&self, matches: u64) {
        self.seen.store(matches, Ordering::Relaxed);
    }

    pub(super) fn set_last(&self, last: ByTime) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }

    fn is_too_late(&self, modified: Option<SystemTime>, path: &dyn Fn() -> WorkdirPath) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|last| (std::cmp::Reverse(modified), path()) > *last)
    }
}

/// Searches the files that a request asks for.
pub(super) struct GrepVisit<'r> {
    pub(super) request: &'r Request,
    pub(super) needed: &'r Needed,
}

impl<'r> Visit for GrepVisit<'r> {
    type Buffers = FileSearch<'r>;
    type Part = Part;
    const IS_CHEAP: bool = false;

    fn buffers(&self) -> FileSearch<'r> {
        FileSearch::new(self.request)
    }

    fn choose(
        &self,
        _: &mut FileSearch<'r>,
        start: &WorkdirPath,
        listing: &WalkListing,
        part: &mut Part,
    ) -> Vec<usize> {
        let tally = part.tally();
        tally.skipped += listing.skipped();
        tally.passed_by.add(listing);
        let takes = self.request.filter.below(start, listing.path());
        let entries = listing.entries().iter().enumerate();
        entries
            .filter(|(_, entry)| {
                entry.kind() == EntryKind::File && entry.passed_over().is_none() && takes(entry.name())
            })
            .map(|(at, _)| at)
            .collect()
    }

    fn unreadable(&self, part: &mut Part) {
        part.tally().skipped.unreadable += 1;
    }

    fn visit(
        &self,
        search: &mut FileSearch<'r>,
        place: Place<'_>,
        part: &mut Part,
        halt: &Halt<'_>,
    ) -> Result<(), Stop> {
        let (file, metadata) = match self.open(place) {
            Ok(opened) => opened,
            Err(Error::NotFound { .. }) => return Ok(()),
            Err(_) => {
                part.tally().unreadable_files += 1;
                return Ok(());
            }
        };
        let path = || match place {
            Place::Entry(listing, entry) => listing.path_of(entry),
            Place::Path(path) => path.clone(),
        };
        let modified = metadata.modified();
        if self.request.sort == Order::Modified && self.needed.is_too_late(modified, &path) {
            part.tally().searched += 1;
            return Ok(());
        }
        let name = || OneLine(path().as_str()).to_string();
        let outcome = search.search(file, metadata.size(), &name, self.want(), halt);
        let (found, end) = match outcome {
            Outcome::Searched(found) => (found, Ok(())),
            Outcome::TooLarge(found) => {
                part.tally().too_large += 1;
                (found, Ok(()))
            }
            Outcome::Binary => {
                part.tally().binary += 1;
                return Ok(());
            }
            Outcome::Unreadable => {
                part.tally().unreadable_files += 1;
                return Ok(());
            }
            Outcome::Stopped(found, stop) => (found, Err(stop)),
        };
        if found.matches > 0 {
            part.0.push(Item::File(FileMatches { path: path(), modified, found }));
        } else if end.is_ok() {
            part.tally().searched += 1;
        }
        end
    }

    fn weight(part: &Part) -> usize {
        let weight = |item: &Item| match item {
            Item::Tally(_) => 0,
            Item::File(file) => 1 + file.found.hits.len(),
        };
        part.0.iter().map(weight).sum()
    }
}

impl GrepVisit<'_> {
    fn open(&self, place: Place<'_>) -> Result<(File, Metadata), Error> {
        match place {
            Place::Entry(listing, entry) => listing.open_file(entry),
            Place::Path(path) => self.request.workdir.open_file_with_metadata(path),
        }
    }

    fn want(&self) -> Want {
        let is_behind = self.needed.seen.load(Ordering::Relaxed) >= self.request.offset;
        let from =
            (self.request.mode == Mode::Content && (self.request.offset == 0 || is_behind)).then_some(0);
        self.request.want(from)
    }
}

impl Request {
    /// Says what is wanted of a file of which the matches from this one on are shown.
    pub(super) fn want(&self, from: Option<u64>) -> Want {
        let count = match self.mode {
            Mode::Content => self.offset + self.limit + crate::page::COUNTED_ON,
            Mode::Files => 1,
            Mode::Count => u64::MAX,
        };
        Want { count, from, write: usize::try_from(self.limit).unwrap_or(usize::MAX) }
    }
}
