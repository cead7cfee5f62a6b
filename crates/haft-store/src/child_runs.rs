use crate::Entry;
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::StoreError;
use serde_json::Value;

/// Keeps the runs that other runs have started, as whoever starts them describes them: their records and states are JSON that
/// is given back as it was.
///
/// A tree is a run of [`RunStore`](crate::RunStore), its root, with all that were started below it. They go with it, when it is
/// deleted, given up or pruned; the root need not be kept for them to be.
///
/// ```
/// use haft_store::{ChildRuns as _, SqliteStore};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (store, root, child) = (SqliteStore::in_memory()?, "run-1".parse()?, "run-2".parse()?);
/// store.put_child(&child, &root, &json!({ "agent": "explorer" })).await?;
/// store.keep_child(&child, json!({ "turns": 1 }), 0, vec![json!("go"), json!("gone")]).await?;
///
/// // After a restart:
/// assert_eq!(store.children(&root).await?, [json!({ "agent": "explorer" })]);
/// let (head, log) = store.child_state(&child).await?.ok_or("it was kept")?;
/// assert_eq!((head, log.len()), (json!({ "turns": 1 }), 2));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ChildRuns: Send + Sync + 'static {
    /// Keeps the record of a run, in the place of the one before; its root stays what it was first.
    ///
    /// # Errors
    ///
    /// When it cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// It is kept or not.
    async fn put_child(&self, run: &RunId, root: &RunId, record: &Value) -> Result<(), StoreError>;

    /// Reads the record of a run.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn child(&self, run: &RunId) -> Result<Option<Value>, StoreError>;

    /// Reads the records of all runs of a tree but its root, in the order in which they were first kept.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn children(&self, root: &RunId) -> Result<Vec<Value>, StoreError>;

    /// Reads the records of all runs of a tree but its root, also those that cannot be read, in the order in which they were
    /// first kept.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn child_entries(&self, root: &RunId) -> Result<Vec<Entry<Value>>, StoreError>;

    /// Keeps where a run stands: its head, in the place of the one before, and the entries of its log from this one on,
    /// counted from 0.
    ///
    /// Entries that are there beyond that belong to no head that was kept, and are replaced.
    ///
    /// # Errors
    ///
    /// When it cannot be kept, there is no [record](Self::put_child) of the run, or entries of its log are missing.
    ///
    /// # Cancel safety
    ///
    /// Kept are the old head, or the new one with all its entries.
    async fn keep_child(
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
    async fn child_state(&self, run: &RunId) -> Result<Option<(Value, Vec<Value>)>, StoreError>;

    /// Forgets all runs of a tree but its root.
    ///
    /// # Errors
    ///
    /// When that cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// All of them are forgotten, or none.
    async fn forget_children(&self, root: &RunId) -> Result<(), StoreError>;
}
