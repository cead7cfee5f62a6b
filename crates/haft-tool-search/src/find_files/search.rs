use super::Request;
use super::bound::Bound;
use super::letters::Letters;
use super::named::Named;
use super::rank::{Rank, Ranking};
use crate::scan::{Place, Rest, Take, Visit, scan};
use crate::start::seed_in;
use crate::watch::{Cancelled, Halt, Stop, Watch};
use haft_core::ToolError;
use haft_workdir::{EntryKind, Skipped, WalkListing, WalkOptions, WorkdirPath};
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many files may wait to be compared with the best.
const MOST_WAITING: usize = 16_384;

/// How many bytes of names are kept, to be compared again where none fits.
const MOST_NAMES: usize = 4 << 20;

/// After how many names it is asked whether to stop.
const NAMES_IN_ONE_GO: usize = 1024;

/// How many bytes of names weigh as much as a file that fits.
const BYTES_OF_WEIGHT: usize = 128;

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The best files, the best first, up to the limit.
    pub(super) paths: Vec<WorkdirPath>,
    /// How many files fit.
    pub(super) total: u64,
    /// How many files were looked at.
    pub(super) looked_at: u64,
    pub(super) skipped: Skipped,
    /// What was not looked at because time was over.
    pub(super) rest: Option<Rest>,
    /// Whether nothing fits but for a few characters.
    pub(super) with_typos: bool,
}

/// Finds the files that fit best; where none does, those that nearly do.
pub(super) fn search(request: &Request, watch: &dyn Watch) -> Result<Findings, ToolError> {
    let (findings, names) = search_with(request, Closeness::Exact, watch)?;
    if findings.total > 0 || findings.rest.is_some() {
        return Ok(findings);
    }
    let nearly = match names {
        Some(names) => nearly(request, &names, &findings, watch)?,
        None => search_with(request, Closeness::WithTypos, watch)?.0,
    };
    Ok(if nearly.total > 0 { nearly } else { findings })
}

/// How much of the query a file has to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closeness {
    /// Every character.
    Exact,
    /// All but a few.
    WithTypos,
}

/// Walks, and gives the names that were met, too, where all of them could be kept and none fits.
fn search_with(
    request: &Request,
    closeness: Closeness,
    watch: &dyn Watch,
) -> Result<(Findings, Option<Vec<Named>>), ToolError> {
    let options = WalkOptions::default().hidden(request.hidden).ignored(request.no_ignore);
    let seeds = vec![seed_in(&request.workdir, &request.start, options, watch)?];
    let bound = Bound::default();
    let keeps_names = AtomicBool::new(closeness == Closeness::Exact);
    let visit = FindVisit { request, closeness, bound: &bound, keeps_names: &keeps_names };
    let best = Best::new(request.limit, closeness, &bound, &keeps_names);
    let (best, rest) = scan(&visit, best, seeds, request.options.threads, watch)?;
    let names = keeps_names.load(Ordering::Relaxed).then_some(best.names);
    let paths = best.heap.into_sorted_vec().into_iter().map(|rank| rank.path).collect();
    Ok((Findings { paths, rest, ..best.findings }, names))
}

/// Compares names that were met again, of which none has all characters.
fn nearly(
    request: &Request,
    names: &[Named],
    met: &Findings,
    watch: &dyn Watch,
) -> Result<Findings, ToolError> {
    let (bound, keeps_names) = (Bound::default(), AtomicBool::new(false));
    let mut best = Best::new(request.limit, Closeness::WithTypos, &bound, &keeps_names);
    let mut ranking = request.query.ranking(Closeness::WithTypos);
    let mut relative = String::new();
    let halt = Halt::new(watch);
    for directory in names {
        let mut part = Part::default();
        for (at, name) in directory.names().enumerate() {
            if at.is_multiple_of(NAMES_IN_ONE_GO) {
                match halt.check() {
                    Ok(()) => {}
                    Err(Stop::Cancelled) => return Err(Cancelled.into()),
                    // What was compared so far would look like all there is.
                    Err(Stop::OutOfTime | Stop::Enough) => return Ok(Findings::default()),
                }
            }
            set_relative(&mut relative, &request.start, directory.path());
            relative.push_str(name);
            part.add(&mut ranking, &bound, name, &relative, || directory.path_of(name));
        }
        // There is always room for one more.
        let _ = best.take(part);
    }
    let paths = best.heap.into_sorted_vec().into_iter().map(|rank| rank.path).collect();
    let Findings { looked_at, skipped, .. } = *met;
    Ok(Findings { paths, looked_at, skipped, ..best.findings })
}

/// Writes the path of a directory, as what is in it begins with it relative to the start.
fn set_relative(relative: &mut String, start: &WorkdirPath, directory: &WorkdirPath) {
    relative.clear();
    relative.push_str(directory.relative_to(start).unwrap_or_default());
    if !relative.is_empty() {
        relative.push('/');
    }
}

struct FindVisit<'r> {
    request: &'r Request,
    closeness: Closeness,
    /// What does not come before it is only counted.
    bound: &'r Bound,
    /// Whether names are kept: none fits so far, and there is room.
    keeps_names: &'r AtomicBool,
}

