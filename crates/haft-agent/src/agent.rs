mod answering;
mod compacting;
mod controls;
mod driving;
mod errors;
mod keeper;
mod model_turn;
mod news;
mod offer;
mod purses;
mod run_handle;
mod run_limits;
mod settings;
mod span;
mod told;
mod turning;

pub use errors::{NotAtWorkError, ResumeError};
pub use keeper::StateKeeper;
pub use news::News;
pub use purses::Purses;
pub use run_handle::RunHandle;
pub use run_limits::RunLimits;

use crate::{Budget, Compaction, Prices, RunEvent, RunState, SteerWhen, StepError};
use controls::AtWork;
use haft_core::{CallId, Message, RunId, ToolSpec};
use haft_model::Model;
use haft_tools_core::{Approval, CallContext, CallScope, Events, LocalExecutor, ToolExecutor};
use offer::{Offer, Offered};
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Drives runs: has a model answer and an executor execute, until a run ends or waits for a person.
///
/// One agent can drive any number of runs, one after the other or at once.
///
/// ```
/// use haft_agent::{Agent, Budget, RunEnd};
/// use haft_model::{ScriptedModel, Session};
/// use haft_tools_core::{CallScope, LocalExecutor, ToolRegistry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let session = Session::parse(r#"{"text": "Nothing is broken."}"#, "look.jsonl")?;
/// let executor = LocalExecutor::builder(ToolRegistry::new()).build();
/// let agent = Agent::new(ScriptedModel::new(session), executor)
///     .system("You look after a build.")
///     .budget(Budget::default().turns(20).calls(100));
///
/// let state = agent.run(CallScope::new("run-1".parse()?), "What is broken?").await;
/// assert_eq!(state.end(), Some(&RunEnd::Completed));
/// assert_eq!((state.last_text().as_str(), state.turns()), ("Nothing is broken.", 1));
/// # Ok(())
/// # }
/// ```
pub struct Agent {
    model: Arc<dyn Model>,
    executor: Arc<dyn ToolExecutor>,
    offer: Offer,
    system: Option<Arc<str>>,
    events: Events,
    cancellation: CancellationToken,
    keeper: Option<Arc<dyn StateKeeper>>,
    news: Vec<Arc<dyn News>>,
    budget: Budget,
    prices: Prices,
    compaction: Option<Arc<dyn Compaction>>,
    window: Option<u64>,
    at_work: AtWork,
    purses: Purses,
    caller: Option<CallContext>,
    may_repeat: Vec<String>,
    made_again: Vec<String>,
}

impl Agent {
    /// Makes an agent of a model and of the tools of a local executor.
    ///
    /// Where the executor keeps outputs that are cut, and the model can read them, what the model is told is compacted by
    /// [`CutOutputs`](crate::CutOutputs).
    pub fn new(model: impl Model, executor: LocalExecutor) -> Self {
        let tools = executor.registry().direct_specs();
        let outputs =
            executor.outputs().filter(|_| executor.registry().get("read_output").is_some()).cloned();
        let agent = Self::from_executor(model, Arc::new(executor), tools);
        match outputs {
            Some(outputs) => agent.compacted_by(crate::CutOutputs::new(outputs)),
            None => agent,
        }
    }

    /// Makes an agent of a model and any executor, with the tools that the model is told of.
    pub fn from_executor(
        model: impl Model,
        executor: Arc<dyn ToolExecutor>,
        tools: Arc<[Arc<ToolSpec>]>,
    ) -> Self {
        let window = model.capabilities().context_window;
        Self {
            model: Arc::new(model),
            executor,
            offer: Offer::Fixed(Offered::new(tools, None)),
            system: None,
            events: Events::default(),
            cancellation: CancellationToken::new(),
            keeper: None,
            news: Vec::new(),
            budget: Budget::default(),
            prices: Prices::default(),
            compaction: None,
            window,
            at_work: AtWork::default(),
            purses: Purses::default(),
            caller: None,
            may_repeat: Vec::new(),
            made_again: Vec::new(),
        }
    }

    /// Says something to a run that this agent drives: the model is told, at once or after its turn.
    ///
    /// A run that nobody drives takes [`RunEvent::Steered`] by [`Agent::step`]; one that has ended is
    /// [prompted](Agent::prompt).
    ///
    /// # Errors
    ///
    /// When the agent does not drive that run, or it has just ended.
    pub fn steer(&self, run: &RunId, text: impl Into<String>, when: SteerWhen) -> Result<(), NotAtWorkError> {
        self.send(run, RunEvent::Steered { text: text.into(), when })
    }

    /// Has a run that this agent drives stand still as soon as nothing is under way: the model's turn or the calls that run
    /// are finished, and the run is given back as it stands then.
    ///
    /// It goes on by [`Agent::unpause`], in this process or another.
    ///
    /// # Errors
    ///
    /// When the agent does not drive that run.
    pub fn pause(&self, run: &RunId) -> Result<(), NotAtWorkError> {
        self.send(run, RunEvent::Paused)
    }

