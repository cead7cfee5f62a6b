use crate::exit::UsageError;
use crate::ids;
use crate::kept_state::KeptStore;
use crate::timeline::visible;
use anyhow::Result;
use haft::core::RunId;
use std::cmp::Reverse;

/// How many runs can be named by the beginning of their ids, and how many are named where none is known as it was written.
const RUNS: u32 = 10_000;
const NAMED: usize = 3;

/// Is a run of which something is kept.
struct Known {
    id: String,
    at_ms: u64,
    /// Whether another run started it.
    is_below: bool,
}

/// Finds a run by its id, by a beginning that no other has, or the latest.
///
/// A beginning names a run that nobody else started, if there is one: those below it may begin alike.
pub(super) async fn find(store: &dyn KeptStore, written: Option<&str>) -> Result<RunId> {
    let mut known: Vec<Known> = Vec::new();
    for run in store.run_entries().await? {
        let at_ms = run.value.map_or(0, |run| run.updated_at_ms);
        known.push(Known { id: run.id, at_ms, is_below: false });
    }
    for run in store.recorded_runs(RUNS).await? {
        match known.iter_mut().find(|known| known.id == run.run) {
            Some(known) => known.at_ms = known.at_ms.max(run.at_ms),
            None => known.push(Known { id: run.run, at_ms: run.at_ms, is_below: run.parent.is_some() }),
        }
    }
    known.sort_by_key(|run| Reverse(run.at_ms));
    let Some(written) = written else {
        let latest = known.iter().find(|run| !run.is_below);
        return Ok(latest.ok_or_else(nothing_kept)?.id.parse()?);
    };
    let names =
        |below: bool| known.iter().filter(move |run| run.is_below == below).map(|run| run.id.as_str());
    if let Some(id) = known.iter().find(|run| run.id == written) {
        return Ok(id.id.parse()?);
    }
    let found = match ids::pick(written, &names(false).collect::<Vec<_>>(), "run")? {
        Some(id) => Some(id),
        None => ids::pick(written, &names(true).collect::<Vec<_>>(), "run")?,
    };
    match found {
        Some(id) => Ok(id.parse()?),
        None => Err(unknown(written, &names(false).take(NAMED).collect::<Vec<_>>())),
    }
}

/// Says that nothing is kept, and how something comes to be.
pub(super) fn nothing_kept() -> anyhow::Error {
    let message = "nothing is kept of any run; `haft agent` keeps its runs, and calls are recorded from the first that waits for an \
                   approval";
    UsageError(message.to_owned()).into()
}

fn unknown(written: &str, latest: &[&str]) -> anyhow::Error {
    let written = visible(written);
    if latest.is_empty() {
        return nothing_kept();
    }
    let latest: Vec<String> = latest.iter().map(|name| format!("`{}`", visible(name))).collect();
    let message = format!(
        "nothing is kept of a run `{written}`; the latest are {}, and `haft report` without a name shows the first of them",
        latest.join(", ")
    );
    UsageError(message).into()
}
