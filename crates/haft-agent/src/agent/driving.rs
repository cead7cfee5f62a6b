//! Does what a run needs done, one thing after the other, and listens to whoever steers it meanwhile.

use super::controls::{Controls, Driven};
use super::errors::with_causes;
use super::told::Told;
use super::{Agent, ResumeError};
use crate::state::STEERED;
use crate::{Effect, Purse, RunEvent, RunState, Spent, StepError, When};
use haft_core::{BudgetKind, EventKind, ToolCall, Usage};
use haft_model::{ModelError, ModelRequest, ModelTurn, assemble};
use haft_tools_core::{Approval, Batch, CallScope, PendingCall, Resumption, Steer};
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::future::FutureExt as _;
use tokio_util::sync::CancellationToken;

/// How long the turn may take in which the model closes a run whose time is over.
const CLOSING_TIME: Duration = Duration::from_mins(1);

/// How much of the window a request takes up when it is compacted, and how much it should take up then, in percent.
const COMPACTED_AT: u64 = 80;
const COMPACTED_TO: u64 = 50;

/// Is a run while it is driven.
struct Run<'a> {
    agent: &'a Agent,
    /// The scope of its calls, with the purse in it.
    scope: CallScope,
    state: RunState,
    driven: Driven,
    purse: Purse,
    started: Instant,
    /// What of the time since then the state knows of, in milliseconds.
    metered_ms: u64,
    /// What was cut off a request that could not be made less is not tried again before it has grown by as much.
    compacted_at: u64,
    /// Why the run cannot go on.
    fault: Option<String>,
}

impl Agent {
    /// Takes note of events, and does what a run needs done until it ends, waits for a person, or is paused.
    pub(super) async fn drive<const N: usize>(
        &self,
        scope: &CallScope,
        state: RunState,
        events: [RunEvent; N],
    ) -> Result<RunState, StepError> {
        let mut run = Run::begin(self, scope, state);
        let mut effects = Vec::new();
        for event in events {
            // What one event leaves to be done, the next one may have changed.
            effects.retain(|effect| matches!(effect, Effect::Persist | Effect::Emit(_)));
            effects.extend(run.state.step(event)?);
        }
        run.purse.follow(run.state.account());
        run.drive(effects).await;
        Ok(run.state)
    }

    /// Goes on with a call that waited, and with its run.
    pub(super) async fn drive_answer(
        &self,
        scope: &CallScope,
        state: RunState,
        pending: PendingCall,
        approval: Approval,
    ) -> Result<RunState, ResumeError> {
        let mut run = Run::begin(self, scope, state);
        let token = run.controls().token.clone();
        let mut resumption = Resumption::new(run.turn_scope(), pending, approval).cancelled_by(token);
        if let Some(caller) = &self.caller {
            resumption = resumption.made_by(caller);
        }
        let outcome = run.attend(self.executor.resume(resumption)).await?;
        run.meter(&Usage::default());
        let effects = run.advance(RunEvent::CallAnswered { outcome });
        run.drive(effects).await;
        Ok(run.state)
    }
}

impl<'a> Run<'a> {
    fn begin(agent: &'a Agent, scope: &CallScope, state: RunState) -> Self {
        let purse = agent.purses.of(scope.run(), state.account());
        let mut run = Self {
            agent,
            scope: scope.clone().with_extension(purse.clone()),
            driven: agent.at_work.begin(scope.run(), &agent.cancellation),
            state,
            purse,
            started: Instant::now(),
            metered_ms: 0,
            compacted_at: 0,
            fault: None,
        };
        // What is set aside may be otherwise than when the run was stored.
        run.meter(&Usage::default());
        run
    }

    fn controls(&self) -> Arc<Controls> {
        Arc::clone(&self.driven.controls)
    }

    async fn drive(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        loop {
            while let Some(effect) = effects.pop_front() {
                if let Some(event) = self.perform(effect).await {
                    effects.extend(self.advance(event));
                }
                if let Some(reason) = self.fault.take() {
                    self.state.fail(reason);
                    return;
                }
            }
            // What was said while nothing was under way any more must not be lost with the controls.
            let Some(event) = self.driven.controls.next() else { return };
            effects.extend(self.state.step(event).unwrap_or_default());
        }
    }

