use crate::{Entry, RecordFilter, RecordedRun};
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::{JournalRecord, StoreError};

/// Reads the journal that is kept beside the rest, in which several processes may write.
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
