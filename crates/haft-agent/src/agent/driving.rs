//! Does what a run needs done, one thing after the other, and listens to whoever steers it meanwhile.

use super::controls::{Controls, Driven};
use super::offer::Offered;
use super::span;
use super::{Agent, RunHandle, RunLimits};
use crate::budget::Collected;
use crate::state::STEERED;
use crate::{Effect, Phase, Purse, RunEnd, RunEvent, RunState, Spent, SteerWhen, StepError};
use haft_core::{BudgetKind, ToolCall, Usage, with_causes};
use haft_tools_core::{Batch, CallOutcome, CallScope, PendingCall, Steer};
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

/// Is a run while it is driven.
pub(super) struct Run<'a> {
    pub(super) agent: &'a Agent,
    /// The scope of its calls, with the purse and the handle in it.
    pub(super) scope: CallScope,
    pub(super) state: RunState,
    driven: Driven,
    purse: Purse,
    /// What was collected from the purse since this began.
    collected: Collected,
    /// The tools of the turn, once they were asked for.
    offered: Option<Offered>,
    started: Instant,
    /// What of the time since then the state knows of, in milliseconds.
    metered_ms: u64,
    /// What was cut off a request that could not be made less is not tried again before it has grown by as much.
    pub(super) compacted_at: u64,
    /// Whether it was looked if what is told in the place of messages is still right.
    pub(super) is_renewed: bool,
    /// How often the model was asked again in a row.
    pub(super) retries: u32,
    /// How long is waited before the model is asked again.
    pub(super) pause: Option<Duration>,
    /// The calls that waited when the run was stopped.
    left: Vec<PendingCall>,
    /// Why the run cannot go on.
    pub(super) fault: Option<String>,
    /// Covers what is done for the run until it ends or waits.
    pub(super) span: Span,
    /// What the run had used when this began.
    used_before: Usage,
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
        let answers = events.iter().any(|event| matches!(event, RunEvent::CallAnswered { .. }));
        let left = if answers { run.pick_up() } else { None };
        for event in events {
            // What one event leaves to be done, the next one may have changed.
            effects.retain(|effect| matches!(effect, Effect::Persist | Effect::Emit(_)));
            match run.step(event) {
                Ok(following) => effects.extend(following),
                Err(error) => {
                    run.give_back();
                    return Err(error);
                }
            }
        }
        effects = run.with_left(left, effects);
        run.purse.follow(run.state.account());
        if let Some(refused) = run.refuse() {
            effects.retain(|effect| matches!(effect, Effect::Emit(_)));
            effects.extend(refused);
        }
        run.drive(effects).await;
        Ok(run.state)
    }
}

impl<'a> Run<'a> {
    pub(super) fn begin(agent: &'a Agent, scope: &CallScope, state: RunState) -> Self {
        let purse = agent.purses.of(scope.run(), &state);
        let handle = RunHandle::new(scope.run().clone(), agent.at_work.clone());
        let span = span::of_run(scope, &agent.model.capabilities().name);
        let used_before = state.usage();
        let mut run = Self {
            agent,
            scope: scope.clone().with_extension(purse.clone()).with_extension(handle),
            driven: agent.at_work.begin(scope.run(), &agent.cancellation),
            state: state.made_again(agent.made_again.iter().cloned()),
            purse,
            collected: Collected::default(),
            offered: None,
            started: Instant::now(),
            metered_ms: 0,
            compacted_at: 0,
            is_renewed: false,
            retries: 0,
            pause: None,
            left: Vec::new(),
            fault: None,
            span,
            used_before,
        };
        // What is set aside may be otherwise than when the run was stored.
        run.meter(Spent::default());
        run
    }

    /// Takes note that calls were being executed which others had held back, and that whoever did so has ended; gives what
    /// is to be kept and told of it, or nothing where there are none.
    pub(super) fn pick_up(&mut self) -> Option<Vec<Effect>> {
        let is_left = matches!(self.state.phase(), Phase::Waiting { executing, .. } if !executing.is_empty());
        is_left.then(|| self.step(RunEvent::Interrupted).unwrap_or_default())
    }

