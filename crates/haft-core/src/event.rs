use crate::{CallId, Decision, RunId, ToolName, ToolOutput, ToolReply, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Tells an observer one thing that happened in a run.
///
/// The sequence number grows by one with each event of one executor or run tree, so that a reader which fell behind can
/// see that it lost some.
///
/// ```
/// use haft_core::{Event, EventKind};
///
/// let event = Event::new(0, 1_764_000_000_000, "run-1".parse()?, EventKind::TurnStarted { turn: 1 });
/// let line = serde_json::to_value(&event)?;
/// assert_eq!((&line["event"], &line["turn"], &line["run"]), (&"turn_started".into(), &1.into(), &"run-1".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// Counts events from 0.
    pub sequence: u64,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The run it happened in.
    pub run: RunId,
    /// The run that started that run, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run: Option<RunId>,
    /// The call it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

impl Event {
    /// Makes an event that is not about a call.
    pub fn new(sequence: u64, at_ms: u64, run: RunId, kind: EventKind) -> Self {
        Self { sequence, at_ms, run, parent_run: None, call: None, kind }
    }

    /// Names the run that started this event's run.
    pub fn with_parent_run(mut self, parent: Option<RunId>) -> Self {
        self.parent_run = parent;
        self
    }

    /// Names the call the event is about.
    pub fn with_call(mut self, call: CallId) -> Self {
        self.call = Some(call);
        self
    }
}

/// Says what happened.
///
/// Of each call there is exactly one `Started` and one `Finished`; everything else lies between them, but for the late
/// end of a call that was abandoned.
///
/// ```
/// use haft_core::{Event, EventKind};
///
/// let line = r#"{"sequence":4,"at_ms":1764000000000,"run":"run-1","event":"turn_started","turn":2}"#;
/// let event: Event = serde_json::from_str(line)?;
/// let shown = match &event.kind {
///     EventKind::TurnStarted { turn } => format!("turn {turn}"),
///     // Further kinds may come to be.
///     _ => "something else".to_owned(),
/// };
/// assert_eq!(shown, "turn 2");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// A run that another one started has begun.
    RunStarted {
        /// The agent that works in it.
        agent: String,
        /// Whether the run that started it goes on without waiting for it.
        background: bool,
    },
    /// A run that another one started is over.
    RunEnded {
        /// The agent that worked in it.
        agent: String,
        /// How it ended, in one word, such as `done` or `lost`.
        end: String,
        /// What people should know of that beside it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// A model turn began.
    TurnStarted {
        /// Counts turns of the run from 1.
        turn: u32,
    },
    /// The model wrote some text.
    TextDelta {
        /// The text.
        text: String,
    },
    /// The model wrote some reasoning.
    ReasoningDelta {
        /// The text.
        text: String,
    },
    /// The model wrote a piece of a call; what the call is in the end is told when it is taken up.
    CallDelta {
        /// The call's id.
        id: CallId,
        /// The tool's name as the model wrote it.
        name: String,
        /// The next piece of the arguments' JSON text; empty when the call begins.
        arguments: String,
    },
    /// A model turn ended.
    TurnFinished {
        /// Counts turns of the run from 1.
        turn: u32,
        /// Why the model stopped.
        stop: StopReason,
        /// What the turn cost.
        usage: Usage,
    },
    /// A model turn came to nothing: what was told of it counts for nothing, and none of its calls is made.
    ///
    TurnDiscarded {
        /// Counts turns of the run from 1.
        turn: u32,
        /// Why, for people.
        reason: String,
        /// Whether the model is asked for it again.
        again: bool,
    },
    /// The model's provider did not begin to answer, and is asked again after a pause.
    ModelRetried {
        /// What it failed with, for people.
        reason: String,
        /// How long is waited first, in milliseconds.
        pause_ms: u64,
    },
    /// A budget of the run is spent: the model gets one more turn, without tools, and the run ends.
    BudgetSpent {
        /// What was spent.
        which: BudgetKind,
    },
    /// Somebody said something to the run while it was at work.
    Steered {
        /// What they said.
        text: String,
        /// Whether the calls that had not begun are skipped for it.
        now: bool,
    },
    /// The run makes the same call with the same result again and again.
    Looping {
        /// The tool's name as the call has it.
        name: String,
        /// How often it was made.
        times: u32,
    },
    /// The model is told less of what was said before; the transcript has all of it.
    Compacted {
        /// Messages that are told otherwise than they are, or not at all.
        messages: u64,
        /// What a request takes up without them, in estimated tokens.
        tokens: u64,
    },
    /// What the model is told could not be made less, though it takes up much of what a request can hold.
    CompactionFailed {
        /// Why, for people.
        reason: String,
    },
    /// The run stops at the next place where nothing is under way.
    Paused,
    /// The run goes on after a pause.
    Unpaused,
    /// A call was taken up.
    Started {
        /// The tool's name as the call has it.
        name: String,
        /// The arguments as the model wrote them.
        #[serde(default)]
        input: Value,
    },
    /// It was decided whether the call may run.
    Decided {
        /// The decision.
        decision: Decision,
        /// The rule or answer behind it.
        reason: String,
    },
    /// A person is asked whether the call may run.
    ApprovalRequested {
        /// What the call would touch, as printable accesses.
        accesses: Vec<String>,
        /// What the person is shown.
        preview: String,
    },
    /// The call has run, and waits for calls that it has made below it: these wait for people.
    WaitsBelow {
        /// How many calls people have to answer for it to go on.
        calls: u64,
    },
    /// A running call asks a person something.
    QuestionAsked {
        /// The question.
        question: String,
    },
    /// The call has something to show before it is done; never shown to the model.
    Updated {
        /// The output so far.
        output: ToolOutput,
    },
    /// The call got on; never shown to the model.
    Progressed {
        /// How far.
        progress: Progress,
    },
    /// The call failed in a way that may pass, and is tried again.
    Retried {
        /// Counts the attempts that have failed, from 1.
        attempt: u32,
        /// What it failed with.
        reason: String,
    },
    /// The call was answered.
    Finished {
        /// The reply, as the model sees it.
        reply: Box<ToolReply>,
    },
    /// A call that did not stop when it was told to, and was answered without waiting for it, has ended.
    AbandonedEnded {
        /// The tool's name as the call had it.
        name: String,
        /// How long after its answer, in milliseconds.
        after_ms: u64,
    },
    /// The tools that can be called became others.
    ToolsChanged {
        /// Tools that were not there before, by name.
        added: Vec<ToolName>,
        /// Tools that are there no more, by name.
        removed: Vec<ToolName>,
        /// Tools that became others under their old names, by name.
        changed: Vec<ToolName>,
    },
    /// The tools that a model is told of without asking cost more than they should.
    ToolsOverBudget {
        /// What they cost, in estimated tokens.
        tokens: u64,
        /// What they should cost at most, in tokens.
        budget: u64,
        /// How many they are.
        tools: u64,
    },
    /// A source of tools could not be read; the tools it gave last stay.
    SourceFailed {
        /// The source's name in the host's configuration.
        source: String,
        /// Why, for people.
        reason: String,
    },
}

/// Says how far a call has got.
///
/// ```
/// use haft_core::Progress;
///
/// let progress = Progress { message: Some("reading page 3 of 4".to_owned()), fraction: Some(0.75) };
/// assert_eq!(serde_json::to_value(&progress)?["fraction"], 0.75);
/// assert_eq!(Progress::from("connecting").message.as_deref(), Some("connecting"));
/// assert_eq!(Progress::from(1.5).fraction, Some(1.0));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// What is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How much of it is done, from 0.0 to 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
}