    /// Stops a run that this agent drives: each call gets its reply, also one that waits for a person, and the run ends.
    ///
    /// # Errors
    ///
    /// When the agent does not drive that run, or it has just ended or come to wait.
    pub fn cancel(&self, run: &RunId) -> Result<(), NotAtWorkError> {
        match self.at_work.get(run) {
            Some(controls) if controls.cancel() => Ok(()),
            _ => Err(NotAtWorkError { run: run.clone() }),
        }
    }

    fn send(&self, run: &RunId, event: RunEvent) -> Result<(), NotAtWorkError> {
        self.at_work.send(run, event)
    }

    /// Starts a run with a prompt and drives it until it ends or waits for a person.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the run and what it is doing. Cancel the agent's token to get a state in which
    /// every call is answered.
    pub async fn run(&self, scope: CallScope, prompt: impl Into<String>) -> RunState {
        self.start(scope, RunState::new(), prompt.into()).await
    }

    /// Starts a run that begins with messages of another, and drives it as [`Agent::run`] does.
    ///
    /// Replies whose calls are not among the messages are left out, and so is a message whose calls have no replies there,
    /// as [`RunState::from_part_of`] has it: any part of a [transcript](RunHandle::transcript) can be given.
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::run`].
    pub async fn run_from(
        &self,
        scope: CallScope,
        messages: impl IntoIterator<Item = Arc<Message>>,
        prompt: impl Into<String>,
    ) -> RunState {
        self.start(scope, RunState::from_part_of(messages), prompt.into()).await
    }

    async fn start(&self, scope: CallScope, state: RunState, text: String) -> RunState {
        let state = state.budget(self.budget).may_repeat(self.may_repeat.iter().cloned());
        // A run that is new can be prompted.
        self.drive(&scope, state.clone(), [RunEvent::Prompted { text }]).await.unwrap_or(state)
    }

    /// Goes on with a run that was completed, with another prompt.
    ///
    /// # Errors
    ///
    /// When the run has not ended; it is lost to the caller only if they kept no clone.
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::run`].
    pub async fn prompt(
        &self,
        scope: CallScope,
        state: RunState,
        prompt: impl Into<String>,
    ) -> Result<RunState, StepError> {
        self.step(scope, state, RunEvent::Prompted { text: prompt.into() }).await
    }

    /// Takes note of something that happened to a run outside this agent, and drives the run on.
    ///
    /// # Errors
    ///
    /// When the event does not fit where the run stands.
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::run`].
    pub async fn step(
        &self,
        scope: CallScope,
        state: RunState,
        event: RunEvent,
    ) -> Result<RunState, StepError> {
        self.drive(&scope, state, [event]).await
    }

    /// Goes on with a run that was paused.
    ///
    /// # Errors
    ///
    /// When the run is not paused.
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::run`].
    pub async fn unpause(&self, scope: CallScope, state: RunState) -> Result<RunState, StepError> {
        if !state.is_paused() {
            return Err(StepError::OutOfPlace { phase: "not paused", event: RunEvent::Unpaused.name() });
        }
        let state = match self.go_on_with_approved(&scope, &state).await {
            // It has ended meanwhile.
            Some(state) if !state.is_paused() => return Ok(state),
            Some(state) => state,
            None => state,
        };
        // Nothing is under way any more, also where the process ended before the run stood still.
        self.drive(&scope, state, [RunEvent::Interrupted, RunEvent::Unpaused]).await
    }

    /// Answers a call that waits in a run, and drives the run on if it was the last that waited.
    ///
    /// # Errors
    ///
    /// When no call of that id waits, or the executor does not go on with it; the answer was not used.
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::run`]; the call may have run although its reply is lost.
    pub async fn resume(
        &self,
        scope: CallScope,
        state: RunState,
        call: &CallId,
        approval: Approval,
    ) -> Result<RunState, ResumeError> {
        let Some(pending) = state.pending().find(|pending| &pending.call.id == call).cloned() else {
            return Err(ResumeError::NotWaiting { call: call.clone() });
        };
        self.drive_answer(&scope, state, pending, approval).await
    }

    /// Goes on with a run that was stored by a process that ended.
    ///
    /// What had been answered is not done again, and neither are calls that were being executed: they are answered as lost,
    /// and the model is told to look at what became of them. Calls of tools that are [made again](Agent::made_again) are; one of
    /// these that was [approved](RunState::approved) when its process ended is gone on with, and nobody is asked again.
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::run`].
    pub async fn go_on(&self, scope: CallScope, state: RunState) -> RunState {
        if let Some(state) = self.go_on_with_approved(&scope, &state).await {
            return state;
        }
        // Every run can be interrupted.
        self.drive(&scope, state.clone(), [RunEvent::Interrupted]).await.unwrap_or(state)
    }
}

impl Agent {
    /// Goes on with the call that was approved when its process ended, if there is one and it can be.
    async fn go_on_with_approved(&self, scope: &CallScope, state: &RunState) -> Option<RunState> {
        let (pending, approval) = state.approved()?;
        let (mut pending, approval) = (pending.clone(), approval.clone());
        // The approval came in time.
        pending.expires_at_ms = None;
        self.drive_answer(scope, state.clone(), pending, approval).await.ok()
    }

    fn is_made_again(&self, tool: &str) -> bool {
        self.made_again.iter().any(|name| name == tool)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("model", self.model.capabilities())
            .field("tools", &self.offer)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}
