//! The serialised forms of a run, and what is made of older ones.

use super::head::VERSION;
use super::{RunHead, RunState};
use crate::LogEntry;
use haft_core::Message;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::sync::Arc;

/// Says why a run that was kept cannot be gone on with.
///
/// ```
/// use haft_agent::{RestoreError, RunState};
/// use serde_json::json;
///
/// let error = RunState::restore(json!({ "version": 99 }), Vec::new()).unwrap_err();
/// assert!(matches!(error, RestoreError::Version { found: 99 }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// It is of a version that this program does not know.
    #[error(
        "this run was stored in version {found} of the run state; this program reads versions 1 to {VERSION}; use a newer one"
    )]
    Version {
        /// The version.
        found: u64,
    },
    /// Its log does not reach as far as its head.
    #[error(
        "the log of this run has {found} entries and its state was kept with {expected}; restore it with all that was kept"
    )]
    Incomplete {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// It is not a run, or it is damaged.
    #[error("this is not the state of a run")]
    Unreadable(#[from] serde_json::Error),
}

impl RunState {
    /// Puts a run together from its head and the entries of its log, as they were kept.
    ///
    /// What a program kept that wrote all in one is read from the head alone. Entries beyond those that belong to the head
    /// are left out: they were written when the head could no more be.
    ///
    /// ```
    /// use haft_agent::{RunEvent, RunState};
    /// use serde_json::{Value, to_value};
    ///
    /// let mut state = RunState::new();
    /// state.step(RunEvent::Prompted { text: "Fix the failing test.".into() })?;
    /// let head = to_value(state.head())?;
    /// let log: Vec<Value> = state.log_from(0).map(to_value).collect::<Result<_, _>>()?;
    /// assert_eq!(RunState::restore(head, log)?, state);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When it is of an unknown version, incomplete, or no run.
    pub fn restore(head: Value, log: Vec<Value>) -> Result<Self, RestoreError> {
        let (head, mut log) = migrated(head, log)?;
        let head: RunHead = serde_json::from_value(head)?;
        if log.len() < head.entries {
            return Err(RestoreError::Incomplete { expected: head.entries, found: log.len() });
        }
        log.truncate(head.entries);
        let mut state = Self::default();
        for entry in log {
            match serde_json::from_value(entry)? {
                LogEntry::Message(message) => state.take_in(message),
                LogEntry::Compacted(compacted) => {
                    state.telling.compact(&state.messages, compacted).map_err(serde_json::Error::custom)?;
                }
                LogEntry::Turn(record) => state.telling.beside(&state.messages, LogEntry::Turn(record)),
            }
        }
        state.head = head;
        Ok(state)
    }

    fn take_in(&mut self, message: Arc<Message>) {
        self.telling.push(&message);
        self.messages.push(message);
    }
}

/// Brings what was kept to the version that is written now.
fn migrated(mut head: Value, mut log: Vec<Value>) -> Result<(Value, Vec<Value>), RestoreError> {
    let version = head.get("version").and_then(Value::as_u64);
    let found =
        version.ok_or_else(|| serde_json::Error::custom("a run says in which version it was stored"))?;
    if found == 1 {
        let messages = entries(head["messages"].take())?;
        log = messages.into_iter().map(|message| json!({ "message": message })).collect();
        head["entries"] = json!(log.len());
    } else if found > u64::from(VERSION) || found == 0 {
        return Err(RestoreError::Version { found });
    } else if let Some(whole) = head.get_mut("log") {
        log = entries(whole.take())?;
    }
    head["version"] = json!(VERSION);
    Ok((head, log))
}

fn entries(list: Value) -> Result<Vec<Value>, serde_json::Error> {
    match list {
        Value::Array(entries) => Ok(entries),
        _ => Err(serde_json::Error::custom("the messages of a run are a list")),
    }
}

/// Writes head and log in one.
impl Serialize for RunState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            #[serde(flatten)]
            head: &'a RunHead,
            log: Vec<LogEntry>,
        }
        Whole { head: &self.head, log: self.log_from(0).collect() }.serialize(serializer)
    }
}

/// Reads head and log in one, and what version 1 wrote.
impl<'de> Deserialize<'de> for RunState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let whole = Value::deserialize(deserializer)?;
        Self::restore(whole, Vec::new()).map_err(|error| match error {
            RestoreError::Unreadable(error) => D::Error::custom(error),
            other => D::Error::custom(other),
        })
    }
}