impl From<&str> for Progress {
    fn from(message: &str) -> Self {
        Self { message: Some(message.to_owned()), fraction: None }
    }
}

impl From<String> for Progress {
    fn from(message: String) -> Self {
        Self { message: Some(message), fraction: None }
    }
}

/// A fraction outside the range becomes its nearer end; one that is not a number is not known.
impl From<f64> for Progress {
    fn from(fraction: f64) -> Self {
        Self { message: None, fraction: (!fraction.is_nan()).then(|| fraction.clamp(0.0, 1.0)) }
    }
}

/// Names what a run can have a budget of.
///
/// ```
/// use haft_core::BudgetKind;
///
/// let names: Vec<String> = BudgetKind::ALL.iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["model turns", "tool calls", "tokens", "time", "money"]);
/// assert_eq!(serde_json::to_value(BudgetKind::WallTime)?, "wall_time");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BudgetKind {
    /// Turns of the model.
    Turns,
    /// Calls of tools.
    Calls,
    /// Tokens that the model reads and writes.
    Tokens,
    /// Time in which the run is at work.
    WallTime,
    /// Money.
    Cost,
}

impl BudgetKind {
    /// All kinds, in the order in which they are looked at.
    pub const ALL: &'static [Self] = &[Self::Turns, Self::Calls, Self::Tokens, Self::WallTime, Self::Cost];
}

/// Writes the kind as people call it, as in `model turns`.
impl fmt::Display for BudgetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turns => "model turns",
            Self::Calls => "tool calls",
            Self::Tokens => "tokens",
            Self::WallTime => "time",
            Self::Cost => "money",
        })
    }
}

/// Says why a model stopped writing.
///
/// ```
/// use haft_core::StopReason;
///
/// let reason: StopReason = serde_json::from_str(r#""tool_calls""#)?;
/// assert_eq!(reason, StopReason::ToolCalls);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// It has said what it wanted to say.
    EndTurn,
    /// It waits for the replies to its calls.
    ToolCalls,
    /// It reached the limit of tokens for one turn.
    MaxTokens,
    /// The provider or the model refused to go on.
    Refused,
}
