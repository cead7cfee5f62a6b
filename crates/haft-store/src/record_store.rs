use crate::{Entry, RecordFilter, RecordedRun};
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::{JournalRecord, StoreError};

/// Reads the journal that is kept beside the rest, in which several processes may write.
///
/// ```
/// use haft_core::{ReplyStatus, ToolCall, ToolReply};
/// use haft_store::{RecordFilter, RecordStore as _, SqliteStore};
/// use haft_tools_core::{CallScope, Journal};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(SqliteStore::in_memory()?);
/// let journal = Journal::new(Arc::clone(&store) as _);
/// let call = ToolCall::new("c1".parse()?, "send_mail", serde_json::json!({}));
/// let denied = ToolReply::new(call.id.clone(), "send_mail", ReplyStatus::Denied, "no".into());
/// journal.call(&CallScope::new("run-1".parse()?), &call).ended(&denied)?;
///
/// let records = store.records(&RecordFilter::new().run("run-1".parse()?)).await?;
/// assert_eq!((records.len(), records[0].called_as.as_str()), (1, "send_mail"));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait RecordStore: Send + Sync + 'static {
    /// Reads records of the journal, in the order in which they were kept.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn records(&self, filter: &RecordFilter) -> Result<Vec<JournalRecord>, StoreError>;

    /// Lists the runs of which something is recorded, at most so many, those first of which something was recorded last.
    ///
    /// Looks at one record of each run, and at the index for the others.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn recorded_runs(&self, most: u32) -> Result<Vec<RecordedRun>, StoreError>;

    /// Reads all records of a run and of those that it started, directly or not, also those that cannot be read, in the order
    /// in which they were kept.
    ///
    /// Looks at all records since the first of the run.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn record_entries_of_tree(&self, root: &RunId) -> Result<Vec<Entry<JournalRecord>>, StoreError>;
}
