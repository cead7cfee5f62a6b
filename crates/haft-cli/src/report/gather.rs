//! Gathers what is kept of a run: where it stands and its transcript, the runs below it, the journal, and what it changed.

use super::calls::{self, Changes, Gaps};
use super::data::{BudgetReport, Report, RunReport, Totals, TurnReport, VERSION};
use super::recorded;
use super::transcript::{self, Told};
use crate::changes::patches_of;
use crate::kept_state::{KeptStore, why};
use crate::task::{Task, What};
use anyhow::{Context as _, Result};
use haft::agent::{Budget, RunEnd, RunState, Spent};
use haft::core::{BudgetKind, Message, RunId};
use haft::store::{RunStatus, StoredRun};
use haft::subagents::{ChildEnd, ChildRecord, ChildStatus};
use haft::tools_core::{CallOutcome, JournalRecord, now_ms};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Collects what is known of the runs of a tree.
struct Gathering {
    runs: Vec<RunReport>,
    told: Vec<(usize, Vec<Told>)>,
    turns: Vec<TurnReport>,
    notes: Vec<String>,
    /// Whether what the runs changed may be shown as it is, since no transcript is known to hide anything of it.
    shows_changes: bool,
    /// Whether the run was given up, so that nothing of it waits any more.
    is_dropped: bool,
}

/// Gathers all that is kept of a run and of those below it.
pub(super) async fn gather(store: &dyn KeptStore, root: &RunId) -> Result<Report> {
    let mut all = Gathering {
        runs: Vec::new(),
        told: Vec::new(),
        turns: Vec::new(),
        notes: Vec::new(),
        shows_changes: false,
        is_dropped: false,
    };
    let below = match all.tree_of(store, root).await {
        Below::Run(tree) => within(all.children(store, &tree).await?, root),
        Below::Unreadable => {
            all.runs.push(unknown(root, None, None));
            all.children(store, root).await?
        }
        Below::Nothing => {
            all.add_root(store, root).await;
            all.children(store, root).await?
        }
    };
    for (record, state) in below {
        all.add_child(&record, state);
    }
    let records = all.records(store, root).await?;
    all.add_recorded(root, &records);
    all.label();
    // A run that another one started was an agent's, also where nothing but calls is left of it.
    all.shows_changes &= records.iter().all(|record| record.parent_run.is_none());
    let changes = if all.shows_changes { patches_of(root)? } else { Changes::new() };
    let Gathering { runs, told, turns, mut notes, is_dropped, .. } = all;
    notes.extend(untimed(&runs, &turns));
    let names: Vec<RunId> = runs.iter().map(|run| run.run.clone()).collect();
    let (mut calls, gaps) = calls::together(&names, told, recorded::by_call(records), changes);
    for call in calls.iter_mut().filter(|call| is_dropped && call.status == "waiting") {
        call.status = "unfinished";
    }
    notes.extend(said(&gaps, calls.len()));
    Ok(Report {
        version: VERSION,
        haft: env!("CARGO_PKG_VERSION"),
        made_at_ms: now_ms(),
        run: root.clone(),
        totals: Totals::of(&runs, &calls),
        runs,
        turns,
        calls,
        notes,
    })
}

/// A run that another one started, and where it stood when that was last kept.
type Child = (ChildRecord, Option<RunState>);

/// Says what is kept of a run among those that other runs started.
enum Below {
    /// It is in the tree of this one.
    Run(RunId),
    Unreadable,
    Nothing,
}

