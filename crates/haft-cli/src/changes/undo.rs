use super::effects::Shown;
use super::options::UndoOptions;
use super::print_recovered;
use super::run::{Chosen, choose};
use crate::exit::{self, Exit};
use crate::paint::ERROR;
use crate::timeline::visible;
use anyhow::Result;
use haft::workdir::{ChangeJournal as _, ChangeOrigin, ChangeSet, ChangeStep, Conflict, UndoError, UndoPlan};
use haft::{RunId, now_ms};
use serde_json::json;

/// Undoes what a run, a turn or a call has changed, or lists the runs that changed something.
pub(crate) fn undo(options: &UndoOptions) -> Result<Exit> {
    let chosen = match choose(&options.which)? {
        Ok(chosen) => chosen,
        Err(listed) => return Ok(listed),
    };
    let Chosen { run, sets, all, workdir, journal } = chosen;
    let workdir = workdir?;
    match workdir.recover() {
        Ok(recovered) => recovered.iter().for_each(print_recovered),
        Err(error) => exit::note(&error),
    }
    let json = options.which.json;
    if !sets.iter().any(ChangeSet::is_in_force) {
        return nothing(&run, "what it changed was undone before", json);
    }
    let plan = match UndoPlan::new(&workdir, &sets) {
        Ok(plan) => plan,
        Err(UndoError::Conflicts(conflicts)) => {
            let newer = journal.runs(usize::MAX)?;
            let mut later = all;
            for run in newer.iter().filter(|newer| newer.run != run) {
                later.extend(journal.sets(&run.run)?);
            }
            return refuse(&run, &conflicts, &sets, &later, json);
        }
        Err(error) => return Err(error.into()),
    };
    if plan.is_empty() {
        return nothing(&run, "everything is as it was before it", json);
    }
    let effects: Vec<Shown> = plan.effects().iter().filter_map(Shown::of).collect();
    if options.dry_run {
        if json {
            let plan = json!({ "run": run, "dry_run": true, "effects": effects });
            anstream::println!("{}", serde_json::to_string_pretty(&plan)?);
        } else {
            for effect in &effects {
                effect.print(false);
            }
        }
        return Ok(Exit::Done);
    }
    let undoing: RunId = format!("undo-{:x}-{:x}", now_ms(), std::process::id()).parse()?;
    let origin = ChangeOrigin::new(undoing.clone(), "undo".parse()?).tool("haft undo");
    let undone = plan.apply(&workdir, origin)?;
    let left: Vec<&str> = undone.left.iter().map(haft::workdir::WorkdirPath::as_str).collect();
    if json {
        let done = json!({
            "run": run, "undone_as": undoing, "effects": effects, "left": left,
            "not_undoable": undone.finished.not_undoable,
        });
        anstream::println!("{}", serde_json::to_string_pretty(&done)?);
        return Ok(Exit::Done);
    }
    for effect in effects.iter().filter(|effect| !effect.is_about(&left)) {
        effect.print(true);
    }
    for directory in left {
        anstream::println!("left the directory {}, since something else is in it", visible(directory));
    }
    anstream::eprintln!("`haft undo {undoing}` takes this back.");
    Ok(Exit::Done)
}

/// Says that there is nothing to undo.
fn nothing(run: &RunId, why: &str, json: bool) -> Result<Exit> {
    if json {
        let nothing = json!({ "run": run, "effects": [], "nothing_to_undo": why });
        anstream::println!("{}", serde_json::to_string_pretty(&nothing)?);
    } else {
        anstream::eprintln!("{ERROR}error{ERROR:#}: there is nothing of the run `{run}` to undo: {why}");
    }
    Ok(Exit::Failed)
}

/// Says what stands in the way of undoing, and who has put it there as far as that is known.
fn refuse(
    run: &RunId,
    conflicts: &[Conflict],
    sets: &[ChangeSet],
    later: &[ChangeSet],
    json: bool,
) -> Result<Exit> {
    let by = |conflict: &Conflict| {
        let of_these = sets.iter().filter(|set| touches(set, &conflict.path)).map(|set| set.id).max()?;
        later
            .iter()
            .filter(|set| set.is_in_force() && set.id > of_these && touches(set, &conflict.path))
            .max_by_key(|set| set.id)
    };
    if json {
        let conflicts: Vec<_> = conflicts
            .iter()
            .map(|conflict| {
                let by = by(conflict).map(|set| json!({ "run": set.origin.run, "call": set.origin.call }));
                json!({ "path": conflict.path, "why": conflict.to_string(), "by": by })
            })
            .collect();
        let refused = json!({ "run": run, "effects": [], "conflicts": conflicts });
        anstream::println!("{}", serde_json::to_string_pretty(&refused)?);
        return Ok(Exit::Failed);
    }
    anstream::eprintln!("{ERROR}error{ERROR:#}: nothing was undone");
    for conflict in conflicts {
        let by = by(conflict).map(|set| {
            format!(", by the call `{}` of the run `{}`", visible(set.origin.call.as_str()), set.origin.run)
        });
        anstream::eprintln!("  {}{}", visible(&conflict.to_string()), by.unwrap_or_default());
    }
    anstream::eprintln!(
        "`haft diff {run}` shows what the run has changed; put these right by hand, or undo other calls of it with --call."
    );
    Ok(Exit::Failed)
}

fn touches(set: &ChangeSet, path: &str) -> bool {
    set.steps.iter().any(|step| match step {
        ChangeStep::Set { path: changed, .. } => changed == path,
        ChangeStep::Move { from, to, .. } => from == path || to == path,
        _ => false,
    })
}
