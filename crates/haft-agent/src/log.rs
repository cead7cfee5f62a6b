use crate::{Compacted, TurnRecord};
use haft_core::Message;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Is one entry of what a run has to keep; entries are only ever added, so each is written once.
///
/// Cheap to clone.
///
/// ```
/// use haft_agent::{LogEntry, RunEvent, RunState};
///
/// let mut state = RunState::new();
/// state.step(RunEvent::Prompted { text: "Mend it.".to_owned() })?;
/// let kept: Vec<LogEntry> = state.log_from(0).collect();
/// assert!(matches!(&kept[..], [LogEntry::Message(_)]));
/// // What was kept already is not written again.
/// assert_eq!(state.log_from(kept.len()).count(), 0);
/// # Ok::<(), haft_agent::StepError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LogEntry {
    /// A message of the transcript.
    Message(Arc<Message>),
    /// From here on the model is told less of the messages before.
    Compacted(Arc<Compacted>),
    /// A turn of the model: when it was taken, and what it cost.
    Turn(Arc<TurnRecord>),
}
