mod told;

use crate::{Effect, RunEvent, RunState, StepError};
use async_trait::async_trait;
use haft_core::{CallId, ToolSpec};
use haft_model::{Model, ModelError, ModelRequest, ModelTurn, assemble};
use haft_tools_core::{
    Approval, Batch, CallScope, Events, LocalExecutor, ResumeRefused, Resumption, ToolExecutor,
};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use tokio_util::future::FutureExt as _;
use tokio_util::sync::CancellationToken;
use told::Told;

/// Drives runs: has a model answer and an executor execute, until a run ends or waits for a person.
///
/// One agent can drive any number of runs, one after the other or at once.
pub struct Agent {
    model: Arc<dyn Model>,
    executor: Arc<dyn ToolExecutor>,
    tools: Arc<[Arc<ToolSpec>]>,
    system: Option<Arc<str>>,
    events: Events,
    cancellation: CancellationToken,
    keeper: Option<Arc<dyn StateKeeper>>,
}

/// Keeps where runs stand, so that another process can go on with them.
#[async_trait]
pub trait StateKeeper: Send + Sync {
    /// Keeps the state of a run in place of what was kept of it before; the run goes on when this is done.
    ///
    /// Called before calls are executed, whenever one of them is answered, and when the run ends.
    ///
    /// # Errors
    ///
    /// When it cannot be kept: the run ends as failed, for the reason given.
    async fn keep(
        &self,
        scope: &CallScope,
        state: &RunState,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// Says why an answer to a call was not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The call does not wait.
    #[error("no call `{call}` waits in this run; it was answered before, or it never asked")]
    NotWaiting {
        /// The call.
        call: CallId,
    },
    /// The call is not gone on with.
    #[error(transparent)]
    Refused(#[from] ResumeRefused),
}

impl Agent {
    /// Makes an agent of a model and of the tools of a local executor.
    pub fn new(model: impl Model, executor: LocalExecutor) -> Self {
        let tools = executor.registry().direct_specs();
        Self::with_executor(model, Arc::new(executor), tools)
    }

    /// Makes an agent of a model and any executor, with the tools that the model is told of.
    pub fn with_executor(
        model: impl Model,
        executor: Arc<dyn ToolExecutor>,
        tools: Arc<[Arc<ToolSpec>]>,
    ) -> Self {
        Self {
            model: Arc::new(model),
            executor,
            tools,
            system: None,
            events: Events::default(),
            cancellation: CancellationToken::new(),
            keeper: None,
        }
    }

    /// Tells the model what it is there for.
    pub fn system(mut self, system: impl Into<Arc<str>>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Tells observers what the model says; give the executor the same events to number them together, and to replace
    /// the secrets of its redactor in them.
    pub fn events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Stops every run of this agent when the token is cancelled: each call gets its reply and the run ends.
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Has every run kept as it goes; without a keeper nothing is kept but what is returned.
    pub fn kept_by(mut self, keeper: Arc<dyn StateKeeper>) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Starts a run with a prompt and drives it until it ends or waits for a person.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the run and what it is doing. Cancel the agent's token to get a state in which
    /// every call is answered.
    pub async fn run(&self, scope: CallScope, prompt: impl Into<String>) -> RunState {
        let mut state = RunState::new();
        let effects = state.advance(RunEvent::Prompted { text: prompt.into() });
        self.drive(&scope, state, effects).await
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
        mut state: RunState,
        event: RunEvent,
    ) -> Result<RunState, StepError> {
        let effects = state.step(event)?;
        Ok(self.drive(&scope, state, effects).await)
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
        mut state: RunState,
        call: &CallId,
        approval: Approval,
    ) -> Result<RunState, ResumeError> {
        let Some(pending) = state.pending().find(|pending| &pending.call.id == call).cloned() else {
            return Err(ResumeError::NotWaiting { call: call.clone() });
        };
        let resumption =
            Resumption::new(scope.clone(), pending, approval).cancelled_by(self.cancellation.clone());
        let outcome = self.executor.resume(resumption).await?;
        let effects = state.advance(RunEvent::CallAnswered { outcome });
        Ok(self.drive(&scope, state, effects).await)
    }

    /// Goes on with a run that was stored by a process that ended.
    ///
    /// What had been answered is not done again, and neither are calls that were being executed: they are answered as lost,
    /// and the model is told to look what became of them.
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::run`].
    pub async fn go_on(&self, scope: CallScope, mut state: RunState) -> RunState {
        let effects = state.advance(RunEvent::Interrupted);
        self.drive(&scope, state, effects).await
    }

    async fn drive(&self, scope: &CallScope, mut state: RunState, effects: Vec<Effect>) -> RunState {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            if matches!(effect, Effect::Persist) {
                if let Err(reason) = self.keep(scope, &state).await {
                    state.fail(reason);
                    break;
                }
            } else if let Some(event) = self.perform(scope, &state, effect).await {
                effects.extend(state.advance(event));
            }
        }
        state
    }

    async fn keep(&self, scope: &CallScope, state: &RunState) -> Result<(), String> {
        let Some(keeper) = &self.keeper else { return Ok(()) };
        let kept = keeper.keep(scope, state).await;
        kept.map_err(|error| format!("the run cannot be kept: {}", with_causes(&*error)))
    }

    async fn perform(&self, scope: &CallScope, state: &RunState, effect: Effect) -> Option<RunEvent> {
        match effect {
            Effect::CallModel => Some(self.call_model(scope, state).await),
            Effect::ExecuteBatch { calls } => {
                let batch = Batch::new(scope.clone(), calls).cancelled_by(self.cancellation.clone());
                let outcomes = self.executor.execute_batch(batch).await.into_outcomes();
                Some(RunEvent::BatchExecuted { outcomes })
            }
            Effect::ExecuteHeld { calls } => {
                let batch = Batch::of_held(scope.clone(), calls).cancelled_by(self.cancellation.clone());
                let outcomes = self.executor.execute_batch(batch).await.into_outcomes();
                Some(RunEvent::BatchExecuted { outcomes })
            }
            Effect::Emit(kind) => {
                self.events.emit(scope, None, || kind);
                None
            }
            Effect::AwaitApproval | Effect::Persist | Effect::Done => None,
        }
    }

    async fn call_model(&self, scope: &CallScope, state: &RunState) -> RunEvent {
        if self.cancellation.is_cancelled() {
            return RunEvent::Cancelled;
        }
        let mut told = Told::new(&self.events, scope);
        let answer = self.answer(state, &mut told).with_cancellation_token(&self.cancellation).await;
        told.finish();
        match answer {
            None | Some(Err(ModelError::Cancelled)) => RunEvent::Cancelled,
            Some(Ok(turn)) => RunEvent::ModelAnswered { turn },
            Some(Err(error)) => RunEvent::ModelFailed { reason: with_causes(&error) },
        }
    }

    async fn answer(&self, state: &RunState, told: &mut Told<'_>) -> Result<ModelTurn, ModelError> {
        let mut request =
            ModelRequest::new(state.messages().iter().cloned()).with_tools(Arc::clone(&self.tools));
        if let Some(system) = &self.system {
            request = request.with_system(Arc::clone(system));
        }
        let stream = self.model.stream(request, self.cancellation.clone()).await?;
        assemble(stream, |delta| told.delta(delta)).await
    }
}

/// Writes an error with its causes, one after the other, for people.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("model", self.model.capabilities())
            .field("tools", &self.tools.len())
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}
