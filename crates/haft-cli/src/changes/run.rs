use super::kept::KeptChanges;
use super::options::WhichOptions;
use crate::exit::{Exit, UsageError};
use crate::ids;
use crate::paint::{ASKS, NAME, QUIET};
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use crate::when::ago;
use anyhow::{Context as _, Result};
use haft::Workdir;
use haft::core::RunId;
use haft::workdir::{ChangeJournal as _, ChangeLimits, ChangeSet, ChangedRun, SetState};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// How many runs can be named by the beginning of their ids.
const RUNS: usize = 10_000;

/// How many runs are listed, and how many are named where none is known as it was written.
const LISTED: usize = 20;
const NAMED: usize = 3;

/// Is what was asked for of the changes of a run.
pub(super) struct Chosen {
    pub(super) run: RunId,
    /// The sets, the oldest first.
    pub(super) sets: Vec<ChangeSet>,
    /// All sets of the run, with those that were not asked for.
    pub(super) all: Vec<ChangeSet>,
    /// The directory in which they were made.
    pub(super) workdir: Result<Workdir>,
    pub(super) journal: Arc<KeptChanges>,
}

/// Finds the changes that are meant; without a run, lists those that there are.
pub(super) fn choose(which: &WhichOptions) -> Result<Result<Chosen, Exit>> {
    let path = UserDirectories::from_environment().changes_file()?.with_context(|| {
        let message =
            "there is no place in which changes are recorded; set HAFT_STATE to the absolute path of a file, or HOME";
        UsageError(message.to_owned())
    })?;
    let journal = Arc::new(KeptChanges::at(path, ChangeLimits::default()));
    let Some(written) = &which.run else {
        return Ok(Err(list(&journal.runs(LISTED)?, which.json)?));
    };
    let runs = journal.runs(RUNS)?;
    let names: Vec<&str> = runs.iter().map(|run| run.run.as_str()).collect();
    let run: RunId = ids::pick(written, &names, "run")?.with_context(|| unknown(written, &names))?.parse()?;
    let mut all = journal.sets(&run)?;
    all.retain(|set| set.state == SetState::Done);
    let is_meant = |set: &&ChangeSet| match (&which.call, which.turn) {
        _ if which.since.is_some_and(|since| set.id < since) => false,
        (Some(call), _) => set.origin.call.as_str() == call,
        (None, Some(turn)) => set.origin.run == run && set.origin.turn == Some(turn),
        (None, None) => true,
    };
    let mut sets: Vec<ChangeSet> = all.iter().filter(is_meant).cloned().collect();
    // Runs number their calls alike, and what was asked for is the run itself.
    if which.call.is_some() && sets.iter().any(|set| set.origin.run == run) {
        sets.retain(|set| set.origin.run == run);
    }
    let own = sets.iter().rev().find(|set| set.origin.run == run).or(sets.last());
    let Some((root, worked)) = own.map(|set| (set.root.clone(), set.origin.run.clone())) else {
        return Err(UsageError(nothing_there(&run, which, &all)).into());
    };
    if sets.iter().any(|set| set.root != root && set.origin.run == run) {
        let message =
            format!("the run `{run}` changed files in several directories; name one call with `--call`");
        return Err(UsageError(message).into());
    }
    // A run below it that has a place of its own changes that; what the run has taken from there is its own change.
    let (sets, apart): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| set.root == root);
    print_apart(&run, &apart);
    let workdir = open(&root, &worked)
        .map(|workdir| workdir.with_roots_of(&sets).journalled(Arc::clone(&journal) as _));
    Ok(Ok(Chosen { run, sets, all, workdir, journal }))
}

/// Names the runs below a run whose changes are no part of what is done, as far as they are still there to be undone.
fn print_apart(run: &RunId, apart: &[ChangeSet]) {
    let mut runs: Vec<&str> = apart
        .iter()
        .filter(|set| set.is_in_force() && set.root.is_dir())
        .map(|set| set.origin.run.as_str())
        .collect();
    runs.sort_unstable();
    runs.dedup();
    for below in runs {
        let (below, run) = (visible(below), visible(run.as_str()));
        errln!(
            "{ASKS}note{ASKS:#}: the run `{below}` below `{run}` works in a place of its own, which is left as it is; \
             `haft diff {below}` shows what it has changed there"
        );
    }
}

fn open(root: &Path, run: &RunId) -> Result<Workdir> {
    Workdir::open(root).with_context(|| {
        let shown = root.display();
        UsageError(format!("the directory `{shown}`, in which the run `{run}` worked, cannot be used"))
    })
}

/// Says that no run is known as it was written, and which are.
fn unknown(written: &str, names: &[&str]) -> UsageError {
    let written = visible(written);
    if names.is_empty() {
        return UsageError(format!("no run `{written}` has changed anything, and neither has any other"));
    }
    let latest: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{}`", visible(name))).collect();
    UsageError(format!(
        "no run `{written}` has changed anything; the latest that have are {}; `haft undo` lists more",
        latest.join(", ")
    ))
}

/// Says that nothing is known of a call or turn, and what is.
fn nothing_there(run: &RunId, which: &WhichOptions, all: &[ChangeSet]) -> String {
    let mut calls: BTreeMap<&str, &str> = BTreeMap::new();
    calls.extend(all.iter().map(|set| (set.origin.call.as_str(), set.origin.tool.as_str())));
    let known: Vec<String> =
        calls.iter().take(LISTED).map(|(call, tool)| format!("`{call}` ({tool})")).collect();
    let what = match (&which.call, which.turn) {
        (Some(call), _) => format!("the call `{}`", visible(call)),
        (None, Some(turn)) => format!("turn {turn}"),
        (None, None) => return format!("the run `{run}` has changed nothing that is known any more"),
    };
    let mut turns: Vec<u32> = all.iter().filter_map(|set| set.origin.turn).collect();
    turns.sort_unstable();
    turns.dedup();
    let turns: Vec<String> = turns.iter().map(ToString::to_string).collect();
    let turns = if turns.is_empty() { String::new() } else { format!(", in turn {}", turns.join(", ")) };
    format!("{what} of the run `{run}` has changed nothing; these calls have: {}{turns}", known.join(", "))
}

fn list(runs: &[ChangedRun], json: bool) -> Result<Exit> {
    if json {
        outln!("{}", serde_json::to_string_pretty(runs)?);
    } else if runs.is_empty() {
        outln!("No run has changed anything by a tool for files; what commands change is not recorded.");
    }
    for run in runs.iter().filter(|_| !json) {
        let what = match (run.in_force, run.undone) {
            (0, _) => "undone".to_owned(),
            (1, 0) => "1 change".to_owned(),
            (changes, 0) => format!("{changes} changes"),
            (changes, undone) => format!("{changes} changes, {undone} undone"),
        };
        let (name, root) = (visible(run.run.as_str()), visible(&run.root.to_string_lossy()));
        outln!("{NAME}{name}{NAME:#}  {what}  {QUIET}{}, in {root}{QUIET:#}", ago(run.at_ms));
    }
    if !json && !runs.is_empty() {
        errln!("Undo one with `haft undo RUN`; see it with `haft diff RUN`.");
    }
    Ok(Exit::Done)
}
