use crate::{Spent, SteerWhen, Told, TurnRecord};
use haft_core::{EventKind, RunId, ToolCall, Usage};
use haft_model::ModelTurn;
use haft_tools_core::{CallOutcome, HeldCall};
use std::collections::BTreeMap;

/// Tells a run what happened outside it.
///
/// ```
/// use haft_agent::{Effect, RunEnd, RunEvent, RunState};
///
/// let mut state = RunState::new();
/// let effects = state.step(RunEvent::Prompted { text: "Mend it.".to_owned() })?;
/// assert!(effects.contains(&Effect::CallModel));
/// state.step(RunEvent::Cancelled)?;
/// assert_eq!(state.end(), Some(&RunEnd::Cancelled));
/// # Ok::<(), haft_agent::StepError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunEvent {
    /// A person, or the program in their name, asks for something: the run starts, or goes on after it was completed.
    Prompted {
        /// What they ask for.
        text: String,
    },
    /// The model answered.
    ModelAnswered {
        /// Its turn.
        turn: ModelTurn,
    },
    /// The model's answer broke off; it is asked again.
    AnswerLost {
        /// Why, for people.
        reason: String,
    },
    /// A turn of the model came to nothing, and cost something all the same; why it did comes after it.
    Wasted {
        /// What it cost.
        usage: Usage,
    },
    /// The model was asked, whatever came of it: said before what came of it, and nothing follows from it alone.
    TurnTaken {
        /// When it was, and what it cost.
        record: TurnRecord,
    },
    /// The model could not answer.
    ModelFailed {
        /// Why, for people.
        reason: String,
    },
    /// The model had not answered when the run's time was over, and is not waited for.
    TimedOut,
    /// The calls of the last turn were executed.
    BatchExecuted {
        /// What became of each, in the order of the calls.
        outcomes: Vec<CallOutcome>,
    },
    /// A call that waited for a person was answered.
    CallAnswered {
        /// What became of it; it can wait again.
        outcome: CallOutcome,
    },
    /// Something was spent that the run cannot know of: time, money, and what runs spent that this one started.
    ///
    /// Turns, calls and tokens of the run's own are counted by itself, but for tokens that were estimated.
    Metered {
        /// What was spent since the last time.
        spent: Spent,
        /// What is set aside now for the runs that this one started.
        reserved: Spent,
        /// What runs that it started have spent in all, of those of which `spent` counts something.
        counted: BTreeMap<RunId, Spent>,
    },
    /// Somebody says something to the run while it is at work or waits.
    Steered {
        /// What they say.
        text: String,
        /// When the model is told.
        when: SteerWhen,
    },
    /// Something has come up that the model is to be told with the turn that it takes next.
    News {
        /// What it is told, each as a message of its own.
        texts: Vec<String>,
    },
    /// One of the calls that are executed has the run end once all of them are answered.
    Concluded {
        /// What the run ends with: its [last text](crate::RunState::last_text).
        text: String,
    },
    /// Somebody wants the run to stand still: what is under way is finished, and nothing is begun.
    Paused,
    /// The run is to go on after a pause.
    Unpaused,
    /// The model is to be told less of what was said before; the transcript stays as it is.
    Compacted {
        /// What it is told in the place of which message.
        told: Vec<Told>,
    },
    /// The run is to stop.
    Cancelled,
    /// The run was stored, and whoever drove it ended: calls that were being executed then are answered as lost, since
    /// nobody knows what became of them, but for those of tools that are [made
    /// again](crate::RunState::made_again).
    Interrupted,
}

/// Says what a run needs done; done in the order in which they are given.
///
/// ```
/// use haft_agent::{Effect, RunEvent, RunState};
///
/// let mut state = RunState::new();
/// for effect in state.step(RunEvent::Prompted { text: "Mend it.".to_owned() })? {
///     match effect {
///         Effect::CallModel => assert_eq!(state.told().len(), 1),
///         Effect::ExecuteBatch { calls } => println!("{} calls", calls.len()),
///         other => println!("{other:?}"),
///     }
/// }
/// # Ok::<(), haft_agent::StepError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// Have the model answer what [`RunState::told`](crate::RunState::told) gives, with calls if
    /// [`RunState::offers_tools`](crate::RunState::offers_tools); comes back as `ModelAnswered`, `AnswerLost`,
    /// `ModelFailed` or `TimedOut`.
    CallModel,
    /// Execute these calls; comes back as `BatchExecuted`.
    ExecuteBatch {
        /// The calls, in the order of the model.
        calls: Vec<ToolCall>,
    },
    /// Execute these calls, which others held back that are answered now; comes back as `BatchExecuted`.
    ExecuteHeld {
        /// The calls, in the order of the model.
        calls: Vec<HeldCall>,
    },
    /// Have a person answer the calls that wait; comes back as one `CallAnswered` for each.
    AwaitApproval,
    /// Keep the state before what comes next is done: what is answered must not be done again, and what is about to be
    /// done may be under way when the state is needed.
    Persist,
    /// Tell observers.
    Emit(EventKind),
    /// The run is over; see [`RunState::end`](crate::RunState::end).
    Done,
}

impl RunEvent {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Prompted { .. } => "prompted",
            Self::ModelAnswered { .. } => "model answered",
            Self::AnswerLost { .. } => "answer lost",
            Self::Wasted { .. } => "wasted",
            Self::TurnTaken { .. } => "turn taken",
            Self::ModelFailed { .. } => "model failed",
            Self::TimedOut => "timed out",
            Self::BatchExecuted { .. } => "batch executed",
            Self::CallAnswered { .. } => "call answered",
            Self::Metered { .. } => "metered",
            Self::Steered { .. } => "steered",
            Self::News { .. } => "news",
            Self::Concluded { .. } => "concluded",
            Self::Paused => "paused",
            Self::Unpaused => "unpaused",
            Self::Compacted { .. } => "compacted",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}
