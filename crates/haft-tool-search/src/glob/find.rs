use super::Request;
use crate::left_out::{LeftOut, PassedBy};
use crate::order::Order;
use crate::scan::{Place, Rest, Take, Visit, scan};
use crate::start::seed_in;
use crate::watch::{Cancelled, Halt, Stop, Watch};
use haft_core::ToolError;
use haft_workdir::{EntryKind, Skipped, WalkListing, WalkOptions, WorkdirPath};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// How many matches may wait for those before them.
const MOST_WAITING: usize = 16_384;

/// How many paths that nearly match are named.
const NEAR_MAX: usize = 3;

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The first paths, in the order asked for, up to the limit.
    pub(super) paths: Vec<WorkdirPath>,
    /// How many paths match.
    pub(super) total: u64,
    /// How many entries were looked at.
    pub(super) looked_at: u64,
    pub(super) skipped: Skipped,
    /// What was not looked at because time was over.
    pub(super) rest: Option<Rest>,
    /// When nothing matches, what nearly does.
    pub(super) near: Vec<Near>,
    /// When nothing matches, what would if it were not left out.
    pub(super) overlooked: Option<LeftOut>,
}

/// Something that does not match but may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Near {
    pub(super) path: WorkdirPath,
    pub(super) is_directory: bool,
}

impl Near {
    fn kind(&self) -> EntryKind {
        if self.is_directory { EntryKind::Directory } else { EntryKind::File }
    }
}

/// Finds what the request asks for.
pub(super) fn find(request: &Request, watch: &dyn Watch) -> Result<Findings, ToolError> {
    let Request { workdir, start, .. } = request;
    let options = WalkOptions::default().hidden(request.hidden).ignored(request.no_ignore);
    let seeds = vec![seed_in(workdir, start, options, watch)?];
    let has_enough = AtomicBool::new(false);
    let visit = GlobVisit { request, has_match: AtomicBool::new(false), has_enough: &has_enough };
    let gathered = Gathered {
        findings: Findings::default(),
        first: First::new(request),
        has_enough: &has_enough,
        passed_by: PassedBy::default(),
    };
    let (gathered, rest) = scan(&visit, gathered, seeds, request.options.threads, watch)?;
    let Gathered { mut findings, first, passed_by, .. } = gathered;
    findings.paths = first.into_paths();
    findings.rest = rest;
    if findings.total > 0 {
        findings.near.clear();
    } else if rest.is_none() {
        findings.overlooked = overlooked(request, passed_by, watch)?;
        if findings.near.is_empty() {
            findings.near = near_directories(request, watch);
        }
    }
    Ok(findings)
}

/// Looks for entries that match, of the kind asked for.
struct GlobVisit<'r> {
    request: &'r Request,
    /// Whether something matches, so that what nearly does is not needed.
    has_match: AtomicBool,
    /// Whether as many were taken as are shown, so that what comes behind them is only counted.
    has_enough: &'r AtomicBool,
}

/// What is found in a part of the tree.
#[derive(Default)]
struct Part {
    matches: Vec<Match>,
    /// Matches that are not among those, because no more are shown.
    counted: u64,
    near: Vec<Near>,
    looked_at: u64,
    skipped: Skipped,
    passed_by: PassedBy,
}

/// An entry that is of the kind asked for.
struct Match {
    path: WorkdirPath,
    /// When it last changed; only looked up where the order is by that.
    modified: Option<SystemTime>,
}

impl Visit for GlobVisit<'_> {
    /// The path that is compared, relative to the start.
    type Buffers = String;
    type Part = Part;
    const IS_CHEAP: bool = true;

    fn buffers(&self) -> String {
        String::new()
    }

    fn choose(
        &self,
        relative: &mut String,
        start: &WorkdirPath,
        listing: &WalkListing,
        part: &mut Part,
    ) -> Vec<usize> {
        part.skipped = listing.skipped();
        part.passed_by.add(listing);
        let pattern = &self.request.pattern;
        let wanted = self.request.wanted();
        relative.clear();
        relative.push_str(listing.path().relative_to(start).unwrap_or_default());
        if !relative.is_empty() {
            relative.push('/');
        }
        let above = relative.len();
        let mut chosen = Vec::new();
        for (at, entry) in listing.entries().iter().enumerate() {
            if entry.passed_over().is_some() {
                continue;
            }
            part.looked_at += 1;
            relative.truncate(above);
            relative.push_str(entry.name());
            let kind = entry.kind();
            if (kind == wanted || kind == EntryKind::Symlink) && pattern.matches(relative) {
                chosen.push(at);
            } else if part.near.len() < NEAR_MAX
                && !self.has_match.load(Ordering::Relaxed)
                && matches!(kind, EntryKind::File | EntryKind::Directory)
                && pattern.nearly_matches(relative)
            {
                let is_directory = kind == EntryKind::Directory;
                part.near.push(Near { path: listing.path_of(entry), is_directory });
            }
        }
        chosen
    }

    fn unreadable(&self, part: &mut Part) {
        part.skipped.unreadable += 1;
    }

    fn visit(&self, _: &mut String, place: Place<'_>, part: &mut Part, halt: &Halt<'_>) -> Result<(), Stop> {
        let Place::Entry(listing, entry) = place else { return Ok(()) };
        // What was taken comes before all that was not, so this is not shown.
        if entry.kind() != EntryKind::Symlink && self.has_enough.load(Ordering::Relaxed) {
            part.counted += 1;
        } else if let Some(found) = self.found(listing.path_of(entry), entry.kind(), halt) {
            self.has_match.store(true, Ordering::Relaxed);
            part.matches.push(found);
        }
        Ok(())
    }

    fn weight(part: &Part) -> usize {
        part.matches.len()
    }
}

