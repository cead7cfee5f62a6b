//! What the journal says of runs that go on, for a page that shows them as they do.

use super::calls::{self, Changes};
use super::data::{Report, Totals, VERSION};
use super::{gather, page, recorded};
use crate::kept_state::KeptStore;
use anyhow::Result;
use haft::core::RunId;
use haft::store::RecordFilter;
use haft::tools_core::{JournalRecord, now_ms};
use serde_json::Value;
use std::collections::HashMap;

/// The most calls that are shown, those that were recorded last, and the most records that are read for them.
pub(crate) const MOST_CALLS: usize = 2_000;
const MOST_RECORDS: u32 = 6_000;

/// Gathers what is recorded of runs, the newest part of it, in the form that a page of a report has.
///
/// Arguments and outputs are not in the journal, and so not here.
pub(crate) async fn live(store: &dyn KeptStore, served: &[RunId]) -> Result<Value> {
    let (mut records, mut is_whole): (Vec<JournalRecord>, bool) = (Vec::new(), true);
    for run in served {
        let of_run = store.records(&RecordFilter::new().run(run.clone()).most(MOST_RECORDS)).await?;
        is_whole &= of_run.len() < MOST_RECORDS as usize;
        records.extend(of_run);
        if records.len() > MOST_RECORDS as usize {
            is_whole = false;
            newest(&mut records);
        }
    }
    records.sort_by_key(|record| record.at_ms);
    let mut recorded = recorded::by_call(records);
    let left_out = recorded.len().saturating_sub(MOST_CALLS);
    recorded.drain(..left_out);
    let mut names: Vec<RunId> = Vec::new();
    let mut runs = Vec::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for record in recorded.iter().map(recorded::Recorded::last) {
        if names.contains(&record.run) {
            continue;
        }
        let agent = record.agent.clone();
        let mut run = gather::unknown(&record.run, record.parent_run.as_ref(), agent.clone());
        let client = agent.unwrap_or_else(|| "run".to_owned());
        let count = counts.entry(client.clone()).or_default();
        *count += 1;
        run.label = Some(if *count == 1 { client } else { format!("{client} {count}") });
        run.end = "served";
        names.push(record.run.clone());
        runs.push(run);
    }
    let (calls, _) = calls::together(&names, Vec::new(), recorded, Changes::new());
    let mut notes = Vec::new();
    if left_out > 0 || !is_whole {
        notes.push(format!(
            "These are the {} calls that were taken up last; `haft report RUN` shows all of a run.",
            calls.len()
        ));
    }
    let root = names.first().cloned().map_or_else(|| "none".parse(), Ok)?;
    page::shown(&Report {
        version: VERSION,
        haft: env!("CARGO_PKG_VERSION"),
        made_at_ms: now_ms(),
        run: root,
        totals: Totals::of(&runs, &calls),
        runs,
        turns: Vec::new(),
        calls,
        notes,
    })
}

/// Keeps the newest records, as many as are read of one run.
fn newest(records: &mut Vec<JournalRecord>) {
    records.sort_by_key(|record| record.at_ms);
    records.drain(..records.len().saturating_sub(MOST_RECORDS as usize));
}
