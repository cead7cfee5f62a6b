use crate::{RunLease, RunSummary, StoredRun};
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::StoreError;
use serde_json::Value;

/// Keeps runs, so that another process can go on with them.
///
/// Who goes on with a run [takes](Self::take) it first, so that nobody else does at the same time, then
/// [loads](Self::load) it with its [log](Self::log), and [appends](Self::append) to it after each step.
///
/// ```
/// use haft_store::{MemoryRuns, RunStore as _, StoredRun};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryRuns::new();
/// let mut run = StoredRun::new("run-1".parse()?);
/// run.state = json!({ "turns": 1 });
/// store.append(&mut run, vec![json!("go"), json!("gone")]).await?;
/// assert_eq!(run.entries, 2);
/// assert_eq!(store.log(&run.run).await?, [json!("go"), json!("gone")]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait RunStore: Send + Sync + 'static {
    /// Keeps a run in place of what was kept of it, and adds entries to its log; sets its revision, the number of its
    /// entries, and the time.
    ///
    /// Both are kept together or not at all. What was in the log before is not touched, so this costs no more after a
    /// thousand entries than after one.
    ///
    /// # Errors
    ///
    /// When it was saved or deleted since it was loaded, and when it cannot be kept, such as what is nested too deep to be
    /// read again (in more than 127 levels); nothing has changed then.
    ///
    /// # Cancel safety
    ///
    /// As for [`RunStore::save`].
    async fn append(&self, run: &mut StoredRun, entries: Vec<Value>) -> Result<(), SaveError>;

    /// Keeps a run in place of what was kept of it, and sets its revision and the time; its log stays as it is.
    ///
    /// # Errors
    ///
    /// When it was saved or deleted since it was loaded, and when it cannot be kept; nothing has changed then.
    ///
    /// # Cancel safety
    ///
    /// The run is kept or not kept. If it is dropped half-way, the run has to be loaded before it is saved again.
    async fn save(&self, run: &mut StoredRun) -> Result<(), SaveError> {
        self.append(run, Vec::new()).await
    }

    /// Reads the log of a run, in the order in which it was written; one that is not there has none.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn log(&self, run: &RunId) -> Result<Vec<Value>, StoreError>;

    /// Reads a run without its log.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn load(&self, run: &RunId) -> Result<Option<StoredRun>, StoreError>;

    /// Lists all runs, those first that were saved last.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn list_runs(&self) -> Result<Vec<RunSummary>, StoreError>;

    /// Forgets a run with its log; gives whether it was there.
    ///
    /// # Errors
    ///
    /// When that cannot be kept: the run is still there.
    ///
    /// # Cancel safety
    ///
    /// The run is deleted or not deleted.
    async fn delete(&self, run: &RunId) -> Result<bool, StoreError>;

    /// Takes the right to go on with a run, until the lease is dropped or its process ends, however it does.
    ///
    /// That the run is not there does not matter.
    ///
    /// # Errors
    ///
    /// When somebody else has it, and when that cannot be told.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a lease that nobody gets is given back.
    async fn take(&self, run: &RunId) -> Result<RunLease, TakeError>;
}

/// Says why a run was not saved.
///
/// ```
/// use haft_store::{MemoryRuns, RunStore as _, SaveError, StoredRun};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryRuns::new();
/// let mut mine = StoredRun::new("run-1".parse()?);
/// store.save(&mut mine).await?;
/// let mut theirs = store.load(&mine.run).await?.ok_or("it is there")?;
/// store.save(&mut theirs).await?;
///
/// let error = store.save(&mut mine).await.unwrap_err();
/// assert!(matches!(error, SaveError::Outdated { stored: 2, held: 1, .. }));
/// mine = store.load(&mine.run).await?.ok_or("it is there")?;
/// store.save(&mut mine).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// Somebody saved it since it was loaded.
    #[error(
        "the run `{run}` was saved by somebody else (revision {stored}, where {held} was loaded); load it again"
    )]
    Outdated {
        /// The run.
        run: RunId,
        /// The revision that is kept.
        stored: u64,
        /// The revision that was to be saved over.
        held: u64,
    },
    /// Somebody deleted it since it was loaded.
    #[error("the run `{run}` was deleted since it was loaded; begin a new one")]
    Deleted {
        /// The run.
        run: RunId,
    },
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Says why a run was not taken.
///
/// ```
/// use haft_store::{MemoryRuns, RunStore as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (store, run) = (MemoryRuns::new(), "run-1".parse()?);
/// let _lease = store.take(&run).await?;
/// let error = store.take(&run).await.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     format!(
///         "the run `run-1` is being worked on by the process {}; wait until that ends, or end it",
///         std::process::id()
///     )
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// Somebody has it.
    #[error("the run `{run}` is being worked on{}; wait until that ends, or end it", .process.map(|process| format!(" by the process {process}")).unwrap_or_default())]
    Held {
        /// The run.
        run: RunId,
        /// The number of the process that has it, as far as it is known; for people.
        process: Option<u32>,
    },
    /// It cannot be told whether somebody has it.
    #[error(transparent)]
    Store(#[from] StoreError),
}
