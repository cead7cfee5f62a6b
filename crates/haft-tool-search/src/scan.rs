//! Walks and looks into a tree on several threads, and hands on what is found in the order of the paths.
//!
//! The work is cut into parts: to list a directory, or to visit a run of its entries. A thread always takes the first part in
//! the order of the paths that nobody has taken, so the threads stay close together, and what they find is handed on as
//! soon as all before it has been. That keeps the memory small, lets a search stop early, and gives the same result every
//! time, whatever the threads do.

mod order;

use crate::watch::{Cancelled, Halt, Stop, Watch};
use crate::wording::counted;
use haft_workdir::{EntryKind, Error, ListedEntry, WalkDirectory, WalkListing, WorkdirPath};
use order::{Board, Key};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many entries one part visits at most, so that the files of one directory are shared among threads; where visits are
/// cheap, after how many of them it is asked whether to stop.
const RUN: usize = 32;

/// Down to which depth directories are kept open until their files are visited. Of deeper ones there could be more than a
/// process may have open.
const OPEN_DEPTH: usize = 48;

/// How many threads help at most; more would wait for the disk.
const MOST_THREADS: usize = 12;

/// What a search does with what it meets.
pub(crate) trait Visit: Sync {
    /// What a thread keeps from one entry to the next.
    type Buffers;

    /// What is found in a part.
    type Part: Default + Send;

    /// Whether visiting costs so little that the thread that listed a directory does it right away.
    const IS_CHEAP: bool;

    fn buffers(&self) -> Self::Buffers;

    /// Notes what matters about a directory as a whole, and chooses the entries to visit, by their places in the listing.
    fn choose(
        &self,
        buffers: &mut Self::Buffers,
        start: &WorkdirPath,
        listing: &WalkListing,
        part: &mut Self::Part,
    ) -> Vec<usize>;

    /// Notes a directory that cannot be listed.
    fn unreadable(&self, part: &mut Self::Part);

    /// Visits an entry, unless it should stop.
    fn visit(
        &self,
        buffers: &mut Self::Buffers,
        place: Place<'_>,
        part: &mut Self::Part,
        halt: &Halt<'_>,
    ) -> Result<(), Stop>;

    /// How much a part weighs that waits to be handed on; what weighs nothing may wait in any number.
    fn weight(part: &Self::Part) -> usize;
}

/// Where an entry is that is visited.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// An entry of an open directory.
    Entry(&'a WalkListing, &'a ListedEntry),
    /// A file at the end of this path.
    Path(&'a WorkdirPath),
}

/// Takes the parts in the order of the paths.
pub(crate) trait Take<P>: Send {
    /// Takes the next part; breaks when nothing more is needed.
    fn take(&mut self, part: P) -> ControlFlow<()>;

    /// How much may wait to be taken, by [`Visit::weight`].
    fn most_waiting(&self) -> usize;
}

/// Where a search starts.
pub(crate) enum Seed {
    File(WorkdirPath),
    Directory(WalkListing),
}

/// What a search did not come to because time was over. What is in directories that were not listed is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    /// Files that were known and not looked at to their end.
    pub(crate) files: u64,
    /// Directories that were known and not listed.
    pub(crate) directories: u64,
}

/// Something to be done.
enum Task {
    List { start: Arc<WorkdirPath>, directory: WalkDirectory },
    Visit(Run),
    VisitFile(WorkdirPath),
}

/// Some entries of one directory.
enum Run {
    Open {
        listing: Arc<WalkListing>,
        entries: Vec<usize>,
    },
    /// Their paths, of a directory that is not kept open.
    Paths(Vec<WorkdirPath>),
}

/// What all threads of a search share.
struct Shared<'a, V: Visit, T> {
    visit: &'a V,
    halt: Halt<'a>,
    starts: HashSet<WorkdirPath>,
    state: Mutex<State<V::Part, T>>,
    news: Condvar,
}

struct State<P, T> {
    board: Board<Task, P>,
    take: T,
    /// How many threads wait for something to do.
    waiting: usize,
    rest: Rest,
    /// Why the search stops before its end.
    stop: Option<Stop>,
}

/// The state, which one thread has at a time.
type Locked<'s, V, T> = MutexGuard<'s, State<<V as Visit>::Part, T>>;

