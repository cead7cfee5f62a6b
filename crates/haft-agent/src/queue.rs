use serde::{Deserialize, Serialize};

/// Is a message for a run that is at work, until the model is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Queued {
    /// What it says.
    pub text: String,
    /// When the model is told.
    pub when: When,
}

/// Says when a run takes up a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// As soon as it can: calls that run are finished, and those that have not begun are skipped.
    Now,
    /// Once the calls of the model's turn are answered, before its next one; a run that would end goes on with it.
    AfterTurn,
}

impl Queued {
    /// Makes a message.
    pub fn new(text: impl Into<String>, when: When) -> Self {
        Self { text: text.into(), when }
    }
}