    fn advance(&mut self, event: RunEvent) -> Vec<Effect> {
        let effects = self.state.advance(event);
        self.purse.follow(self.state.account());
        effects
    }

    async fn perform(&mut self, effect: Effect) -> Option<RunEvent> {
        match effect {
            Effect::CallModel => Some(self.call_model().await),
            Effect::ExecuteBatch { calls } => Some(self.execute(Batch::new(self.turn_scope(), calls)).await),
            Effect::ExecuteHeld { calls } => {
                Some(self.execute(Batch::of_held(self.turn_scope(), calls)).await)
            }
            Effect::Emit(kind) => {
                self.agent.events.emit(&self.scope, None, || kind);
                None
            }
            Effect::Persist => {
                self.keep().await;
                None
            }
            Effect::AwaitApproval | Effect::Done => None,
        }
    }

    /// Gives the scope of calls that the model makes in the turn that it has taken last.
    fn turn_scope(&self) -> CallScope {
        self.scope.clone().with_turn(self.state.turns())
    }

    async fn keep(&mut self) {
        let Some(keeper) = &self.agent.keeper else { return };
        if let Err(error) = keeper.keep(&self.scope, &self.state).await {
            let reason = format!("the run cannot be kept: {}", with_causes(&*error));
            self.fault.get_or_insert(reason);
        }
    }

