use super::Request;
use super::collect::Want;
use super::file_search::{FileSearch, Outcome};
use crate::left_out::{LeftOut, PassedBy};
use crate::start::Start;
use crate::watch::{Cancelled, Halt, Stop, Watch};
use haft_workdir::EntryKind;

/// How many hidden and ignored files are searched for a hint.
const MOST_FILES: usize = 200;

/// How much of them is searched for a hint, in bytes. More than a few milliseconds would be too much for one.
const MOST_BYTES: u64 = 4 << 20;

/// Looks for a match in files that were left out because they are hidden or ignored; bounded, so it may miss one.
pub(super) fn overlooked(
    request: &Request,
    passed_by: PassedBy,
    watch: &dyn Watch,
) -> Result<Option<LeftOut>, Cancelled> {
    let halt = Halt::new(watch);
    let is_candidate = |entry: &LeftOut| {
        entry.kind == EntryKind::File
            && request.directories().any(|start| {
                entry.path.starts_with(start.path()) && request.filter.takes(start.path(), &entry.path)
            })
    };
    let mut search = FileSearch::new(request);
    let mut bytes = 0;
    let entries = passed_by.left_out(&request.workdir, request.hidden, watch);
    let is_denied = |entry: &LeftOut| watch.denies_way_to(&entry.path, entry.kind);
    for entry in entries.filter(|entry| is_candidate(entry) && !is_denied(entry)).take(MOST_FILES) {
        let Ok((file, metadata)) = request.workdir.open_file_with_metadata(&entry.path) else { continue };
        bytes += metadata.size();
        if bytes > MOST_BYTES {
            break;
        }
        // The first match is enough.
        let want = Want { count: 0, from: None, write: 0 };
        match search.search(file, metadata.size(), &String::new, want, &halt) {
            Outcome::Searched(found) if found.has_more => return Ok(Some(entry)),
            Outcome::Stopped(_, Stop::Cancelled) => return Err(Cancelled),
            Outcome::Stopped(..) => break,
            _ => {}
        }
    }
    Ok(None)
}

impl Request {
    fn directories(&self) -> impl Iterator<Item = &Start> {
        self.starts.iter().filter(|start| matches!(start, Start::Directory(_)))
    }
}
