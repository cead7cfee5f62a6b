use super::Request;
use super::rank::{Rank, Ranking};
use crate::scan::{Place, Rest, Take, Visit, scan};
use crate::start::seed_in;
use crate::watch::{Halt, Stop, Watch};
use haft_core::ToolError;
use haft_workdir::{EntryKind, Skipped, WalkListing, WalkOptions, WorkdirPath};
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// How many files may wait to be compared with the best.
const MOST_WAITING: usize = 16_384;

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
    let findings = search_with(request, false, watch)?;
    if findings.total > 0 || findings.rest.is_some() {
        return Ok(findings);
    }
    let nearly = search_with(request, true, watch)?;
    Ok(if nearly.total > 0 { nearly } else { findings })
}

fn search_with(request: &Request, with_typos: bool, watch: &dyn Watch) -> Result<Findings, ToolError> {
    let options = WalkOptions::default().hidden(request.hidden).ignored(request.no_ignore);
    let seeds = vec![seed_in(&request.workdir, &request.start, options)?];
    let visit = FindVisit { request, with_typos };
    let best = Best {
        heap: BinaryHeap::new(),
        limit: request.limit,
        findings: Findings { with_typos, ..Findings::default() },
    };
    let (best, rest) = scan(&visit, best, seeds, request.options.threads, watch)?;
    let paths = best.heap.into_sorted_vec().into_iter().map(|rank| rank.path).collect();
    Ok(Findings { paths, rest, ..best.findings })
}

struct FindVisit<'r> {
    request: &'r Request,
    with_typos: bool,
}

#[derive(Default)]
struct Part {
    ranks: Vec<Rank>,
    looked_at: u64,
    skipped: Skipped,
}

impl Visit for FindVisit<'_> {
    /// What names are compared by, and the path that is compared, relative to the start.
    type Buffers = (Ranking, String);
    type Part = Part;
    const IS_CHEAP: bool = true;

    fn buffers(&self) -> (Ranking, String) {
        (self.request.query.ranking(self.with_typos), String::new())
    }

    fn choose(&self, _: &WorkdirPath, listing: &WalkListing, part: &mut Part) -> Vec<usize> {
        part.skipped = listing.skipped();
        let entries = listing.entries().iter().enumerate();
        let files =
            entries.filter(|(_, entry)| entry.kind() == EntryKind::File && entry.passed_over().is_none());
        let files: Vec<usize> = files.map(|(at, _)| at).collect();
        part.looked_at = files.len() as u64;
        files
    }

    fn unreadable(&self, part: &mut Part) {
        part.skipped.unreadable += 1;
    }

    fn visit(
        &self,
        (ranking, relative): &mut (Ranking, String),
        place: Place<'_>,
        part: &mut Part,
        _: &Halt<'_>,
    ) -> Result<(), Stop> {
        if let Place::Entry(listing, entry) = place {
            relative.clear();
            relative.push_str(listing.path().relative_to(&self.request.start).unwrap_or_default());
            if !relative.is_empty() {
                relative.push('/');
            }
            relative.push_str(entry.name());
            part.ranks.extend(ranking.rank(entry.name(), relative, || listing.path_of(entry)));
        }
        Ok(())
    }

    fn weight(part: &Part) -> usize {
        part.ranks.len()
    }
}

/// Keeps the best files, never more than the limit.
struct Best {
    /// The worst of them comes first.
    heap: BinaryHeap<Rank>,
    limit: usize,
    findings: Findings,
}

impl Take<Part> for Best {
    fn take(&mut self, part: Part) -> ControlFlow<()> {
        let findings = &mut self.findings;
        findings.total += part.ranks.len() as u64;
        findings.looked_at += part.looked_at;
        findings.skipped += part.skipped;
        for rank in part.ranks {
            self.heap.push(rank);
            if self.heap.len() > self.limit {
                self.heap.pop();
            }
        }
        ControlFlow::Continue(())
    }

    fn most_waiting(&self) -> usize {
        MOST_WAITING
    }
}
