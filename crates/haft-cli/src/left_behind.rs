//! What agents left that worked in places of their own: it goes when nobody can go on with their runs.

use crate::kept_state::{KeptState, KeptStore};
use crate::user_directories::UserDirectories;
use anyhow::Result;
use haft::core::RunId;
use haft::subagents::{KeptChanges, Worktrees};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// For how long what a run left stays that is not kept itself: a person can look at it until then, and where another store is
/// configured than the one that keeps the run, its calls wait no longer than a week by default.
const LEFT_FOR: Duration = Duration::from_hours(8 * 24);

/// Removes the places of runs that are not kept any more, and what they changed and nobody applied.
pub(crate) async fn clear_up(state: &KeptState) -> Result<()> {
    let Some(left) = LeftBehind::find()? else { return Ok(()) };
    let found = Mutex::new(BTreeSet::new());
    let note = |run: &RunId| {
        found.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
        true
    };
    left.prune(LEFT_FOR, note).await?;
    let mut wanted = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    if wanted.is_empty() {
        return Ok(());
    }
    match state.existing()? {
        Some(store) => {
            let mut kept = BTreeSet::new();
            for run in wanted {
                // One that cannot be read is another version's.
                if store.get(&run).await.is_ok_and(|record| record.is_none()) {
                    continue;
                }
                kept.insert(run);
            }
            wanted = kept;
        }
        None => wanted.clear(),
    }
    left.prune(LEFT_FOR, |run| wanted.contains(run)).await
}

/// Lists the runs that were started in the tree below a run, for when that is [dropped](drop_with).
pub(crate) async fn runs_below(store: &dyn KeptStore, run: &RunId) -> BTreeSet<RunId> {
    let tree = store.tree(run).await.unwrap_or_default();
    tree.into_iter().map(|record| record.run).collect()
}

/// Removes what these runs left.
pub(crate) async fn drop_with(runs: &BTreeSet<RunId>) -> Result<()> {
    match LeftBehind::find()? {
        Some(left) if !runs.is_empty() => left.prune(Duration::ZERO, |run| !runs.contains(run)).await,
        _ => Ok(()),
    }
}

/// Is where agents leave something.
struct LeftBehind {
    places: PathBuf,
    patches: PathBuf,
}

impl LeftBehind {
    fn find() -> Result<Option<Self>> {
        let user = UserDirectories::from_environment();
        let (Some(places), Some(patches)) = (user.places()?, user.patches()?) else { return Ok(None) };
        Ok(Some(Self { places, patches }))
    }

    async fn prune(
        &self,
        older_than: Duration,
        is_wanted: impl Fn(&RunId) -> bool + Send + Sync,
    ) -> Result<()> {
        let pruned = Worktrees::prune_in(&self.places, older_than, &is_wanted).await;
        // Looking at them would make the directory.
        if self.patches.is_dir() {
            KeptChanges::new(&self.patches).prune(older_than, &is_wanted)?;
        }
        pruned.map(drop).map_err(Into::into)
    }
}
