use haft_core::Usage;
use serde::{Deserialize, Serialize};

/// Says when a turn of a model was taken, and what it cost.
///
/// The run itself knows no time: whoever drives it says so with [`RunEvent::TurnTaken`](crate::RunEvent::TurnTaken), for each
/// time that a model was asked, also where that came to nothing. [`RunState::turn_records`](crate::RunState::turn_records)
/// lists them.
///
/// ```
/// use haft_agent::{RunEvent, RunState, TurnRecord};
///
/// let mut state = RunState::new();
/// state.step(RunEvent::Prompted { text: "Fix the failing test.".into() })?;
/// let record = TurnRecord::new(1, "claude-sonnet-4-5", 1_700_000_000_000).took_us(2_500_000);
/// state.step(RunEvent::TurnTaken { record: record.clone() })?;
/// assert_eq!(state.turn_records().collect::<Vec<_>>(), [&record]);
/// # Ok::<(), haft_agent::StepError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TurnRecord {
    /// Which turn of the run it is, from 1; one that came to nothing has the number of that which is taken instead.
    pub turn: u32,
    /// The model that was asked.
    pub model: String,
    /// When it was, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// How long its answer took, in microseconds.
    pub took_us: u64,
    /// What the model says that it cost; zero where it says nothing.
    pub usage: Usage,
    /// What that costs, in billionths of what its price was given in; zero without a price, and estimated where the model does
    /// not say what it read and wrote.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_nanos: u64,
    /// Why it came to nothing, in a word; none for a turn that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl TurnRecord {
    /// Begins with which turn it is, the model, and when it was asked, in milliseconds since the Unix epoch.
    pub fn new(turn: u32, model: impl Into<String>, at_ms: u64) -> Self {
        let usage = Usage::default();
        Self { turn, model: model.into(), at_ms, took_us: 0, usage, cost_nanos: 0, error: None }
    }

    /// How long the answer took, in microseconds.
    pub fn took_us(mut self, micros: u64) -> Self {
        self.took_us = micros;
        self
    }

    /// What it cost: in tokens, and in billionths of what the model's price was given in.
    pub fn cost(mut self, usage: Usage, nanos: u64) -> Self {
        (self.usage, self.cost_nanos) = (usage, nanos);
        self
    }

    /// Why it came to nothing, in a word.
    pub fn error(mut self, why: impl Into<String>) -> Self {
        self.error = Some(why.into());
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(nanos: &u64) -> bool {
    *nanos == 0
}
