use super::Request;
use super::collect::{BREAK, End, Found, Room};
use super::file_search::{FileSearch, Outcome};
use super::input::Mode;
use super::overlooked::overlooked;
use crate::left_out::LeftOut;
use crate::start::{Start, refused};
use crate::watch::Watch;
use crate::wording::{OneLine, TEXT_BYTES, room_of};
use haft_core::ToolError;
use haft_workdir::{EntryKind, WalkOptions, WorkdirPath};
use std::ops::ControlFlow;

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The matches, or the paths of files that have some, as they are shown.
    pub(super) text: String,
    /// How much room the text takes.
    room_taken: usize,
    pub(super) matches: u64,
    /// Files with matches, in order, with how many were taken in each.
    pub(super) files: Vec<(WorkdirPath, u64)>,
    /// Files that were searched.
    pub(super) searched: u64,
    pub(super) skipped: Skipped,
    /// Whether lines were cut.
    pub(super) cut: bool,
    pub(super) end: End,
    /// What would match in files that were not searched; looked for when nothing else matched.
    pub(super) overlooked: Option<LeftOut>,
}

/// What was not searched, apart from hidden and ignored files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Skipped {
    pub(super) binary: u64,
    pub(super) too_large: u64,
    pub(super) unreadable_files: u64,
    pub(super) unreadable_directories: u64,
    pub(super) not_unicode: u64,
}

/// Searches what the request asks for, in the order of the paths.
pub(super) fn search(request: &Request, watch: &dyn Watch) -> Result<Findings, ToolError> {
    let mut findings = Findings::default();
    let mut files = FileSearch::new(request);
    let mut passed_over = haft_workdir::Skipped::default();
    match &request.start {
        Start::File(path) => {
            // A directory that took the place of the file is not what was permitted.
            request.workdir.open_file(path).map_err(refused)?;
            // There is no other file to go on with.
            let _ = search_file(request, path, &mut files, &mut findings, watch)?;
        }
        Start::Directory(start) => {
            let options = WalkOptions::default().hidden(request.hidden).ignored(request.no_ignore);
            let walk = request.workdir.walk(start, options);
            let mut walk = walk.map_err(refused)?;
            for entry in &mut walk {
                watch.check()?;
                // What could not be listed is counted by the walk.
                let Ok(entry) = entry else { continue };
                if entry.kind() != EntryKind::File || !request.takes(start, entry.path()) {
                    continue;
                }
                if search_file(request, entry.path(), &mut files, &mut findings, watch)?.is_break() {
                    break;
                }
            }
            passed_over = walk.skipped();
        }
    }
    findings.skipped.unreadable_directories = passed_over.unreadable;
    findings.skipped.not_unicode = passed_over.not_unicode;
    if findings.files.is_empty() && findings.end == End::Done {
        findings.overlooked = overlooked(request, passed_over, watch)?;
    }
    Ok(findings)
}

fn search_file(
    request: &Request,
    path: &WorkdirPath,
    files: &mut FileSearch<'_>,
    findings: &mut Findings,
    watch: &dyn Watch,
) -> Result<ControlFlow<()>, ToolError> {
    let shown = OneLine(path.as_str()).to_string();
    let outcome = files.search(path, &shown, findings.room(request), watch)?;
    let skipped = &mut findings.skipped;
    let found = match outcome {
        Outcome::Searched(found) => found,
        Outcome::TooLarge(found) => {
            skipped.too_large += 1;
            found
        }
        Outcome::Binary => {
            skipped.binary += 1;
            return Ok(ControlFlow::Continue(()));
        }
        Outcome::Unreadable => {
            skipped.unreadable_files += 1;
            return Ok(ControlFlow::Continue(()));
        }
        Outcome::Gone => return Ok(ControlFlow::Continue(())),
    };
    findings.searched += 1;
    watch.looked_at(findings.searched);
    Ok(findings.add(request, path, &shown, found))
}

impl Request {
    /// Tells whether a file below the start is to be searched.
    pub(super) fn takes(&self, start: &WorkdirPath, file: &WorkdirPath) -> bool {
        match (&self.filter, file.relative_to(start)) {
            (Some((_, filter)), Some(relative)) => filter.takes(relative),
            _ => true,
        }
    }
}

impl Findings {
    /// Tells how much of the next file may be taken.
    fn room(&self, request: &Request) -> Room {
        let files = self.files.len() as u64;
        let matches = match request.mode {
            Mode::Content => Some(request.limit - self.matches),
            // At the limit, a match in another file is still looked for, to know that there is one.
            _ if files == request.limit => Some(0),
            Mode::Files => Some(1),
            Mode::Count => None,
        };
        Room { matches, bytes: TEXT_BYTES.saturating_sub(self.room_taken) }
    }

    /// Adds what was found in a file; breaks when nothing more may be added.
    fn add(&mut self, request: &Request, path: &WorkdirPath, shown: &str, found: Found) -> ControlFlow<()> {
        let Found { matches, hits, cut, end } = found;
        if matches > 0 {
            let line = match request.mode {
                Mode::Content => String::new(),
                Mode::Files => format!("{shown}\n"),
                Mode::Count => format!("{shown}: {matches}\n"),
            };
            if self.room_taken + room_of(&line) > TEXT_BYTES {
                self.end = End::Full;
                return ControlFlow::Break(());
            }
            self.text.push_str(&line);
            self.room_taken += room_of(&line);
            for hit in hits {
                let hit = if self.text.is_empty() { hit.strip_prefix(BREAK).unwrap_or(&hit) } else { &hit };
                self.text.push_str(hit);
                self.room_taken += room_of(hit);
            }
            self.matches += matches;
            self.cut |= cut;
            self.files.push((path.clone(), matches));
        }
        self.end = end;
        if end == End::Done { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

#[cfg(test)]
#[expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]
mod tests;
