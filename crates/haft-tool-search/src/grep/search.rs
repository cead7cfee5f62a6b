use super::Request;
use super::by_time::LatestFirst;
use super::output::Output;
use super::overlooked::overlooked;
use super::visit::{GrepVisit, Needed, Tally};
use crate::left_out::LeftOut;
use crate::order::Order;
use crate::page::End;
use crate::scan::{Rest, scan};
use crate::watch::Watch;
use haft_core::ToolError;
use haft_workdir::{WalkOptions, WorkdirPath};

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The matches, or the paths of files that have some, as they are shown.
    pub(super) text: String,
    /// How many matches are shown, or are in the files that are.
    pub(super) shown: u64,
    /// Files that are shown, in order, with how many matches were taken in each.
    pub(super) files: Vec<(WorkdirPath, u64)>,
    /// How many matches there are, or files where these are asked for, with those before `offset`.
    pub(super) total: u64,
    /// Whether there are more than were counted.
    pub(super) has_more: bool,
    pub(super) tally: Tally,
    /// Whether lines were cut.
    pub(super) cut: bool,
    pub(super) end: End,
    /// What was not searched because time was over.
    pub(super) rest: Option<Rest>,
    /// What would match in files that were not searched; looked for when nothing else matched.
    pub(super) overlooked: Option<LeftOut>,
}

/// Searches what the request asks for.
pub(super) fn search(request: &Request, watch: &dyn Watch) -> Result<Findings, ToolError> {
    let options = WalkOptions::default().hidden(request.hidden).ignored(request.no_ignore);
    let seeds = request.starts.iter().map(|start| start.seed(&request.workdir, options, watch));
    let seeds = seeds.collect::<Result<_, _>>()?;
    let needed = Needed::default();
    let visit = GrepVisit { request, needed: &needed };
    let output = Output::new(request, &needed, watch);
    let threads = request.options.threads;
    let (output, rest) = match request.sort {
        Order::Path => scan(&visit, output, seeds, threads, watch)?,
        Order::Modified => {
            let latest = LatestFirst::new(request, &needed, output);
            let (latest, rest) = scan(&visit, latest, seeds, threads, watch)?;
            (latest.into_output(), rest)
        }
    };
    let Output { page, shown, files, total, has_more, mut tally, end, .. } = output;
    let overlooked = if total == 0 && rest.is_none() {
        overlooked(request, std::mem::take(&mut tally.passed_by), watch)?
    } else {
        None
    };
    let (text, cut) = (page.text, page.cut);
    Ok(Findings { text, shown, files, total, has_more, tally, cut, end, rest, overlooked })
}

#[cfg(test)]
#[expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]
mod tests;
