//! What runs have changed in files: recording it, showing it and undoing it.

mod diff;
mod effects;
mod kept;
mod net;
mod options;
mod patches;
mod run;
mod undo;
mod undoing;

pub(crate) use diff::{ChangesOf, diff};
pub(crate) use options::{ChangeQuota, DiffOptions, UndoOptions, WhichOptions};
pub(crate) use patches::patches_of;
pub(crate) use undo::{undo, undoing};
pub(crate) use undoing::Undoing;

use crate::exit;
use crate::paint::ASKS;
use crate::policy_setup::is_there;
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use anyhow::Result;
use haft::Workdir;
use haft::core::RunId;
use haft::workdir::{ChangeJournal as _, ChangeLimits, ChangeSet, ChangeSetId, Recovered};
use kept::KeptChanges;
use std::sync::Arc;

/// Has what tools change in a directory be recorded, and takes back what a process has left unfinished that was killed.
///
/// Where there is no place to record it in, the tools work all the same.
pub(crate) fn journalled(workdir: Workdir, user: &UserDirectories, quota: ChangeQuota) -> Result<Workdir> {
    let (Some(path), Some(limits)) = (user.changes_file()?, quota.limits()) else { return Ok(workdir) };
    let workdir = workdir.journalled(Arc::new(KeptChanges::at(path, limits)));
    match workdir.recover() {
        Ok(recovered) => recovered.iter().for_each(print_recovered),
        Err(error) => exit::note(&error),
    }
    Ok(workdir)
}

/// The last change of a run and of those below it that is known, if there is one.
pub(crate) fn last_change(run: &RunId) -> Result<Option<ChangeSetId>> {
    Ok(changes_of(run)?.into_iter().map(|set| set.id).max())
}

/// Lists the changes of a run and of those below it, the oldest first; none where none are recorded.
pub(crate) fn changes_of(run: &RunId) -> Result<Vec<ChangeSet>> {
    let Some(path) = UserDirectories::from_environment().changes_file()?.filter(|path| is_there(path)) else {
        return Ok(Vec::new());
    };
    Ok(KeptChanges::at(path, ChangeLimits::default()).sets(run)?)
}

fn print_recovered(recovered: &Recovered) {
    let list = |paths: &[String]| paths.iter().map(|path| visible(path)).collect::<Vec<_>>().join(", ");
    let run = visible(recovered.origin.run.as_str());
    errln!(
        "{ASKS}note{ASKS:#}: a call of the run `{run}` was killed before it was done; what it had done was taken back: {}",
        list(&recovered.paths)
    );
    if !recovered.left.is_empty() {
        errln!(
            "  these could not be put back, since something else has changed them: {}",
            list(&recovered.left)
        );
    }
}
