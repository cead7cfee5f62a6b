use haft_agent::{Budget, Spent};
use haft_core::{CallId, RunId};
use haft_tools_core::{PendingCall, now_ms};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Holds what is known of a run that another one started: plain data that survives the process.
///
/// ```
/// use haft_core::RunId;
/// use haft_subagents::{ChildRecord, Supervisor};
///
/// /// Says in a line each what became of the runs below one.
/// async fn below(supervisor: &Supervisor, run: &RunId) -> Result<Vec<String>, haft_tools_core::StoreError> {
///     let line = |child: &ChildRecord| format!("{} {}: {}", child.path, child.agent, child.status.name());
///     Ok(supervisor.children(run).await?.iter().map(line).collect())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let supervisor = Supervisor::builder().build();
/// assert!(below(&supervisor, &"run-1".parse()?).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChildRecord {
    /// The version of the form: [`ChildRecord::VERSION`].
    pub version: u32,
    /// Names the run; the same for each time that one call starts it.
    pub run: RunId,
    /// The run that started it.
    pub parent: RunId,
    /// The run that no other run started, at the top of the tree.
    pub root: RunId,
    /// How many runs are above it.
    pub depth: u32,
    /// The call that started it.
    pub call: CallId,
    /// Its place among the tasks of that call, from 0.
    pub place: usize,
    /// Names it within its tree by calls and places, as in `c1/0` or, two levels below, `c1/0/c7/2`: sessions that were
    /// [recorded](haft_model::Session::of_run) do so.
    pub path: String,
    /// How many messages the transcript of the parent had when the call was made, where that is known: a later call has more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_messages: Option<u64>,
    /// The agent that works in it.
    pub agent: String,
    /// What it was asked to do.
    pub task: String,
    /// Whether its parent goes on without waiting for it.
    pub background: bool,
    /// Where it stands.
    pub status: ChildStatus,
    /// What was said to it while nobody drove it, and it was not told yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inbox: Vec<String>,
    /// What of that it was given, which it has or has not when its process ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) handed: Option<Handed>,
    /// Whether its parent was told how it ended.
    #[serde(default)]
    pub told: bool,
    /// How its parent was told, until it is seen to have that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) told_by: Option<ToldBy>,
    /// What it may spend in all: no more than what its parent had left when it was asked for, and than what was set aside for
    /// it since.
    #[serde(default)]
    pub budget: Budget,
    /// What it has spent, with those it started.
    #[serde(default)]
    pub spent: Spent,
    /// When it was asked for, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// When it ended, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
}

/// Says where a run stands that another one started.
///
/// ```
/// use haft_subagents::{ChildResult, ChildStatus};
///
/// let status = ChildStatus::Ended { result: ChildResult::done("In src/parse.rs.") };
/// assert_eq!((status.name(), ChildStatus::Queued.name()), ("done", "queued"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChildStatus {
    /// It has not begun: others are at work.
    Queued,
    /// It is at work, or was when its process ended.
    Running,
    /// It waits for a person.
    Waiting {
        /// Its calls that wait.
        calls: Vec<PendingCall>,
    },
    /// It is over.
    Ended {
        /// What became of it.
        result: ChildResult,
    },
}

/// Says what a run was given of what was said to it, and where it stood then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Handed {
    /// How many texts it was given.
    pub(crate) texts: usize,
    /// Whether it was begun with them.
    #[serde(default)]
    pub(crate) begins: bool,
    /// How many entries its log had.
    pub(crate) entries: usize,
    /// What it was told before, and its transcript had not yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) queue: Vec<String>,
}

/// Says how a run was told that another one has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToldBy {
    /// By the answer to a call of its own.
    Call {
        call: CallId,
        /// How many messages its transcript had when the call was made, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_messages: Option<u64>,
    },
    /// By a message.
    Message {
        /// How many messages its transcript had then, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_messages: Option<u64>,
    },
}