/// Searches from all seeds, which have different paths; gives what takes the parts back, and what is left where time was
/// over.
///
/// A start that lies below another is visited once, as its own start.
pub(crate) fn scan<V: Visit, T: Take<V::Part>>(
    visit: &V,
    take: T,
    seeds: Vec<Seed>,
    threads: usize,
    watch: &dyn Watch,
) -> Result<(T, Option<Rest>), Cancelled> {
    let starts = seeds.iter().map(|seed| seed.path().clone()).collect();
    let state = State { board: Board::new(), take, waiting: 0, rest: Rest::default(), stop: None };
    let shared =
        Shared { visit, halt: Halt::new(watch), starts, state: Mutex::new(state), news: Condvar::new() };
    for seed in seeds {
        shared.plant(seed);
    }
    let helpers = threads.saturating_sub(1).min(shared.state().board.queued().saturating_sub(1));
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| shared.work());
        }
        shared.work();
    });
    let mut state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.stop {
        None | Some(Stop::Enough) => Ok((state.take, None)),
        Some(Stop::Cancelled) => Err(Cancelled),
        Some(Stop::OutOfTime) => {
            for task in state.board.unfinished() {
                state.rest.add(&task);
            }
            for part in state.board.into_done() {
                if state.take.take(part).is_break() {
                    break;
                }
            }
            Ok((state.take, Some(state.rest)))
        }
    }
}

/// How many threads a search uses.
pub(crate) fn usual_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

impl Seed {
    fn path(&self) -> &WorkdirPath {
        match self {
            Self::File(path) => path,
            Self::Directory(listing) => listing.path(),
        }
    }
}

impl Rest {
    /// Says so to the model.
    pub(crate) fn in_words(self) -> String {
        let mut parts = Vec::new();
        if self.files > 0 {
            parts.push(counted(self.files, "file"));
        }
        if self.directories > 0 {
            parts.push(format!("{} with all that is in them", counted(self.directories, "directory")));
        }
        if parts.is_empty() {
            return "stopped because time was over".to_owned();
        }
        format!("stopped because time was over, before {}", parts.join(" and "))
    }

    /// Says so to the model whose search was for names; empty where there was time for all.
    pub(crate) fn next_step(rest: Option<Self>) -> String {
        rest.map(|rest| format!("{}; search a smaller directory", rest.in_words())).unwrap_or_default()
    }

    /// Says so to the host.
    pub(crate) fn details(self) -> Value {
        json!({ "files": self.files, "directories": self.directories })
    }

    fn add(&mut self, task: &Task) {
        match task {
            Task::List { .. } => self.directories += 1,
            Task::Visit(run) => self.files += run.len() as u64,
            Task::VisitFile(_) => self.files += 1,
        }
    }
}

impl Run {
    fn len(&self) -> usize {
        match self {
            Self::Open { entries, .. } => entries.len(),
            Self::Paths(paths) => paths.len(),
        }
    }
}

