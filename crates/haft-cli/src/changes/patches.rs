use super::diff::{Contents, patch};
use super::kept::KeptChanges;
use super::net::net;
use crate::user_directories::UserDirectories;
use anyhow::Result;
use haft::Workdir;
use haft::core::{CallId, RunId};
use haft::workdir::{ChangeJournal as _, ChangeLimits, ChangeSet, SetState};
use std::collections::HashMap;
use std::path::PathBuf;

/// The most calls whose changes are shown, the newest.
const MOST_CALLS: usize = 2_000;

/// Gives what each call of a run, and of those below it, has changed, as a unified diff.
pub(crate) fn patches_of(run: &RunId) -> Result<HashMap<(RunId, CallId), String>> {
    let Some(path) = UserDirectories::from_environment().changes_file()? else { return Ok(HashMap::new()) };
    let journal = KeptChanges::at(path, ChangeLimits::default());
    let mut calls: Vec<((RunId, CallId), Vec<ChangeSet>)> = Vec::new();
    let mut places: HashMap<(RunId, CallId), usize> = HashMap::new();
    for set in journal.sets(run)?.into_iter().filter(|set| set.state == SetState::Done) {
        let call = (set.origin.run.clone(), set.origin.call.clone());
        let place = *places.entry(call.clone()).or_insert_with(|| {
            calls.push((call, Vec::new()));
            calls.len() - 1
        });
        calls[place].1.push(set);
    }
    let mut workdirs: HashMap<PathBuf, Option<Workdir>> = HashMap::new();
    let newest = calls.split_off(calls.len().saturating_sub(MOST_CALLS)).into_iter();
    let patches = newest.map(|(call, sets)| {
        let root = sets[0].root.clone();
        let workdir = workdirs.entry(root).or_insert_with_key(|root| Workdir::open(root).ok());
        let workdir = workdir.as_ref().map(|workdir| workdir.clone().with_roots_of(&sets));
        let contents = Contents { journal: &journal, workdir: workdir.as_ref() };
        let shown = net(&sets);
        (call, shown.iter().filter_map(|(path, entry)| patch(&contents, path, entry)).collect::<String>())
    });
    Ok(patches.filter(|(_, text)| !text.is_empty()).collect())
}