impl GlobVisit<'_> {
    /// Takes an entry of the kind asked for. A symbolic link is taken for what it leads to, if that is inside the same root.
    fn found(&self, path: WorkdirPath, kind: EntryKind, halt: &Halt<'_>) -> Option<Match> {
        let request = self.request;
        let is_link = kind == EntryKind::Symlink;
        let target = if is_link {
            let target = request.workdir.resolve(path.as_str()).ok()?;
            // What is in another root is not declared to be looked at.
            Some(target).filter(|target| target.is_absolute() == request.start.is_absolute())?
        } else {
            path.clone()
        };
        let mut modified = None;
        if is_link || request.order == Order::Modified {
            let metadata = request.workdir.metadata(&target).ok()?;
            let is_denied = is_link && halt.denies(&target, metadata.kind());
            if is_denied || metadata.kind() != request.wanted() {
                return None;
            }
            modified = metadata.modified();
        }
        Some(Match { path, modified })
    }
}

/// Puts the parts together.
struct Gathered<'r> {
    findings: Findings,
    first: First,
    has_enough: &'r AtomicBool,
    passed_by: PassedBy,
}

impl Take<Part> for Gathered<'_> {
    fn take(&mut self, part: Part) -> ControlFlow<()> {
        let Self { findings, first, has_enough, passed_by } = self;
        findings.total += part.matches.len() as u64 + part.counted;
        part.matches.into_iter().for_each(|found| first.add(found));
        if first.is_settled() {
            has_enough.store(true, Ordering::Relaxed);
        }
        let room = NEAR_MAX - findings.near.len();
        findings.near.extend(part.near.into_iter().take(room));
        findings.looked_at += part.looked_at;
        findings.skipped += part.skipped;
        passed_by.append(part.passed_by);
        ControlFlow::Continue(())
    }

    fn most_waiting(&self) -> usize {
        MOST_WAITING
    }
}

impl Request {
    /// The kind of entries asked for.
    fn wanted(&self) -> EntryKind {
        if self.pattern.wants_directories() { EntryKind::Directory } else { EntryKind::File }
    }
}

/// The first matches in the order asked for; it never holds more than the limit.
enum First {
    ByPath {
        paths: Vec<WorkdirPath>,
        limit: usize,
    },
    /// The one to be given up first is the one changed longest ago, and of those the one with the last path.
    ByTime {
        heap: BinaryHeap<(Reverse<Option<SystemTime>>, WorkdirPath)>,
        limit: usize,
    },
}

impl First {
    fn new(request: &Request) -> Self {
        let limit = request.limit;
        match request.order {
            Order::Path => Self::ByPath { paths: Vec::new(), limit },
            Order::Modified => Self::ByTime { heap: BinaryHeap::new(), limit },
        }
    }

    fn add(&mut self, found: Match) {
        match self {
            Self::ByPath { paths, limit } if paths.len() < *limit => paths.push(found.path),
            Self::ByPath { .. } => {}
            Self::ByTime { heap, limit } => {
                heap.push((Reverse(found.modified), found.path));
                if heap.len() > *limit {
                    heap.pop();
                }
            }
        }
    }

    /// Tells whether nothing that comes behind can be among them.
    fn is_settled(&self) -> bool {
        matches!(self, Self::ByPath { paths, limit } if paths.len() >= *limit)
    }

    fn into_paths(self) -> Vec<WorkdirPath> {
        match self {
            Self::ByPath { paths, .. } => paths,
            Self::ByTime { heap, .. } => heap.into_sorted_vec().into_iter().map(|(_, path)| path).collect(),
        }
    }
}

/// Looks for a match among what was left out because it is hidden or ignored; bounded, so it may miss one.
fn overlooked(
    request: &Request,
    passed_by: PassedBy,
    watch: &dyn Watch,
) -> Result<Option<LeftOut>, Cancelled> {
    for entry in passed_by.left_out(&request.workdir, request.hidden, watch) {
        if watch.is_cancelled() {
            return Err(Cancelled);
        }
        let relative = entry.path.relative_to(&request.start);
        let is_wanted = entry.kind == request.wanted() && !watch.denies_way_to(&entry.path, entry.kind);
        if is_wanted && relative.is_some_and(|path| request.pattern.matches(path)) {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

/// Finds what the directories that the pattern starts with were probably meant to be, where they do not exist.
fn near_directories(request: &Request, watch: &dyn Watch) -> Vec<Near> {
    let Request { workdir, start, text, .. } = request;
    let is_plain = |name: &&str| !name.contains(['*', '?', '[', ']', '{', '}', '\\']);
    let names = text.split('/').filter(|name| !matches!(*name, "" | ".")).take_while(is_plain);
    let literal = names.fold(start.clone(), |path, name| path.join_file_name(name).unwrap_or(path));
    let of = |path: WorkdirPath| {
        let is_directory = workdir.kind(&path).is_ok_and(|kind| kind == EntryKind::Directory);
        Near { path, is_directory }
    };
    // Only what is below the start is declared; if that is gone meanwhile, the names are from above it.
    let may_be_named =
        |path: &WorkdirPath| path.starts_with(start) && !watch.denies_way_to(path, of(path.clone()).kind());
    workdir.near_names_where(&literal, may_be_named).into_iter().map(of).collect()
}

#[cfg(test)]
mod tests;