    /// Does something that takes time, and takes note of what the run is told meanwhile.
    async fn attend<T>(&mut self, work: impl Future<Output = T>) -> T {
        let controls = self.controls();
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => {
                    self.take_in().await;
                    return done;
                }
                () = controls.arrived() => self.take_in().await,
            }
        }
    }

    /// Takes note of what the run was told; what does not fit where it stands changes nothing.
    async fn take_in(&mut self) {
        while let Some(event) = self.driven.controls.next() {
            let effects = self.state.step(event).unwrap_or_default();
            self.note(effects).await;
        }
    }

    /// Takes note of the time that has passed, of what a turn cost, and of what other runs have drawn.
    fn meter(&mut self, usage: &Usage) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (mut spent, reserved) = self.purse.collect();
        let price = self.agent.prices.get(&self.agent.model.capabilities().name);
        spent += Spent {
            wall_ms: now.saturating_sub(self.metered_ms),
            cost_nanos: price.map_or(0, |price| price.of(usage)),
            ..Spent::default()
        };
        self.metered_ms = now;
        self.advance(RunEvent::Metered { spent, reserved });
    }

    /// The time that is left, if it is limited.
    fn time_left(&self) -> Option<Duration> {
        let left = self.state.account().left(BudgetKind::WallTime)?;
        let passed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(Duration::from_millis(left.saturating_sub(passed.saturating_sub(self.metered_ms))))
    }

    async fn execute(&mut self, batch: Batch) -> RunEvent {
        let controls = self.controls();
        controls.batch_begins();
        self.take_in().await;
        if self.state.queue().iter().any(|queued| queued.when == When::Now) {
            controls.skip();
        }
        let token = controls.token.child_token();
        let steered = Arc::clone(&controls);
        let steering =
            move |_: &ToolCall| if steered.skips() { Steer::skip(STEERED) } else { Steer::Continue };
        let mut batch = batch.cancelled_by(token.clone()).steered_by(steering);
        if let Some(caller) = &self.agent.caller {
            batch = batch.made_by(caller);
        }
        let time_left = self.time_left();
        let executor = &self.agent.executor;
        let executed = async {
            let mut executed = executor.execute_batch(batch);
            let Some(time_left) = time_left else { return executed.await };
            tokio::select! {
                biased;
                outcome = &mut executed => return outcome,
                () = sleep(time_left) => {}
            }
            token.cancel();
            executed.await
        };
        let outcomes = self.attend(executed).await.into_outcomes();
        self.meter(&Usage::default());
        RunEvent::BatchExecuted { outcomes }
    }

    async fn call_model(&mut self) -> RunEvent {
        let token = self.controls().token.clone();
        if token.is_cancelled() {
            return RunEvent::Cancelled;
        }
        let name = &self.agent.model.capabilities().name;
        if self.state.account().budget.cost_nanos.is_some() && self.agent.prices.get(name).is_none() {
            let reason = format!(
                "the run has a budget of money, and there is no price for the model `{name}`; give one, or no such budget"
            );
            return RunEvent::ModelFailed { reason };
        }
        if self.compact(&token).await.is_none() {
            return RunEvent::Cancelled;
        }
        if let Some(reason) = self.fault.clone() {
            return RunEvent::ModelFailed { reason };
        }
        let time_left = match self.time_left() {
            Some(_) if !self.state.offers_tools() => CLOSING_TIME,
            Some(left) => left,
            None => Duration::MAX,
        };
        let (agent, scope, request) = (self.agent, self.scope.clone(), self.request());
        let answer = async {
            let mut told = Told::new(&agent.events, &scope);
            let answer = agent.answer(request, &token, &mut told).with_cancellation_token(&token);
            let answer = match time_left {
                Duration::MAX => Ok(answer.await),
                time_left => timeout(time_left, answer).await,
            };
            told.finish();
            answer
        };
        let answer = self.attend(answer).await;
        let usage = match &answer {
            Ok(Some(Ok(turn))) => turn.usage,
            _ => Usage::default(),
        };
        self.meter(&usage);
        match answer {
            Err(_) => RunEvent::TimedOut,
            Ok(None | Some(Err(ModelError::Cancelled))) => RunEvent::Cancelled,
            Ok(Some(Ok(turn))) => RunEvent::ModelAnswered { turn },
            Ok(Some(Err(error))) => RunEvent::ModelFailed { reason: with_causes(&error) },
        }
    }

    fn request(&self) -> ModelRequest {
        let mut request = ModelRequest::new(self.state.told().iter().cloned());
        if self.state.offers_tools() {
            request = request.with_tools(Arc::clone(&self.agent.tools));
        }
        match &self.agent.system {
            Some(system) => request.with_system(Arc::clone(system)),
            None => request,
        }
    }

    /// Has made less of what the model is told, if it is too much; gives `None` if the run was cancelled meanwhile.
    async fn compact(&mut self, token: &CancellationToken) -> Option<()> {
        let (Some(compaction), Some(window)) = (self.agent.compaction.clone(), self.agent.window) else {
            return Some(());
        };
        let counted = self.state.usage().input > 0;
        let tokens = self.state.context_tokens() + if counted { 0 } else { self.agent.around() };
        let percent = |part: u64| window.saturating_mul(part) / 100;
        if tokens < percent(COMPACTED_AT).max(self.compacted_at) {
            return Some(());
        }
        let (state, scope) = (self.state.clone(), self.scope.clone());
        let compacted =
            async move { compaction.compact(state.context(&scope, tokens, percent(COMPACTED_TO))).await };
        let told = match self.attend(compacted.with_cancellation_token(token)).await? {
            Ok(told) if told.is_empty() => Ok(Vec::new()),
            Ok(told) => self.state.step(RunEvent::Compacted { told }).map_err(|error| error.to_string()),
            Err(error) => Err(with_causes(&*error)),
        };
        match told {
            Ok(effects) => self.note(effects).await,
            Err(reason) => {
                self.agent.events.emit(&self.scope, None, || EventKind::CompactionFailed { reason });
            }
        }
        // What cannot be made less now can be when there is more of it.
        self.compacted_at = self.state.context_tokens().saturating_add(percent(5));
        Some(())
    }

    /// Keeps and tells; nothing is begun while something is under way.
    async fn note(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Persist => self.keep().await,
                Effect::Emit(kind) => self.agent.events.emit(&self.scope, None, || kind),
                _ => {}
            }
        }
    }
}

impl Agent {
    async fn answer(
        &self,
        request: ModelRequest,
        token: &CancellationToken,
        told: &mut Told<'_>,
    ) -> Result<ModelTurn, ModelError> {
        let stream = self.model.stream(request, token.clone()).await?;
        assemble(stream, |delta| told.delta(delta)).await
    }
}