    /// Adds what was left to be done to what follows from an event after it.
    pub(super) fn with_left(&self, left: Option<Vec<Effect>>, effects: Vec<Effect>) -> Vec<Effect> {
        let Some(left) = left else { return effects };
        // What is to be executed can have become more.
        let told = left.into_iter().chain(effects);
        let told = told.filter(|effect| matches!(effect, Effect::Persist | Effect::Emit(_)));
        told.chain(self.state.outstanding()).collect()
    }

    /// Ends the run if it may not be at work where it is.
    pub(super) fn refuse(&mut self) -> Option<Vec<Effect>> {
        let reason = RunLimits::refuse(&self.scope).filter(|_| self.state.end().is_none())?;
        Some(self.fail(reason))
    }

    /// Leaves what was collected from the purse to those who drive the run next, since its state is not handed out.
    pub(super) fn give_back(&self) {
        self.purse.give_back(&self.collected);
    }

    /// The tools of the turn; asked for if they were not.
    pub(super) fn offered(&mut self) -> &Offered {
        let (agent, scope) = (self.agent, &self.scope);
        self.offered.get_or_insert_with(|| agent.offer.ask(scope, None))
    }

    /// Asks for the tools of the next turn.
    pub(super) fn ask_for_tools(&mut self) {
        let before = self.offered.take();
        self.offered = Some(self.agent.offer.ask(&self.scope, before.as_ref()));
    }

    pub(super) fn controls(&self) -> Arc<Controls> {
        Arc::clone(&self.driven.controls)
    }

    pub(super) async fn drive(&mut self, effects: Vec<Effect>) {
        let span = self.span.clone();
        self.drive_on(effects).instrument(span).await;
        span::left(&self.span, &self.state, &self.used_before);
    }

    async fn drive_on(&mut self, effects: Vec<Effect>) {
        self.work_off(effects).await;
        // That it was stopped is kept now.
        if matches!(self.state.end(), Some(RunEnd::Cancelled)) && !self.left.is_empty() {
            self.agent.executor.give_up(&self.left).await;
        }
    }

    /// Does what is to be done until nothing is left.
    async fn work_off(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        loop {
            while let Some(effect) = effects.pop_front() {
                if let Some(event) = self.perform(effect).await {
                    effects.extend(self.advance(event));
                }
                if let Some(reason) = self.fault.take() {
                    // What has happened until now is told, too, though it is not kept.
                    effects.extend(self.fail(reason));
                    self.tell_observers(effects);
                    // What was said until now is kept for the next prompt.
                    while let Some(event) = self.driven.controls.next_or_close() {
                        let _ = self.step(event);
                    }
                    return;
                }
            }
            // What was said while nothing was under way any more must not be lost with the controls.
            if let Some(event) = self.driven.controls.next_or_close() {
                let is_said = matches!(event, RunEvent::Steered { .. });
                effects.extend(self.step(event).unwrap_or_default());
                if is_said {
                    effects.extend(self.driven.controls.change(&mut self.state, RunState::take_back_end));
                }
                continue;
            }
            // From here on it can be said no more that it is to stop; that was said while it came to stand still.
            if self.state.end().is_some() || !self.driven.controls.is_cancelled() {
                return;
            }
            effects.extend(self.advance(RunEvent::Cancelled));
        }
    }

    /// Takes note of what happened.
    pub(super) fn step(&mut self, event: RunEvent) -> Result<Vec<Effect>, StepError> {
        self.leave(&event);
        self.driven.controls.change(&mut self.state, |state| state.step(event))
    }

    /// Remembers the calls that wait, if the run is stopped.
    fn leave(&mut self, event: &RunEvent) {
        if *event == RunEvent::Cancelled {
            self.left.extend(self.state.pending().cloned());
        }
    }

    /// Ends the run because of a fault outside it.
    pub(super) fn fail(&mut self, reason: String) -> Vec<Effect> {
        self.driven.controls.change(&mut self.state, |state| state.fail(reason))
    }

