use crate::{Entry, PendingEntry, RunSummary};
use async_trait::async_trait;
use haft_tools_core::{Grant, StoreError};

/// Lists what is kept, where one entry that cannot be read does not stand in the way of the others.
///
/// A program that shows what waits looks again only when something has changed:
///
/// ```
/// # use haft_core::{Digest, ToolCall};
/// use haft_store::{EntryStore as _, SqliteStore};
/// use haft_tools_core::PendingStore as _;
/// # use haft_tools_core::{CallScope, PendingCall, PendingId};
/// #
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let call = ToolCall::new("c1".parse()?, "send_mail", serde_json::json!({}));
/// # let digest = Digest::of(&call.input);
/// # let pending = PendingCall::new(PendingId::new("p1"), call, &CallScope::new("run-1".parse()?), digest);
/// let store = SqliteStore::in_memory()?;
/// let mark = store.mark().await?;
/// assert_eq!(store.mark().await?, mark);
///
/// store.put(&pending).await?;
/// assert_ne!(store.mark().await?, mark);
/// assert!(store.waits(&pending.id).await?);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait EntryStore: Send + Sync + 'static {
    /// Lists the grants, expired ones and those that cannot be read included, in the order in which they were given.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn grant_entries(&self) -> Result<Vec<Entry<Grant>>, StoreError>;

    /// Lists the calls that wait, those that cannot be read included, those first that have waited longest.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn pending_entries(&self) -> Result<Vec<PendingEntry>, StoreError>;

    /// Marks the state of the journal, of the calls that wait and of the grants: it is another one after each change of these,
    /// whichever process made it.
    ///
    /// Looks at the calls that wait and at the grants, and at one record.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn mark(&self) -> Result<String, StoreError>;

    /// Lists all runs, those that cannot be read included, those first that were saved last.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn run_entries(&self) -> Result<Vec<Entry<RunSummary>>, StoreError>;
}
