use super::effects::Shown;
use super::options::{UndoOptions, WhichOptions};
use super::print_recovered;
use super::run::{Chosen, choose};
use super::undoing::Undoing;
use crate::exit::{self, Exit};
use crate::printed::print_json;
use anyhow::Result;
use haft::core::RunId;
use haft::tools_core::now_ms;
use haft::workdir::{ChangeJournal as _, ChangeOrigin, ChangeSet, UndoError, UndoPlan};

/// Undoes what a run, a turn or a call has changed, or lists the runs that changed something.
pub(crate) fn undo(options: &UndoOptions) -> Result<Exit> {
    let json = options.which.json;
    let undoing = match undoing(&options.which, options.dry_run)? {
        Ok(undoing) => undoing,
        Err(listed) => return Ok(listed),
    };
    if json {
        print_json(&undoing)?;
    } else {
        undoing.print();
    }
    Ok(if undoing.refuses() { Exit::Failed } else { Exit::Done })
}

/// Undoes what is meant, or says what that would do; without a run, lists those that changed something.
pub(crate) fn undoing(which: &WhichOptions, dry_run: bool) -> Result<Result<Undoing, Exit>> {
    let chosen = match choose(which)? {
        Ok(chosen) => chosen,
        Err(listed) => return Ok(Err(listed)),
    };
    let Chosen { run, sets, all, workdir, journal } = chosen;
    let workdir = workdir?;
    match workdir.recover() {
        Ok(recovered) => recovered.iter().for_each(print_recovered),
        Err(error) => exit::note(&error),
    }
    if !sets.iter().any(ChangeSet::is_in_force) {
        return Ok(Ok(Undoing::nothing(&run, "what it changed was undone before")));
    }
    let plan = match UndoPlan::new(&workdir, &sets) {
        Ok(plan) => plan,
        Err(UndoError::Conflicts(conflicts)) => {
            let newer = journal.runs(usize::MAX)?;
            let mut later = all;
            for run in newer.iter().filter(|newer| newer.run != run) {
                later.extend(journal.sets(&run.run)?);
            }
            return Ok(Ok(Undoing::refused(&run, &conflicts, &sets, &later)));
        }
        Err(error) => return Err(error.into()),
    };
    if plan.is_empty() {
        return Ok(Ok(Undoing::nothing(&run, "everything is as it was before it")));
    }
    let effects: Vec<Shown> = plan.effects().iter().filter_map(Shown::of).collect();
    if dry_run {
        return Ok(Ok(Undoing { dry_run, effects, ..Undoing::of(&run) }));
    }
    let undoing: RunId = format!("undo-{:x}-{:x}", now_ms(), std::process::id()).parse()?;
    let origin = ChangeOrigin::new(undoing.clone(), "undo".parse()?).tool("haft undo");
    let undone = plan.apply(&workdir, origin)?;
    Ok(Ok(Undoing {
        effects,
        undone_as: Some(undoing.to_string()),
        left: Some(undone.left.iter().map(|path| path.as_str().to_owned()).collect()),
        not_undoable: Some(serde_json::to_value(undone.finished.not_undoable)?),
        ..Undoing::of(&run)
    }))
}
