use super::Request;
use super::file_search::{FileSearch, Outcome};
use super::found::Found;
use super::input::Mode;
use super::visit::{FileMatches, Item, Needed, Part, Tally};
use crate::page::{COUNTED_ON, End, Fit, Page};
use crate::scan::Take;
use crate::watch::{Halt, Watch};
use crate::wording::OneLine;
use haft_workdir::WorkdirPath;
use std::ops::ControlFlow;

/// How many files are searched for no more than counting.
const FILES_COUNTED_ON: u64 = 1000;

/// How many matches may wait for those before them; more threads would only get further ahead.
const MOST_WAITING: usize = 4096;

/// Writes what is found, in the order in which it is given.
pub(super) struct Output<'r> {
    request: &'r Request,
    needed: &'r Needed,
    watch: &'r dyn Watch,
    pub(super) page: Page,
    /// How many matches are shown, or are in the files that are.
    pub(super) shown: u64,
    /// Files that are shown, in order, with how many matches were taken in each.
    pub(super) files: Vec<(WorkdirPath, u64)>,
    /// How many matches there are, or files where these are asked for, with those before `offset`.
    pub(super) total: u64,
    /// Whether there are more than were counted.
    pub(super) has_more: bool,
    pub(super) tally: Tally,
    pub(super) end: End,
    /// How many files were searched when the last was shown.
    searched_at_end: u64,
}

impl<'r> Output<'r> {
    pub(super) fn new(request: &'r Request, needed: &'r Needed, watch: &'r dyn Watch) -> Self {
        Self {
            request,
            needed,
            watch,
            page: Page::default(),
            shown: 0,
            files: Vec::new(),
            total: 0,
            has_more: false,
            tally: Tally::default(),
            end: End::Done,
            searched_at_end: 0,
        }
    }

    pub(super) fn add(&mut self, item: Item) -> ControlFlow<()> {
        match item {
            Item::Tally(tally) => self.tally.add(tally),
            Item::File(file) => {
                self.tally.searched += 1;
                match self.request.mode {
                    Mode::Content => self.add_matches(file),
                    Mode::Files | Mode::Count => self.add_file(file),
                }
            }
        }
        self.needed.set_seen(self.total);
        let most = self.request.offset + self.request.limit + COUNTED_ON;
        let is_counted = self.total >= most
            || self.end != End::Done && self.tally.searched - self.searched_at_end > FILES_COUNTED_ON;
        if is_counted {
            self.total = self.total.min(most);
            self.has_more = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, end: End) {
        self.end = end;
        self.searched_at_end = self.tally.searched;
    }

    fn add_matches(&mut self, FileMatches { path, found, .. }: FileMatches) {
        let Request { offset, limit, .. } = *self.request;
        let before = offset.saturating_sub(self.total);
        self.total += found.matches;
        self.has_more |= found.has_more;
        if self.end != End::Done || found.matches <= before {
            return;
        }
        let found = if found.from == Some(before) { found } else { self.search_again(&path, before, found) };
        let with_context = self.request.before + self.request.after > 0;
        let mut shown = 0;
        let mut fit = Fit::Whole;
        for hit in &found.hits {
            if self.shown + shown == limit || fit != Fit::Whole {
                break;
            }
            fit = self.page.push_hit(hit, with_context);
            shown += u64::from(fit != Fit::Not);
        }
        self.shown += shown;
        if shown > 0 {
            self.files.push((path, shown));
        }
        if fit != Fit::Whole {
            self.end(End::Full);
        } else if before + shown < found.matches {
            self.end(if self.shown == limit { End::Limit } else { End::Full });
        }
    }

    /// Searches a file again for the matches behind the offset, which no thread could know where they are.
    fn search_again(&mut self, path: &WorkdirPath, from: u64, found: Found) -> Found {
        let Ok((file, metadata)) = self.request.workdir.open_file_with_metadata(path) else { return found };
        let name = || OneLine(path.as_str()).to_string();
        let mut search = FileSearch::new(self.request);
        let want = self.request.want(Some(from));
        match search.search(file, metadata.size(), &name, want, &Halt::new(self.watch)) {
            Outcome::Searched(again) | Outcome::TooLarge(again) | Outcome::Stopped(again, _) => again,
            Outcome::Binary | Outcome::Unreadable => found,
        }
    }

    fn add_file(&mut self, FileMatches { path, found, .. }: FileMatches) {
        let is_before = self.total < self.request.offset;
        self.total += 1;
        if is_before || self.end != End::Done {
            return;
        }
        if self.files.len() as u64 == self.request.limit {
            return self.end(End::Limit);
        }
        let shown = OneLine(path.as_str());
        let line = match self.request.mode {
            Mode::Count => format!("{shown}: {}\n", found.matches),
            Mode::Content | Mode::Files => format!("{shown}\n"),
        };
        if self.page.push_line(&line) == Fit::Not {
            return self.end(End::Full);
        }
        self.shown += found.matches;
        self.files.push((path, found.matches));
    }
}

impl Take<Part> for Output<'_> {
    fn take(&mut self, part: Part) -> ControlFlow<()> {
        part.0.into_iter().try_for_each(|item| self.add(item))
    }

    fn most_waiting(&self) -> usize {
        MOST_WAITING
    }
}
