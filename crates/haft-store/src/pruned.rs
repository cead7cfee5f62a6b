/// Counts what was removed.
///
/// ```
/// use haft_store::{RunStatus, RunStore as _, SqliteStore, StoredRun, Upkeep as _};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = SqliteStore::in_memory()?;
/// let mut run = StoredRun::new("run-1".parse()?);
/// run.status = RunStatus::Ended;
/// store.save(&mut run).await?;
///
/// # std::thread::sleep(Duration::from_millis(2));
/// let pruned = store.prune(Duration::ZERO).await?;
/// assert_eq!((pruned.runs, pruned.records, pruned.pending, pruned.grants), (1, 0, 0, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Records of the journal.
    pub records: usize,
    /// Calls that nobody can go on with any more.
    pub pending: usize,
    /// Runs that have ended, or that nobody works on.
    pub runs: usize,
    /// Grants that have expired, or that held for one of these runs.
    pub grants: usize,
}