#[derive(Default)]
struct Part {
    ranks: Vec<Rank>,
    /// Files that fit and come behind the best.
    counted: u64,
    names: Option<Named>,
    looked_at: u64,
    skipped: Skipped,
}

impl Part {
    /// Compares a file with the query, and tells whether it fits.
    fn add(
        &mut self,
        ranking: &mut Ranking,
        bound: &Bound,
        name: &str,
        relative: &str,
        path: impl FnOnce() -> WorkdirPath,
    ) -> bool {
        let Some(fit) = ranking.fit(name, relative) else { return false };
        if bound.may_be_among(fit) {
            self.ranks.push(Rank { fit, path: path() });
        } else {
            self.counted += 1;
        }
        true
    }
}

/// What a thread keeps from one directory to the next.
struct Buffers {
    ranking: Ranking,
    /// What all characters of the query are looked for with; nothing where some may be missing.
    letters: Option<Letters>,
    /// The path that is compared, relative to the start.
    relative: String,
}

impl Visit for FindVisit<'_> {
    type Buffers = Buffers;
    type Part = Part;
    const IS_CHEAP: bool = true;

    fn buffers(&self) -> Buffers {
        let query = &self.request.query;
        let letters = (self.closeness == Closeness::Exact).then(|| query.letters());
        Buffers { ranking: query.ranking(self.closeness), letters, relative: String::new() }
    }

    fn choose(
        &self,
        buffers: &mut Buffers,
        _: &WorkdirPath,
        listing: &WalkListing,
        part: &mut Part,
    ) -> Vec<usize> {
        let Buffers { letters, relative, .. } = buffers;
        part.skipped = listing.skipped();
        set_relative(relative, &self.request.start, listing.path());
        if let Some(letters) = letters {
            letters.enter(relative);
        }
        let mut names = self.keeps_names.load(Ordering::Relaxed).then(|| Named::of(listing.path()));
        let mut chosen = Vec::new();
        for (at, entry) in listing.entries().iter().enumerate() {
            if entry.kind() != EntryKind::File || entry.passed_over().is_some() {
                continue;
            }
            part.looked_at += 1;
            if letters.as_ref().is_none_or(|letters| letters.are_in(entry.name())) {
                chosen.push(at);
            } else if let Some(names) = &mut names {
                names.push(entry.name());
            }
        }
        part.names = names.filter(|names| !names.is_empty());
        chosen
    }

    fn unreadable(&self, part: &mut Part) {
        part.skipped.unreadable += 1;
    }

    fn visit(
        &self,
        buffers: &mut Buffers,
        place: Place<'_>,
        part: &mut Part,
        _: &Halt<'_>,
    ) -> Result<(), Stop> {
        if let Place::Entry(listing, entry) = place {
            let Buffers { ranking, relative, .. } = buffers;
            set_relative(relative, &self.request.start, listing.path());
            relative.push_str(entry.name());
            let name = entry.name();
            if part.add(ranking, self.bound, name, relative, || listing.path_of(entry)) {
                self.keeps_names.store(false, Ordering::Relaxed);
            } else if self.keeps_names.load(Ordering::Relaxed) {
                part.names.get_or_insert_with(|| Named::of(listing.path())).push(name);
            }
        }
        Ok(())
    }

    fn weight(part: &Part) -> usize {
        part.ranks.len() + part.names.as_ref().map_or(0, Named::bytes) / BYTES_OF_WEIGHT
    }
}

/// Keeps the best files, never more than the limit.
struct Best<'r> {
    /// The worst of them comes first.
    heap: BinaryHeap<Rank>,
    limit: usize,
    bound: &'r Bound,
    names: Vec<Named>,
    /// How much room the names take.
    bytes: usize,
    keeps_names: &'r AtomicBool,
    findings: Findings,
}

impl<'r> Best<'r> {
    fn new(limit: usize, closeness: Closeness, bound: &'r Bound, keeps_names: &'r AtomicBool) -> Self {
        let with_typos = closeness == Closeness::WithTypos;
        let findings = Findings { with_typos, ..Findings::default() };
        Self { heap: BinaryHeap::new(), limit, bound, names: Vec::new(), bytes: 0, keeps_names, findings }
    }

    fn keep(&mut self, names: Named) {
        self.bytes += names.bytes();
        if self.bytes > MOST_NAMES {
            self.keeps_names.store(false, Ordering::Relaxed);
        }
        if self.keeps_names.load(Ordering::Relaxed) {
            self.names.push(names);
        } else {
            self.names = Vec::new();
        }
    }
}

impl Take<Part> for Best<'_> {
    fn take(&mut self, part: Part) -> ControlFlow<()> {
        let findings = &mut self.findings;
        findings.total += part.ranks.len() as u64 + part.counted;
        findings.looked_at += part.looked_at;
        findings.skipped += part.skipped;
        for rank in part.ranks {
            self.heap.push(rank);
            if self.heap.len() > self.limit {
                self.heap.pop();
            }
        }
        if self.heap.len() == self.limit
            && let Some(worst) = self.heap.peek()
        {
            self.bound.set(worst.fit);
        }
        if let Some(names) = part.names {
            self.keep(names);
        }
        ControlFlow::Continue(())
    }

    fn most_waiting(&self) -> usize {
        MOST_WAITING
    }
}