    pub(super) fn advance(&mut self, event: RunEvent) -> Vec<Effect> {
        self.leave(&event);
        let effects = self.driven.controls.change(&mut self.state, |state| state.advance(event));
        self.purse.follow(self.state.account());
        effects
    }

    async fn perform(&mut self, effect: Effect) -> Option<RunEvent> {
        match effect {
            Effect::CallModel => Some(self.call_model().await),
            Effect::ExecuteBatch { calls } => {
                let outcomes = self.execute(Batch::new(self.turn_scope(), calls)).await;
                Some(RunEvent::BatchExecuted { outcomes })
            }
            Effect::ExecuteHeld { calls } => {
                let asked = calls.len();
                let outcomes = self.execute(Batch::of_held(self.turn_scope(), calls)).await;
                // Whatever has no outcome now would be waited for forever.
                if outcomes.len() != asked {
                    let reason = format!("the executor gave {} outcomes of {asked} calls", outcomes.len());
                    self.fault.get_or_insert(reason);
                    return None;
                }
                Some(RunEvent::BatchExecuted { outcomes })
            }
            Effect::Emit(_) => {
                self.tell_observers([effect]);
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
    pub(super) fn turn_scope(&self) -> CallScope {
        self.scope.clone().with_turn(self.state.turns())
    }

    pub(super) async fn keep(&mut self) {
        let Some(keeper) = &self.agent.keeper else { return };
        if let Err(error) = keeper.keep(&self.scope, &self.state).await {
            let reason = format!("the run cannot be kept: {}", with_causes(&*error));
            self.fault.get_or_insert(reason);
        }
    }

    /// Does something that takes time, and takes note of what the run is told meanwhile.
    pub(super) async fn attend<T>(&mut self, work: impl Future<Output = T>) -> T {
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
            let effects = self.step(event).unwrap_or_default();
            self.note(effects).await;
        }
    }

    /// Takes note of the time that has passed, of what a turn took that the run cannot know of, and of what other runs have
    /// drawn.
    pub(super) fn meter(&mut self, turn: Spent) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let Collected { mut spent, reserved, counted } = self.purse.collect();
        self.collected.spent += spent;
        self.collected.counted.extend(counted.iter().map(|(run, spent)| (run.clone(), *spent)));
        spent += turn;
        spent += Spent { wall_ms: now.saturating_sub(self.metered_ms), ..Spent::default() };
        self.metered_ms = now;
        self.advance(RunEvent::Metered { spent, reserved, counted });
    }

    /// The time that is left, if it is limited.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let left = self.state.account().left(BudgetKind::WallTime)?;
        let passed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(Duration::from_millis(left.saturating_sub(passed.saturating_sub(self.metered_ms))))
    }

    pub(super) async fn execute(&mut self, batch: Batch) -> Vec<CallOutcome> {
        let controls = self.controls();
        controls.batch_begins();
        self.take_in().await;
        if self.state.queue().iter().any(|queued| queued.when == SteerWhen::Now) {
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
        if let Some(registry) = &self.offered().registry {
            batch = batch.with_registry(registry.clone());
        }
        let executed = in_time(self.time_left(), &token, self.agent.executor.execute_batch(batch));
        let outcomes = self.attend(executed).await.into_outcomes();
        self.meter(Spent::default());
        outcomes
    }

    /// Keeps and tells; nothing is begun while something is under way.
    pub(super) async fn note(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Persist => self.keep().await,
                _ => self.tell_observers([effect]),
            }
        }
    }

    /// Tells observers what of these effects is for them.
    fn tell_observers(&self, effects: impl IntoIterator<Item = Effect>) {
        for effect in effects {
            if let Effect::Emit(kind) = effect {
                self.agent.events.emit(&self.scope, None, || kind);
            }
        }
    }
}

/// Does something that its token stops, and stops it when the time is over that is left for it.
pub(super) async fn in_time<T>(
    left: Option<Duration>,
    token: &CancellationToken,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    if let Some(left) = left {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = sleep(left) => token.cancel(),
        }
    }
    work.await
}