impl<V: Visit, T: Take<V::Part>> Shared<'_, V, T> {
    fn state(&self) -> Locked<'_, V, T> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plant(&self, seed: Seed) {
        match seed {
            Seed::File(path) => self.state().board.add(Key::of(&path), Task::VisitFile(path)),
            Seed::Directory(listing) => {
                let start = Arc::new(listing.path().clone());
                let key = Key::of(&start);
                self.state().board.add_taken(key.clone());
                let mut buffers = self.visit.buffers();
                drop(self.spread(&key, &start, listing, &mut buffers, false));
            }
        }
    }

    /// Does one part after the other until there is none left. To put away what was found and to take the next part is one step,
    /// so that threads stand in each other's way half as often.
    fn work(&self) {
        let _wakes_the_others = Leaving(self);
        let mut buffers = self.visit.buffers();
        let mut state = self.state();
        while let Some((key, task)) = self.claim(state) {
            state = match task {
                Task::List { start, directory } => match directory.list() {
                    Ok(listing) => self.spread(&key, &start, listing, &mut buffers, true),
                    // One that is gone has no entries.
                    Err(Error::NotFound { .. }) => self.finish(&key, V::Part::default(), Ok(()), 0),
                    Err(_) => {
                        let mut part = V::Part::default();
                        self.visit.unreadable(&mut part);
                        self.finish(&key, part, Ok(()), 0)
                    }
                },
                Task::Visit(run) => self.run(&key, &run, &mut buffers),
                Task::VisitFile(path) => self.run(&key, &Run::Paths(vec![path]), &mut buffers),
            };
        }
    }

    /// Takes the first part that nobody has taken; waits where there may be one later.
    fn claim<'s>(&'s self, mut state: Locked<'s, V, T>) -> Option<(Key, Task)> {
        loop {
            if state.stop.is_some() || state.board.is_done() {
                return None;
            }
            if let Err(stop) = self.halt.check() {
                self.stop(&mut state, stop);
                return None;
            }
            // What comes first must go on whatever waits for it.
            let is_full = state.board.waiting() > state.take.most_waiting() && !state.board.is_first_queued();
            if !is_full && let Some(found) = state.board.claim() {
                return Some(found);
            }
            state.waiting += 1;
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    fn run(&self, key: &Key, run: &Run, buffers: &mut V::Buffers) -> Locked<'_, V, T> {
        let mut part = V::Part::default();
        let (result, left) = match run {
            Run::Open { listing, entries } => {
                let places = entries.iter().map(|at| Place::Entry(listing, &listing.entries()[*at]));
                self.visit_all(places, buffers, &mut part)
            }
            Run::Paths(paths) => self.visit_all(paths.iter().map(Place::Path), buffers, &mut part),
        };
        self.finish(key, part, result, left)
    }

    /// Visits one entry after the other; tells why it stopped, and how many were left.
    fn visit_all<'p>(
        &self,
        places: impl ExactSizeIterator<Item = Place<'p>>,
        buffers: &mut V::Buffers,
        part: &mut V::Part,
    ) -> (Result<(), Stop>, usize) {
        let all = places.len();
        // To ask before each, and to say so after each, would cost more than some visits do.
        let at_once = if V::IS_CHEAP { RUN } else { 1 };
        for (done, place) in places.enumerate() {
            let asked = if done % at_once == 0 { self.halt.check() } else { Ok(()) };
            let visited = asked.and_then(|()| self.visit.visit(buffers, place, part, &self.halt));
            if let Err(stop) = visited {
                return (Err(stop), all - done);
            }
            if (done + 1) % at_once == 0 {
                self.halt.look_at(at_once);
            }
        }
        self.halt.look_at(all % at_once);
        (Ok(()), 0)
    }

    /// Cuts what is in a directory into parts, and does what comes first in it right away if it should.
    fn spread(
        &self,
        key: &Key,
        start: &Arc<WorkdirPath>,
        mut listing: WalkListing,
        buffers: &mut V::Buffers,
        right_away: bool,
    ) -> Locked<'_, V, T> {
        self.halt.sift(&mut listing);
        let mut part = V::Part::default();
        let chosen = self.visit.choose(buffers, start, &listing, &mut part);
        let (mut runs, directories) = self.cut(&listing, &chosen);
        // What comes before all else in the directory needs no part of its own. Another start could come before it.
        let comes_first =
            |(run, _): &(Key, _)| directories.first().is_none_or(|(directory, _)| run < directory);
        let has_own =
            (right_away || V::IS_CHEAP) && self.starts.len() == 1 && runs.first().is_some_and(comes_first);
        let own = if has_own { runs.remove(0).1 } else { 0..0 };
        let directories = directories
            .into_iter()
            .map(|(key, directory)| (key, Task::List { start: Arc::clone(start), directory }));
        let place = |at: &usize| Place::Entry(&listing, &listing.entries()[*at]);
        if V::IS_CHEAP {
            let (mut result, mut left) = self.visit_all(chosen[own].iter().map(place), buffers, &mut part);
            let mut done = Vec::with_capacity(runs.len());
            for (key, range) in runs {
                let entries = &chosen[range];
                let mut part = V::Part::default();
                let (stopped, unvisited) = match result {
                    Ok(()) => self.visit_all(entries.iter().map(place), buffers, &mut part),
                    stopped => (stopped, entries.len()),
                };
                result = stopped;
                left += unvisited;
                done.push((key, part));
            }
            let directories: Vec<_> = directories.collect();
            let mut state = self.state();
            for (key, part) in done {
                let weight = V::weight(&part);
                state.board.add_done(key, part, weight);
            }
            self.add(&mut state, directories);
            self.finish_in(&mut state, key, part, result, left);
            return state;
        }
        let is_deep = listing.path().segments().count() > OPEN_DEPTH;
        let listing = Arc::new(listing);
        let runs = runs.into_iter().map(|(key, range)| {
            let entries = chosen[range].to_vec();
            let run = if is_deep {
                let paths = entries.iter().map(|at| listing.path_of(&listing.entries()[*at]));
                Run::Paths(paths.collect())
            } else {
                Run::Open { listing: Arc::clone(&listing), entries }
            };
            (key, Task::Visit(run))
        });
        let tasks: Vec<_> = runs.chain(directories).collect();
        self.add(&mut self.state(), tasks);
        let place = |at: &usize| Place::Entry(&listing, &listing.entries()[*at]);
        let (result, left) = self.visit_all(chosen[own].iter().map(place), buffers, &mut part);
        self.finish(key, part, result, left)
    }

    /// Cuts the chosen entries into runs between which nothing lies that is handed on by itself, and finds the directories
    /// to go on in.
    #[expect(clippy::type_complexity, reason = "two lists, each of keys with what they are the keys of")]
    fn cut(
        &self,
        listing: &WalkListing,
        chosen: &[usize],
    ) -> (Vec<(Key, Range<usize>)>, Vec<(Key, WalkDirectory)>) {
        let has_starts = self.starts.len() > 1;
        let mut runs = Vec::new();
        let mut directories = Vec::new();
        let mut next = 0;
        let mut first = 0;
        let mut end_run = |from: usize, to: usize| {
            if from < to {
                let first = &listing.entries()[chosen[from]];
                runs.push((Key::of_entry(listing.path(), first.name()), from..to));
            }
        };
        let most = if V::IS_CHEAP { usize::MAX } else { RUN };
        for (at, entry) in listing.entries().iter().enumerate() {
            let is_chosen = chosen.get(next) == Some(&at);
            let is_directory = entry.kind() == EntryKind::Directory;
            let is_other_start = has_starts && self.starts.contains(&listing.path_of(entry));
            if is_chosen && !is_other_start {
                if next - first == most {
                    end_run(first, next);
                    first = next;
                }
                next += 1;
            } else if is_chosen {
                end_run(first, next);
                next += 1;
                first = next;
            }
            if (is_directory && entry.passed_over().is_none()) || (has_starts && !is_chosen) {
                end_run(first, next);
                first = next;
            }
            if !is_other_start && let Some(directory) = listing.enter(entry) {
                // A directory that is itself visited comes right before what is in it.
                directories.push((Key::inside(directory.path()), directory));
            }
        }
        end_run(first, next);
        (runs, directories)
    }

    fn add(&self, state: &mut State<V::Part, T>, tasks: Vec<(Key, Task)>) {
        let more = tasks.len();
        for (key, task) in tasks {
            state.board.add(key, task);
        }
        for _ in 0..more.min(state.waiting) {
            self.news.notify_one();
        }
    }

    fn finish(&self, key: &Key, part: V::Part, result: Result<(), Stop>, left: usize) -> Locked<'_, V, T> {
        let mut state = self.state();
        self.finish_in(&mut state, key, part, result, left);
        state
    }

    /// Puts what was found in a part to the rest, and hands on all that is ready.
    fn finish_in(
        &self,
        state: &mut State<V::Part, T>,
        key: &Key,
        part: V::Part,
        result: Result<(), Stop>,
        left: usize,
    ) {
        let weight = V::weight(&part);
        state.board.finish(key, part, weight);
        if let Err(stop) = result {
            state.rest.files += left as u64;
            self.stop(state, stop);
        }
        if state.stop.is_some() {
            return;
        }
        let was_full = state.board.waiting() > state.take.most_waiting();
        while let Some(part) = state.board.next_done() {
            if state.take.take(part).is_break() {
                self.halt.set_enough();
                self.stop(state, Stop::Enough);
                return;
            }
        }
        if was_full || state.board.is_done() {
            self.news.notify_all();
        }
    }

    fn stop(&self, state: &mut State<V::Part, T>, stop: Stop) {
        state.stop.get_or_insert(stop);
        self.news.notify_all();
    }
}

/// Ends the search when a thread leaves it, so that none waits for one that broke.
struct Leaving<'s, 'a, V: Visit, T: Take<V::Part>>(&'s Shared<'a, V, T>);

impl<V: Visit, T: Take<V::Part>> Drop for Leaving<'_, '_, V, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut state = self.0.state();
            self.0.stop(&mut state, Stop::Cancelled);
        }
    }
}
