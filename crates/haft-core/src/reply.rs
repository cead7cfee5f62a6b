use crate::present::present;
use crate::{CallId, OutputId, ToolErrorKind, ToolOutput};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// Answers one call: each call gets exactly one reply, whatever happened to it.
///
/// ```
/// use haft_core::{ReplyStatus, ToolOutput, ToolReply};
///
/// let reply = ToolReply::new("c1".parse()?, "glob", ReplyStatus::Ok, ToolOutput::text("src/lib.rs"));
/// assert_eq!((reply.status, reply.output.to_text()), (ReplyStatus::Ok, "src/lib.rs".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolReply {
    /// The call this answers.
    pub call_id: CallId,
    /// The tool's name as the call had it.
    pub name: String,
    /// What the model reads, or the text of what went wrong.
    pub output: ToolOutput,
    /// How the call ended.
    pub status: ReplyStatus,
    /// How long the call took, waiting included; in JSON as whole microseconds.
    #[serde(with = "microseconds", rename = "duration_us")]
    pub duration: Duration,
    /// What was cut from the output, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
    /// What was mended in the arguments before they were used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
}

impl ToolReply {
    /// Makes a reply without repairs, truncation or duration.
    pub fn new(call_id: CallId, name: impl Into<String>, status: ReplyStatus, output: ToolOutput) -> Self {
        Self {
            call_id,
            name: name.into(),
            output,
            status,
            duration: Duration::ZERO,
            truncation: None,
            repairs: Vec::new(),
        }
    }
}

/// Says how a call ended.
///
/// The serde form is a word (`"ok"`, `"denied"`), or for errors an object with the kind (`{"error": "not_found"}`).
///
/// ```
/// use haft_core::{ErrorKind, ReplyStatus};
/// use serde_json::json;
///
/// let status = ReplyStatus::Error(ErrorKind::NotFound);
/// assert!(!status.is_ok());
/// assert_eq!(status.to_string(), "error: not found");
/// assert_eq!(serde_json::to_value(status)?, json!({ "error": "not_found" }));
/// assert_eq!(serde_json::to_value(ReplyStatus::Denied)?, "denied");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyStatus {
    /// The tool ran and succeeded.
    Ok,
    /// The call failed.
    Error(ErrorKind),
    /// The call was not permitted.
    Denied,
    /// The call was cancelled before it was done.
    Cancelled,
    /// The call ran out of time.
    TimedOut,
    /// The call was not started because something before it ended the batch.
    Skipped,
}

impl ReplyStatus {
    /// Tells whether the tool ran and succeeded.
    pub fn is_ok(self) -> bool {
        self == Self::Ok
    }
}

impl fmt::Display for ReplyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Error(ErrorKind::UnknownTool) => "error: unknown tool",
            Self::Error(ErrorKind::InvalidInput) => "error: invalid input",
            Self::Error(ErrorKind::NotFound) => "error: not found",
            Self::Error(ErrorKind::Unavailable) => "error: unavailable",
            Self::Error(ErrorKind::Unauthenticated) => "error: unauthenticated",
            Self::Error(ErrorKind::Failed) => "error: failed",
            Self::Error(ErrorKind::Panicked) => "error: panicked",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed out",
            Self::Skipped => "skipped",
        })
    }
}

impl From<ToolErrorKind> for ReplyStatus {
    fn from(kind: ToolErrorKind) -> Self {
        match kind {
            ToolErrorKind::InvalidInput => Self::Error(ErrorKind::InvalidInput),
            ToolErrorKind::NotFound => Self::Error(ErrorKind::NotFound),
            ToolErrorKind::Denied => Self::Denied,
            ToolErrorKind::Cancelled => Self::Cancelled,
            ToolErrorKind::TimedOut => Self::TimedOut,
            ToolErrorKind::Unavailable => Self::Error(ErrorKind::Unavailable),
            ToolErrorKind::Unauthenticated => Self::Error(ErrorKind::Unauthenticated),
            ToolErrorKind::Failed => Self::Error(ErrorKind::Failed),
        }
    }
}

/// Says why a call failed.
///
/// ```
/// use haft_core::{ErrorKind, ReplyStatus};
///
/// /// Tells whether the host's own code is to blame.
/// fn is_a_bug(status: ReplyStatus) -> bool {
///     status == ReplyStatus::Error(ErrorKind::Panicked)
/// }
///
/// assert!(!is_a_bug(ReplyStatus::Error(ErrorKind::UnknownTool)));
/// assert!(is_a_bug(serde_json::from_str(r#"{"error":"panicked"}"#)?));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no tool of that name.
    UnknownTool,
    /// The arguments do not fit the tool.
    InvalidInput,
    /// What the arguments name is not there.
    NotFound,
    /// Something the tool needs is not there now.
    Unavailable,
    /// A remote party does not know who asks.
    Unauthenticated,
    /// The tool failed.
    Failed,
    /// The tool broke; the fault is the tool's, not the call's.
    Panicked,
}

/// Counts what was cut from an output to fit its bounds, and says where the whole of it is.
///
/// ```
/// use haft_core::Truncation;
///
/// let cut = Truncation::new(1_048_576, 32_768).with_output(Some("out-1".parse()?));
/// assert_eq!(cut.total_bytes - cut.kept_bytes, 1_015_808);
/// assert_eq!(cut.output.as_ref().map(|output| output.as_str()), Some("out-1"));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Truncation {
    /// Bytes of text that the tool gave.
    pub total_bytes: u64,
    /// Bytes of text that were kept.
    pub kept_bytes: u64,
    /// The whole, where it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputId>,
}

impl Truncation {
    /// Counts what was cut from an output that is not stored.
    pub fn new(total_bytes: u64, kept_bytes: u64) -> Self {
        Self { total_bytes, kept_bytes, output: None }
    }

    /// Names the output under which the whole was stored.
    pub fn with_output(mut self, output: Option<OutputId>) -> Self {
        self.output = output;
        self
    }
}

/// Reports one change that was made to a call's arguments so that they fit the schema.
///
/// ```
/// use haft_core::Repair;
/// use serde_json::json;
///
/// let number = Repair::new("/limit", json!("5"), Some(json!(5)), "read the text as a number");
/// assert_eq!(serde_json::to_value(&number)?["to"], 5);
///
/// let removed = Repair::new("/offset", json!(null), None, "left out what is null");
/// assert!(serde_json::to_value(&removed)?.get("to").is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// Where, as a JSON pointer into the arguments; empty for the arguments as a whole.
    pub pointer: String,
    /// What was there, cut to a bounded size.
    pub from: Value,
    /// What was put there; `None` where the property was removed.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
    /// What was done, in words.
    pub note: String,
}

impl Repair {
    /// Reports that `from` at `pointer` became `to`.
    pub fn new(pointer: impl Into<String>, from: Value, to: Option<Value>, note: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), from, to, note: note.into() }
    }
}

/// Writes a duration as whole microseconds, which every JSON reader can hold exactly.
mod microseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}
