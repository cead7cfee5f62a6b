#[cfg(feature = "store")]
mod kept;
mod memory;

pub use memory::MemoryChildren;

use crate::ChildRecord;
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::StoreError;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Keeps the runs that other runs have started, and where they stand, so that another process can go on with them.
///
/// Of each run a [record](ChildRecord) is kept, and beside it its state in two parts: the head, which takes the place of the
/// one before, and a log, to which each step adds.
///
/// ```
/// use haft_subagents::{ChildStore as _, MemoryChildren};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (store, run) = (MemoryChildren::default(), "run-2".parse()?);
/// store.keep(&run, json!({ "turns": 1 }), 0, vec![json!("asked")]).await?;
/// store.keep(&run, json!({ "turns": 2 }), 1, vec![json!("answered")]).await?;
/// let state = store.state(&run).await?;
/// assert_eq!(state, Some((json!({ "turns": 2 }), vec![json!("asked"), json!("answered")])));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ChildStore: Send + Sync + 'static {
    /// Keeps a record, in the place of the one of the same run.
    ///
    /// # Errors
    ///
    /// When it cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// The record is kept or not kept.
    async fn put(&self, record: &ChildRecord) -> Result<(), StoreError>;

    /// Reads the record of a run.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn get(&self, run: &RunId) -> Result<Option<ChildRecord>, StoreError>;

    /// Lists the records of all runs of a tree, in the order in which they were first kept.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn tree(&self, root: &RunId) -> Result<Vec<ChildRecord>, StoreError>;

    /// Keeps where a run stands: its head, and the entries of its log from this one on, counted from 0.
    ///
    /// Entries that are there beyond that are of a process that ended before it kept the head, and are replaced.
    ///
    /// # Errors
    ///
    /// When it cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// Kept are the old head, or the new one with all its entries.
    async fn keep(
        &self,
        run: &RunId,
        head: Value,
        from: usize,
        entries: Vec<Value>,
    ) -> Result<(), StoreError>;

    /// Reads where a run stood, its head and its log, if that was ever kept.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn state(&self, run: &RunId) -> Result<Option<(Value, Vec<Value>)>, StoreError>;

    /// Forgets all runs of a tree.
    ///
    /// # Errors
    ///
    /// When that cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// Some of them are forgotten, and some are not.
    async fn forget(&self, root: &RunId) -> Result<(), StoreError>;
}

/// Lets the one who drives a run keep where it stands, and find it again.
///
/// Cheap to clone.
///
/// ```
/// use haft_subagents::{ChildOutcome, ChildResult, ChildRun};
/// use serde_json::json;
///
/// /// Counts how often a run was driven, over all processes.
/// async fn drive(child: ChildRun) -> ChildOutcome {
///     let before = child.memory.load().await.ok().flatten();
///     let times = before.and_then(|(head, _)| head["times"].as_u64()).unwrap_or_default() + 1;
///     match child.memory.keep(json!({ "times": times }), 0, Vec::new()).await {
///         Ok(()) => ChildOutcome::Ended(ChildResult::done(format!("driven {times} times"))),
///         Err(_) => ChildOutcome::Ended(ChildResult::done("driven, and nobody will know")),
///     }
/// }
/// # let _ = drive;
/// ```
#[derive(Clone)]
pub struct ChildMemory {
    store: Arc<dyn ChildStore>,
    run: RunId,
}

impl ChildMemory {
    pub(crate) fn new(store: Arc<dyn ChildStore>, run: RunId) -> Self {
        Self { store, run }
    }

    /// Reads where the run stood, its head and its log; `None` for one that begins.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn load(&self) -> Result<Option<(Value, Vec<Value>)>, StoreError> {
        self.store.state(&self.run).await
    }

    /// Keeps where the run stands, as [`ChildStore::keep`] does.
    ///
    /// # Errors
    ///
    /// When it cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// As for [`ChildStore::keep`].
    pub async fn keep(&self, head: Value, from: usize, entries: Vec<Value>) -> Result<(), StoreError> {
        self.store.keep(&self.run, head, from, entries).await
    }
}

impl fmt::Debug for ChildMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildMemory").field("run", &self.run).finish_non_exhaustive()
    }
}
