use haft_core::{EventKind, ToolCall};
use haft_model::ModelTurn;
use haft_tools_core::{CallOutcome, HeldCall};

/// Tells a run what happened outside it.
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
    /// The model could not answer.
    ModelFailed {
        /// Why, for people.
        reason: String,
    },
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
    /// The run is to stop.
    Cancelled,
    /// The run was stored, and whoever drove it ended: calls that were being executed then are answered as lost, since
    /// nobody knows what became of them.
    Interrupted,
}

/// Says what a run needs done; done in the order in which they are given.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// Have the model answer the transcript; comes back as `ModelAnswered` or `ModelFailed`.
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
