use crate::DatabaseError;
use haft_tools_core::{Approval, PendingCall, PendingId};
use serde_json::Value;

/// Is one entry of a list in which those stand, too, that cannot be read.
///
/// An entry cannot be read when it is damaged, or when another version of the program wrote it. Its name can, so that it can
/// be removed.
///
/// Of two grants here, one was damaged:
///
/// ```
/// # use haft_core::Decision;
/// use haft_store::{EntryStore as _, SqliteStore};
/// # use haft_tools_core::{Grant, GrantPlace, GrantStore as _};
/// #
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("haft.db");
/// # let store = SqliteStore::open(&path)?;
/// # for rule in ["read(a)", "read(b)"] {
/// #     store.add(&Grant::new(Decision::Allow, rule, None, GrantPlace::Always)).await?;
/// # }
/// # rusqlite::Connection::open(&path)?.execute_batch("UPDATE grants SET body = '{' WHERE rowid = 1")?;
/// for entry in store.grant_entries().await? {
///     if entry.value.is_err() {
///         assert!(store.revoke(&entry.id).await?);
///     }
/// }
/// assert_eq!(store.list_grants().await?[0].rule, "read(b)");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry<T> {
    /// Names it.
    pub id: String,
    /// What it holds, or why that cannot be read.
    pub value: Result<T, DatabaseError>,
}

impl<T> Entry<T> {
    /// Makes an entry, for stores of others.
    ///
    /// ```
    /// use haft_store::Entry;
    ///
    /// let entry = Entry::new("g1", Ok("read(notes)"));
    /// assert_eq!((entry.id.as_str(), entry.value.ok()), ("g1", Some("read(notes)")));
    /// ```
    pub fn new(id: impl Into<String>, value: Result<T, DatabaseError>) -> Self {
        Self { id: id.into(), value }
    }
}

/// Is one call that waits, also one that cannot be read.
///
/// ```
/// # use haft_core::{Digest, ToolCall};
/// use haft_store::{EntryStore as _, SqliteStore};
/// use haft_tools_core::{Approval, PendingStore as _};
/// # use haft_tools_core::{CallScope, PendingCall, PendingId};
/// #
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let call = ToolCall::new("c1".parse()?, "send_mail", serde_json::json!({}));
/// # let digest = Digest::of(&call.input);
/// # let scope = CallScope::new("run-1".parse()?).child("run-2".parse()?);
/// # let pending = PendingCall::new(PendingId::new("p1"), call, &scope, digest);
/// let store = SqliteStore::in_memory()?;
/// store.put(&pending).await?;
/// store.answer(&pending.id, &Approval::Approve).await?;
///
/// let entry = &store.pending_entries().await?[0];
/// assert_eq!((entry.run.as_str(), entry.top.as_str()), ("run-2", "run-1"));
/// assert_eq!(entry.answer.as_ref().ok(), Some(&Some(Approval::Approve)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct PendingEntry {
    /// Names it.
    pub id: PendingId,
    /// The run it belongs to.
    pub run: String,
    /// The run at the top of those above it, which is the one to be gone on with; its own if there is none above, or that
    /// cannot be read.
    pub top: String,
    /// When it was asked, in milliseconds since the Unix epoch.
    pub asked_at_ms: u64,
    /// The call, or why it cannot be read.
    pub call: Result<PendingCall, DatabaseError>,
    /// The answer that was kept to it, if there is one, or why that cannot be read.
    pub answer: Result<Option<Approval>, DatabaseError>,
    /// What the host of its run, or else of the one at the top, has kept of itself: `null` where neither is kept or can be
    /// read.
    pub host: Value,
}

impl PendingEntry {
    /// Makes an entry without an answer and without anything of a host, for stores of others.
    ///
    /// The run at the top is the one that the call names, or its own; what else is known is set in its fields.
    ///
    /// ```
    /// use haft_store::{DatabaseError, PendingEntry};
    /// use haft_tools_core::{Approval, PendingId};
    ///
    /// let id = PendingId::new("p1");
    /// let damaged = DatabaseError::Damaged { source: "it ends too early".into() };
    /// let mut entry = PendingEntry::new(id, "run-1", 1_700_000_000_000, Err(damaged));
    /// entry.answer = Ok(Some(Approval::Approve));
    /// assert_eq!((entry.run.as_str(), entry.top.as_str()), ("run-1", "run-1"));
    /// assert!(entry.host.is_null());
    /// ```
    pub fn new(
        id: PendingId,
        run: impl Into<String>,
        asked_at_ms: u64,
        call: Result<PendingCall, DatabaseError>,
    ) -> Self {
        let run = run.into();
        let above = call.as_ref().ok().and_then(|call| call.above.last());
        let top = above.map_or_else(|| run.clone(), |top| top.run.to_string());
        Self { id, run, top, asked_at_ms, call, answer: Ok(None), host: Value::Null }
    }
}