impl Gathering {
    async fn tree_of(&mut self, store: &dyn KeptStore, run: &RunId) -> Below {
        let read = match store.child(run).await {
            Ok(None) => return Below::Nothing,
            Ok(Some(record)) => {
                serde_json::from_value::<ChildRecord>(record).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        match read {
            Ok(record) => Below::Run(record.root),
            Err(why) => {
                self.notes.push(format!("What is kept of the run cannot be read: {why}."));
                Below::Unreadable
            }
        }
    }

    async fn add_root(&mut self, store: &dyn KeptStore, root: &RunId) {
        let stored = match store.load(root).await {
            Ok(stored) => stored,
            Err(error) => {
                self.runs.push(unknown(root, None, None));
                self.notes.push(format!("What is kept of the run cannot be read: {error}."));
                return;
            }
        };
        let Some(stored) = stored else {
            self.shows_changes = true;
            self.runs.push(unknown(root, None, None));
            self.notes.push(
                "Only the journal is kept of the run: not what it was asked to do, and not how it ended. Runs of `haft agent`, and \
                 those that waited for an approval, are kept whole."
                    .to_owned(),
            );
            return;
        };
        let mut run = unknown(root, None, stored.agent.clone());
        run.started_at_ms = Some(stored.started_at_ms);
        run.ended_at_ms = (stored.status == RunStatus::Ended).then_some(stored.updated_at_ms);
        run.end = match stored.status {
            RunStatus::Running => "running",
            RunStatus::Waiting => "waiting",
            _ => "ended",
        };
        let task = Task::kept(&stored.host);
        if let Ok(task) = &task {
            run.does = Some(task.describe());
            run.workdir = Some(task.workdir.display().to_string());
            match &task.work {
                What::Agent(settings) => run.model = Some(settings.model.to_string()),
                What::Call { .. } | What::Session { .. } | What::Serve { .. } => self.shows_changes = true,
            }
        }
        self.runs.push(run);
        let work = task.ok().map(|task| task.work);
        if stored.state.is_null() {
            // That of a served run is with its client.
            if !matches!(work, Some(What::Serve { .. })) {
                self.is_dropped = true;
                self.notes.push("The run was dropped, or its state is not kept.".to_owned());
            }
            return;
        }
        let taken = match store.log(root).await {
            Ok(log) => self.take_state(0, stored, log, matches!(work, Some(What::Call { .. }))),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = taken {
            self.notes.push(format!("Where the run stands cannot be read: {error:#}."));
        }
    }

    fn take_state(&mut self, run: usize, stored: StoredRun, log: Vec<Value>, is_call: bool) -> Result<()> {
        if is_call {
            let outcome: CallOutcome = serde_json::from_value(stored.state)?;
            self.told.push((run, vec![transcript::of_call(outcome)]));
            return Ok(());
        }
        let state = RunState::restore(stored.state, log).context("it is of another version of haft")?;
        self.take_transcript(run, &state);
        let run = &mut self.runs[run];
        if let Some(end) = state.end() {
            (run.end, run.reason) = ended(end);
        }
        run.budgets = budgets(&state.account().budget, state.spent());
        let cost = state.spent().cost_nanos;
        run.cost_nanos = (cost > 0).then_some(cost);
        Ok(())
    }

    fn take_transcript(&mut self, place: usize, state: &RunState) {
        let run = &mut self.runs[place];
        run.turns = Some(state.turns());
        self.turns.extend(state.turn_records().map(|record| TurnReport::new(place, record)));
        let usage = state.usage();
        run.usage = (usage.total() > 0).then_some(usage);
        run.said = Some(state.last_text()).filter(|text| !text.is_empty());
        let first = state.messages().iter().find_map(|message| match &**message {
            Message::User { content } => content.iter().find_map(haft::core::Content::as_text),
            _ => None,
        });
        run.task = run.task.take().or(first.map(str::to_owned));
        self.told.push((place, transcript::of_run(state)));
    }

    /// Reads the runs of a tree but its root.
    async fn children(&mut self, store: &dyn KeptStore, root: &RunId) -> Result<Vec<Child>> {
        let mut children = Vec::new();
        for entry in store.child_entries(root).await? {
            let read = entry.value.map_err(|fault| why(&fault)).and_then(|record| {
                serde_json::from_value::<ChildRecord>(record).map_err(|error| error.to_string())
            });
            let record = match read {
                Ok(record) => record,
                Err(why) => {
                    self.notes.push(format!("The run `{}` below it cannot be read: {why}.", entry.id));
                    continue;
                }
            };
            let state = match store.child_state(&record.run).await {
                Ok(kept) => kept.and_then(|(head, log)| RunState::restore(head, log).ok()),
                Err(error) => {
                    self.notes
                        .push(format!("Where the run `{}` stands cannot be read: {error}.", record.run));
                    None
                }
            };
            children.push((record, state));
        }
        Ok(children)
    }

    fn add_child(&mut self, record: &ChildRecord, state: Option<RunState>) {
        let mut run = unknown(&record.run, Some(&record.parent), Some(record.agent.clone()));
        run.task = Some(record.task.clone());
        (run.started_at_ms, run.ended_at_ms) = (Some(record.started_at_ms), record.ended_at_ms);
        (run.end, run.reason) = match &record.status {
            ChildStatus::Queued => ("queued", None),
            ChildStatus::Waiting { .. } => ("waiting", None),
            ChildStatus::Ended { result } => ended_below(&result.end),
            _ => ("running", None),
        };
        run.budgets = budgets(&record.budget, &record.spent);
        run.cost_nanos = (record.spent.cost_nanos > 0).then_some(record.spent.cost_nanos);
        self.runs.push(run);
        if let Some(state) = state {
            self.take_transcript(self.runs.len() - 1, &state);
        }
    }

    async fn records(&mut self, store: &dyn KeptStore, root: &RunId) -> Result<Vec<JournalRecord>> {
        let mut records = Vec::new();
        for entry in store.record_entries_of_tree(root).await? {
            match entry.value {
                Ok(record) => records.push(record),
                Err(fault) => {
                    self.notes.push(format!("A record of the journal cannot be read: {}.", why(&fault)));
                }
            }
        }
        Ok(records)
    }

    /// Adds the runs of which only calls are recorded.
    fn add_recorded(&mut self, root: &RunId, records: &[JournalRecord]) {
        let mut known: BTreeSet<RunId> = self.runs.iter().map(|run| run.run.clone()).collect();
        for record in records {
            if known.insert(record.run.clone()) {
                self.runs.push(unknown(&record.run, record.parent_run.as_ref(), record.agent.clone()));
            }
        }
        if let Some(run) = self.runs.first_mut().filter(|run| run.run == *root) {
            let agent =
                records.iter().find(|record| record.run == *root).and_then(|record| record.agent.clone());
            run.agent = run.agent.take().or(agent);
        }
    }

    /// Names the runs below as the timeline of a terminal does.
    fn label(&mut self) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for run in self.runs.iter_mut().skip(1) {
            let agent = run.agent.clone().unwrap_or_else(|| "run".to_owned());
            let count = counts.entry(agent.clone()).or_default();
            *count += 1;
            run.label = Some(format!("{agent} {count}"));
        }
    }
}

/// Begins with what is known of every run: its name.
pub(super) fn unknown(run: &RunId, parent: Option<&RunId>, agent: Option<String>) -> RunReport {
    RunReport {
        run: run.clone(),
        parent: parent.cloned(),
        label: None,
        agent,
        does: None,
        model: None,
        task: None,
        workdir: None,
        end: "unknown",
        reason: None,
        said: None,
        started_at_ms: None,
        ended_at_ms: None,
        turns: None,
        usage: None,
        cost_nanos: None,
        budgets: Vec::new(),
    }
}

/// Keeps a run of a tree and those below it, the run first.
fn within(tree: Vec<Child>, root: &RunId) -> Vec<Child> {
    let mut names = BTreeSet::from([root.clone()]);
    let mut kept: Vec<Child> = Vec::new();
    // Whoever starts a run was kept before it.
    for child in tree {
        if child.0.run == *root {
            kept.insert(0, child);
        } else if names.contains(&child.0.parent) {
            names.insert(child.0.run.clone());
            kept.push(child);
        }
    }
    kept
}

fn budgets(budget: &Budget, spent: &Spent) -> Vec<BudgetReport> {
    let of = |kind| Some(BudgetReport { kind, spent: spent.of(kind), limit: budget.limit(kind)? });
    BudgetKind::ALL.iter().copied().filter_map(of).collect()
}

fn ended(end: &RunEnd) -> (&'static str, Option<String>) {
    match end {
        RunEnd::Completed => ("completed", None),
        RunEnd::CutOff => ("cut_off", None),
        RunEnd::Refused => ("refused", None),
        RunEnd::Failed { reason } => ("failed", Some(reason.clone())),
        RunEnd::Cancelled => ("cancelled", None),
        RunEnd::BudgetSpent { which } => ("budget_spent", Some(format!("the budget of {which} is spent"))),
        RunEnd::Looping => ("looping", None),
        _ => ("ended", None),
    }
}

fn ended_below(end: &ChildEnd) -> (&'static str, Option<String>) {
    match end {
        ChildEnd::Done => ("done", None),
        ChildEnd::Stopped { reason } => ("stopped", Some(reason.clone())),
        ChildEnd::Failed { reason } => ("failed", Some(reason.clone())),
        ChildEnd::Cancelled => ("cancelled", None),
        ChildEnd::Lost { reason } => ("lost", Some(reason.clone())),
        _ => ("ended", None),
    }
}

/// Says of how many turns it is not known when they were taken, as of runs that were kept before that was.
fn untimed(runs: &[RunReport], turns: &[TurnReport]) -> Option<String> {
    let taken: u64 = runs.iter().filter_map(|run| run.turns).map(u64::from).sum();
    let known = turns.iter().filter(|turn| turn.error.is_none()).count() as u64;
    match taken.saturating_sub(known) {
        0 => None,
        1 => Some("It is not known when 1 turn of a model was taken.".to_owned()),
        turns => Some(format!("It is not known when {turns} turns of models were taken.")),
    }
}

/// Says in sentences what is not known of calls.
fn said(gaps: &Gaps, calls: usize) -> Vec<String> {
    let of = |count: usize| match count {
        0 => None,
        1 if calls == 1 => Some("the call".to_owned()),
        count if count == calls => Some(format!("all {count} calls")),
        1 => Some("1 call".to_owned()),
        count => Some(format!("{count} calls")),
    };
    let mut notes = Vec::new();
    let mut note = |count, text: &str| notes.extend(of(count).map(|calls| text.replace("{}", &calls)));
    note(gaps.untold, "The arguments of {} are not kept: the journal records none.");
    note(gaps.unheard, "The outputs of {} are not kept: the journal records none.");
    note(
        gaps.unrecorded,
        "Nothing of {} is in the journal, so it is not known when that ran, what it touched and who let it.",
    );
    note(gaps.estimated, "Of {} it was not measured how long people were asked; that counts as waiting.");
    notes
}
