use haft_core::{CallId, RunId};

/// Chooses records of the journal: by default the newest 1,000.
///
/// ```
/// use haft_store::RecordFilter;
///
/// let filter = RecordFilter::new().run("run-1".parse()?).most(20);
/// # let _ = filter;
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RecordFilter {
    pub(crate) run: Option<RunId>,
    pub(crate) call: Option<CallId>,
    pub(crate) since_ms: u64,
    pub(crate) most: u32,
}

impl Default for RecordFilter {
    fn default() -> Self {
        Self { run: None, call: None, since_ms: 0, most: 1000 }
    }
}

impl RecordFilter {
    /// Chooses the newest 1,000.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses only those of this run.
    pub fn run(mut self, run: RunId) -> Self {
        self.run = Some(run);
        self
    }

    /// Chooses only those of this call.
    pub fn call(mut self, call: CallId) -> Self {
        self.call = Some(call);
        self
    }

    /// Chooses only those from this time on, in milliseconds since the Unix epoch.
    pub fn since_ms(mut self, since: u64) -> Self {
        self.since_ms = since;
        self
    }

    /// Chooses so many at most, the newest.
    pub fn most(mut self, most: u32) -> Self {
        self.most = most;
        self
    }
}

/// Names a run of which something is recorded.
///
/// ```
/// # use haft_core::{ReplyStatus, ToolCall, ToolReply};
/// use haft_store::{RecordStore as _, SqliteStore};
/// # use haft_tools_core::{CallScope, Journal};
/// # use std::sync::Arc;
/// #
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = Arc::new(SqliteStore::in_memory()?);
/// # let journal = Journal::new(Arc::clone(&store) as _);
/// # let call = ToolCall::new("c1".parse()?, "send_mail", serde_json::json!({}));
/// # let denied = ToolReply::new(call.id.clone(), "send_mail", ReplyStatus::Denied, "no".into());
/// let lead = CallScope::new("run-1".parse()?);
/// journal.call(&lead.child("run-2".parse()?), &call).ended(&denied)?;
///
/// let newest = &store.recorded_runs(1).await?[0];
/// assert_eq!((newest.run.as_str(), newest.parent.as_deref()), ("run-2", Some("run-1")));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedRun {
    /// The run.
    pub run: String,
    /// The run that started it, if one did.
    pub parent: Option<String>,
    /// When something was last recorded of it, in milliseconds since the Unix epoch.
    pub at_ms: u64,
}

impl RecordedRun {
    /// Names a run that none started, for stores of others; one that did is set in [`parent`](Self::parent).
    ///
    /// ```
    /// use haft_store::RecordedRun;
    ///
    /// let mut run = RecordedRun::new("run-2", 1_700_000_000_000);
    /// run.parent = Some("run-1".to_owned());
    /// assert_eq!((run.run.as_str(), run.at_ms), ("run-2", 1_700_000_000_000));
    /// ```
    pub fn new(run: impl Into<String>, at_ms: u64) -> Self {
        Self { run: run.into(), parent: None, at_ms }
    }
}
