use serde::{Deserialize, Serialize};

/// Is a message for a run that is at work, until the model is told.
///
/// ```
/// use haft_agent::{Queued, RunEvent, RunState, SteerWhen};
///
/// let mut state = RunState::new();
/// state.step(RunEvent::Prompted { text: "Mend it.".to_owned() })?;
/// let text = "And the tests.".to_owned();
/// state.step(RunEvent::Steered { text: text.clone(), when: SteerWhen::AfterTurn })?;
/// assert_eq!(state.queue(), [Queued::new(text, SteerWhen::AfterTurn)]);
/// # Ok::<(), haft_agent::StepError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Queued {
    /// What it says.
    pub text: String,
    /// When the model is told.
    pub when: SteerWhen,
}

/// Says when a run takes up a message.
///
/// ```
/// use haft_agent::SteerWhen;
///
/// let when: SteerWhen = serde_json::from_str(r#""after_turn""#)?;
/// assert_eq!(when, SteerWhen::AfterTurn);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SteerWhen {
    /// As soon as it can: calls that run are finished, and those that have not begun are skipped.
    Now,
    /// Once the calls of the model's turn are answered, before its next one; a run that would end goes on with it.
    AfterTurn,
}

impl Queued {
    /// Makes a message.
    pub fn new(text: impl Into<String>, when: SteerWhen) -> Self {
        Self { text: text.into(), when }
    }
}