/// Holds what a run that another one started came to.
///
/// ```
/// use haft_subagents::{ChildEnd, ChildResult};
///
/// let reason = "its budget of turns is spent".to_owned();
/// let result = ChildResult::new(ChildEnd::Stopped { reason }, "Two of three files are read.");
/// assert_eq!(serde_json::to_value(&result)?["end"]["end"], "stopped");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChildResult {
    /// How it ended.
    pub end: ChildEnd,
    /// What it said last, or its result as it [reported](crate::report) it; can be empty.
    pub text: String,
    /// Its result as data, where its agent has a schema for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// What people should know of how it ended, and the model of its parent is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Says how a run ended that another one started.
///
/// ```
/// use haft_subagents::ChildEnd;
///
/// let end: ChildEnd = serde_json::from_str(r#"{"end": "failed", "reason": "its model is gone"}"#)?;
/// assert_eq!(end, ChildEnd::Failed { reason: "its model is gone".to_owned() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChildEnd {
    /// It has done its task.
    Done,
    /// It was stopped before it was done; what it said last tells how far it got.
    Stopped {
        /// Why, for the model of its parent.
        reason: String,
    },
    /// It broke.
    Failed {
        /// Why, for the model of its parent.
        reason: String,
    },
    /// Somebody cancelled it.
    Cancelled,
    /// The process that drove it ended, and it cannot be gone on with.
    Lost {
        /// Why, for the model of its parent.
        reason: String,
    },
}

impl ChildRecord {
    /// The version of the form that is written.
    pub const VERSION: u32 = 1;

    /// Whether it is over.
    pub fn has_ended(&self) -> bool {
        matches!(self.status, ChildStatus::Ended { .. })
    }

    /// How it ended, once it has.
    pub fn result(&self) -> Option<&ChildResult> {
        match &self.status {
            ChildStatus::Ended { result } => Some(result),
            _ => None,
        }
    }

    /// Its calls that wait for a person.
    pub fn pending(&self) -> &[PendingCall] {
        match &self.status {
            ChildStatus::Waiting { calls } => calls,
            _ => &[],
        }
    }

    /// Whether it has ended in the background, and the run that started it was not told.
    pub(crate) fn is_untold(&self) -> bool {
        self.background && self.has_ended() && !self.told
    }

    pub(crate) fn begin_again(&mut self) {
        (self.told, self.told_by) = (false, None);
        self.status = ChildStatus::Queued;
        self.ended_at_ms = None;
    }

    pub(crate) fn end(&mut self, result: ChildResult) {
        self.status = ChildStatus::Ended { result };
        self.ended_at_ms = Some(now_ms());
    }
}

impl ChildStatus {
    /// The status in one word, as people and models read it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting { .. } => "waiting for the user",
            Self::Ended { result } => result.end.name(),
        }
    }
}

impl ChildResult {
    /// Makes the result of a run that ended so, and said this last.
    pub fn new(end: ChildEnd, text: impl Into<String>) -> Self {
        Self { end, text: text.into(), structured: None, detail: None }
    }

    /// Makes the result of a run that has done its task.
    pub fn done(text: impl Into<String>) -> Self {
        Self::new(ChildEnd::Done, text)
    }

    /// Makes the result of a run that broke, for a reason that its parent's model is told.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::new(ChildEnd::Failed { reason: reason.into() }, "")
    }

    /// Adds the result as data.
    pub fn with_structured(mut self, structured: Value) -> Self {
        self.structured = Some(structured);
        self
    }

    /// Adds what people should know of how it ended, and the model of its parent is not told.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(ChildEnd::Cancelled, "")
    }

    pub(crate) fn lost(reason: impl Into<String>) -> Self {
        Self::new(ChildEnd::Lost { reason: reason.into() }, "")
    }
}

impl ChildEnd {
    /// The end in one word, as people and models read it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stopped { .. } => "stopped",
            Self::Failed { .. } => "failed",
            Self::Cancelled => "cancelled",
            Self::Lost { .. } => "lost",
        }
    }
}
