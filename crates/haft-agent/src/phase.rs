use haft_core::{BudgetKind, CallId, ToolCall};
use haft_tools_core::CallOutcome;
use serde::{Deserialize, Serialize};

/// Says where a run stands.
///
/// ```
/// use haft_agent::{Phase, RunEvent, RunState};
///
/// let mut state = RunState::new();
/// assert_eq!(state.phase(), &Phase::New);
/// state.step(RunEvent::Prompted { text: "Mend it.".to_owned() })?;
/// assert_eq!(serde_json::to_string(state.phase())?, r#"{"phase":"thinking"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// Nothing was asked yet.
    New,
    /// The model is to answer.
    Thinking,
    /// Calls are to be executed.
    Acting {
        /// The calls of the last model turn, but for those that the budget does not let be made.
        calls: Vec<ToolCall>,
        /// The calls after them, which are answered as skipped.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<ToolCall>,
    },
    /// Some calls wait for a person, or for those that do; the others are done.
    Waiting {
        /// What became of each call of the last model turn so far, in their order.
        outcomes: Vec<CallOutcome>,
        /// Those that were held back and are being executed now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        executing: Vec<CallId>,
    },
    /// The run is over, unless it is prompted again.
    Ended {
        /// How.
        end: RunEnd,
    },
}

impl Phase {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Thinking => "thinking",
            Self::Acting { .. } => "acting",
            Self::Waiting { .. } => "waiting",
            Self::Ended { .. } => "ended",
        }
    }
}

/// Says how a run ended.
///
/// ```
/// use haft_agent::RunEnd;
/// use haft_core::BudgetKind;
///
/// /// Whether somebody should look.
/// fn is_odd(end: &RunEnd) -> bool {
///     !matches!(end, RunEnd::Completed | RunEnd::Cancelled)
/// }
///
/// assert!(is_odd(&RunEnd::BudgetSpent { which: BudgetKind::Turns }));
/// assert_eq!(serde_json::to_string(&RunEnd::CutOff)?, r#"{"end":"cut_off"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEnd {
    /// The model said all it wanted to say.
    Completed,
    /// The model reached its limit of tokens in the middle of a turn.
    CutOff,
    /// The model or its provider refused to go on.
    Refused,
    /// The model could not answer.
    Failed {
        /// Why, for people.
        reason: String,
    },
    /// Somebody stopped it.
    Cancelled,
    /// A budget was spent; the model was told, and had one more turn to say where it stands.
    BudgetSpent {
        /// Which budget.
        which: BudgetKind,
    },
    /// The model made the same call with the same result again, after it was told that it does.
    Looping,
}

impl RunEnd {
    /// Says why a run ended before it was done, for the model of the run above it; `None` where it was done or cancelled.
    ///
    /// ```
    /// use haft_agent::RunEnd;
    /// use haft_core::BudgetKind;
    ///
    /// let spent = RunEnd::BudgetSpent { which: BudgetKind::Turns };
    /// assert_eq!(spent.why().as_deref(), Some("its budget of model turns is spent"));
    /// assert_eq!(RunEnd::Completed.why(), None);
    /// ```
    pub fn why(&self) -> Option<String> {
        let why = match self {
            Self::Completed | Self::Cancelled => return None,
            Self::CutOff => "its last message was cut off, since it was too long",
            Self::Refused => "its model refused to go on",
            Self::BudgetSpent { which } => return Some(format!("its budget of {which} is spent")),
            Self::Looping => "it made the same call again and again",
            Self::Failed { .. } => "it could not go on; go on without it, or delegate the task again later",
        };
        Some(why.to_owned())
    }
}
