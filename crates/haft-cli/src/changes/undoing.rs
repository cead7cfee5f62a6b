use super::effects::Shown;
use crate::paint::ERROR;
use crate::timeline::visible;
use haft::core::RunId;
use haft::workdir::{ChangeSet, ChangeStep, Conflict};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What became of undoing the changes of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Undoing {
    /// The run.
    pub(super) run: String,
    /// Whether nothing was done, since it was only asked what would be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) dry_run: bool,
    /// What was done to files, or would be.
    pub(super) effects: Vec<Shown>,
    /// The run that takes back what was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undone_as: Option<String>,
    /// Directories that stay, since something else is in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left: Option<Vec<String>>,
    /// What of it cannot be taken back in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_undoable: Option<Value>,
    /// Why there is nothing to undo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nothing_to_undo: Option<&'static str>,
    /// What stands in the way: then nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) conflicts: Option<Vec<InTheWay>>,
}

/// Something that has changed since.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InTheWay {
    /// The file.
    path: String,
    /// What is in the way, for people.
    why: String,
    /// The call that has changed it since, as far as that is known.
    by: Option<By>,
}

/// A call that has changed a file.
#[derive(Debug, Serialize, JsonSchema)]
struct By {
    /// Its run.
    pub(super) run: String,
    /// The call.
    call: String,
}

impl Undoing {
    pub(super) fn of(run: &RunId) -> Self {
        Self {
            run: run.to_string(),
            dry_run: false,
            effects: Vec::new(),
            undone_as: None,
            left: None,
            not_undoable: None,
            nothing_to_undo: None,
            conflicts: None,
        }
    }

    /// Says that there is nothing to undo.
    pub(crate) fn nothing(run: &RunId, why: &'static str) -> Self {
        Self { nothing_to_undo: Some(why), ..Self::of(run) }
    }

    /// Says what stands in the way of undoing, and who has put it there as far as that is known.
    pub(super) fn refused(
        run: &RunId,
        conflicts: &[Conflict],
        sets: &[ChangeSet],
        later: &[ChangeSet],
    ) -> Self {
        let by = |conflict: &Conflict| {
            let of_these = sets.iter().filter(|set| touches(set, &conflict.path)).map(|set| set.id).max()?;
            let after =
                |set: &&ChangeSet| set.is_in_force() && set.id > of_these && touches(set, &conflict.path);
            let set = later.iter().filter(after).max_by_key(|set| set.id)?;
            Some(By { run: set.origin.run.to_string(), call: set.origin.call.to_string() })
        };
        let in_the_way = |conflict: &Conflict| InTheWay {
            path: conflict.path.clone(),
            why: conflict.to_string(),
            by: by(conflict),
        };
        Self { conflicts: Some(conflicts.iter().map(in_the_way).collect()), ..Self::of(run) }
    }

    /// Tells whether nothing was undone although that was asked for.
    pub(crate) fn refuses(&self) -> bool {
        self.nothing_to_undo.is_some() || self.conflicts.is_some()
    }

    /// Tells whether there was nothing left to undo.
    pub(crate) fn is_of_nothing(&self) -> bool {
        self.nothing_to_undo.is_some()
    }

    /// The files that were put back, removed or moved, for whoever has to know.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.effects.iter().map(Shown::path)
    }

    /// Prints it for people.
    pub(crate) fn print(&self) {
        let run = &self.run;
        if let Some(why) = self.nothing_to_undo {
            errln!("{ERROR}error{ERROR:#}: there is nothing of the run `{run}` to undo: {why}");
            return;
        }
        if let Some(conflicts) = &self.conflicts {
            errln!("{ERROR}error{ERROR:#}: nothing was undone");
            for InTheWay { why, by, .. } in conflicts {
                let by = by
                    .as_ref()
                    .map(|By { run, call }| format!(", by the call `{}` of the run `{run}`", visible(call)));
                errln!("  {}{}", visible(why), by.unwrap_or_default());
            }
            errln!(
                "`haft diff {run}` shows what the run has changed; put these right by hand, or undo other calls of it with \
                 `--call`."
            );
            return;
        }
        let left: Vec<&str> = self.left.iter().flatten().map(String::as_str).collect();
        for effect in self.effects.iter().filter(|effect| !effect.is_about(&left)) {
            effect.print(!self.dry_run);
        }
        for directory in left {
            outln!("left the directory {}, since something else is in it", visible(directory));
        }
        if let Some(undoing) = &self.undone_as {
            errln!("`haft undo {undoing}` takes this back.");
        }
    }
}

fn touches(set: &ChangeSet, path: &str) -> bool {
    set.steps.iter().any(|step| match step {
        ChangeStep::Set { path: changed, .. } => changed == path,
        ChangeStep::Move { from, to, .. } => from == path || to == path,
        _ => false,
    })
}
