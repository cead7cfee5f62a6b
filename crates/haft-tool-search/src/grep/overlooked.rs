use super::Request;
use super::collect::{End, Room};
use super::file_search::{FileSearch, Outcome};
use crate::left_out::{LeftOut, left_out};
use crate::watch::{Cancelled, Watch};
use haft_workdir::EntryKind;

/// How many hidden and ignored files are searched for a hint.
const MOST_FILES: usize = 500;

/// How much of them is searched for a hint, in bytes. A second of searching would be too much for one.
const MOST_BYTES: u64 = 16 << 20;

/// Looks for a match in files that were left out because they are hidden or ignored; bounded, so it may miss one.
pub(super) fn overlooked(
    request: &Request,
    passed_over: haft_workdir::Skipped,
    watch: &dyn Watch,
) -> Result<Option<LeftOut>, Cancelled> {
    let start = request.start.path();
    if passed_over.hidden + passed_over.ignored == 0 {
        return Ok(None);
    }
    let Ok(entries) = left_out(&request.workdir, start, request.hidden, request.no_ignore) else {
        return Ok(None);
    };
    let is_candidate = |entry: &LeftOut| entry.kind == EntryKind::File && request.takes(start, &entry.path);
    let mut search = FileSearch::new(request);
    let mut bytes = 0;
    for entry in entries.filter(is_candidate).take(MOST_FILES) {
        watch.check()?;
        let Ok(metadata) = request.workdir.metadata(&entry.path) else { continue };
        bytes += metadata.size();
        if bytes > MOST_BYTES {
            break;
        }
        // Without room for a match, the search of a file ends at the first.
        let room = Room { matches: Some(0), bytes: 0 };
        if let Outcome::Searched(found) = search.search(&entry.path, "", room, watch)?
            && found.end == End::Limit
        {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}
