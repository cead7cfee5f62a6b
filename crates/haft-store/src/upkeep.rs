use crate::{GivenUp, Pruned};
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::StoreError;
use std::time::Duration;

/// Removes what is of no use any more, and ends what nobody is to go on with.
///
/// Each start of a program may ask for it, and only the first of a day does it:
///
/// ```
/// use haft_store::{SqliteStore, Upkeep as _};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = SqliteStore::in_memory()?;
/// let (month, day) = (Duration::from_hours(30 * 24), Duration::from_hours(24));
/// assert!(store.prune_if_due(month, day).await?.is_some());
/// assert!(store.prune_if_due(month, day).await?.is_none());
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Upkeep: Send + Sync + 'static {
    /// Removes what has been of no use for as long: records, expired grants, pending calls that have expired, claimed or not,
    /// and runs with the grants for them and what is left of their claimed calls.
    ///
    /// A run is of no use when it has ended, and also when it has not, but no call waits in it and nobody has
    /// [taken](crate::RunStore::take) it: its process has ended in the middle of its work. What is left of a claimed call
    /// that does not expire, and whose run is not kept here, stays for good, since it is what keeps the call from running
    /// again.
    ///
    /// # Errors
    ///
    /// When it cannot be done; nothing was removed then.
    ///
    /// # Cancel safety
    ///
    /// All of it is removed, or nothing.
    async fn prune(&self, older_than: Duration) -> Result<Pruned, StoreError>;

    /// [Prunes](Self::prune), unless that was done within the time `every`, whichever process did it.
    ///
    /// So it can be called each time that a program has the store open; where it is not due, it takes one look.
    ///
    /// # Errors
    ///
    /// When it cannot be done; nothing was removed then.
    ///
    /// # Cancel safety
    ///
    /// All of it is removed, or nothing.
    async fn prune_if_due(&self, older_than: Duration, every: Duration)
    -> Result<Option<Pruned>, StoreError>;

    /// Ends a run that nobody is to go on with: its calls and those of runs below it wait no more, where it stood is forgotten,
    /// and its grants, too.
    ///
    /// None of it has to be readable. What is overwritten is gone as for a call that is claimed; a call that
    /// was given up does not run, whoever still holds it. [Take](crate::RunStore::take) the run first, so that nobody is at
    /// work on it.
    ///
    /// # Errors
    ///
    /// When that cannot be kept: then all is as it was.
    ///
    /// # Cancel safety
    ///
    /// The run is given up or not.
    async fn give_up(&self, run: &RunId) -> Result<GivenUp, StoreError>;
}
