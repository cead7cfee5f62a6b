//! Does what a run needs done, one thing after the other, and listens to whoever steers it meanwhile.

use super::controls::{Controls, Driven};
use super::errors::with_causes;
use super::offer::Offered;
use super::{Agent, ResumeError, RunHandle, RunLimits};
use crate::state::STEERED;
use crate::{Effect, Purse, RunEvent, RunState, Spent, StepError, When};
use haft_core::{BudgetKind, ToolCall, Usage};
use haft_tools_core::{
    Approval, Batch, CallOutcome, CallScope, HeldCall, PendingCall, ResumeRefused, Resumption, Steer,
};
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Is a run while it is driven.
pub(super) struct Run<'a> {
    pub(super) agent: &'a Agent,
    /// The scope of its calls, with the purse and the handle in it.
    pub(super) scope: CallScope,
    pub(super) state: RunState,
    driven: Driven,
    purse: Purse,
    /// What was collected from the purse since this began.
    collected: Spent,
    /// The tools of the turn, once they were asked for.
    offered: Option<Offered>,
    started: Instant,
    /// What of the time since then the state knows of, in milliseconds.
    metered_ms: u64,
    /// What was cut off a request that could not be made less is not tried again before it has grown by as much.
    pub(super) compacted_at: u64,
    /// Why the run cannot go on.
    pub(super) fault: Option<String>,
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
            match run.step(event) {
                Ok(following) => effects.extend(following),
                Err(error) => {
                    run.give_back();
                    return Err(error);
                }
            }
        }
        run.purse.follow(run.state.account());
        if let Some(refused) = run.refuse() {
            effects = refused;
        }
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
        // Whoever went on with the call before may have ended in the middle of it, unless they are at it.
        let again = (!approval.denies() && self.is_made_again(&pending.call.name))
            .then(|| HeldCall::new(pending.call.clone()))
            .filter(|_| self.at_work.get(scope.run()).is_none());
        let mut run = Run::begin(self, scope, state);
        if let Some(refused) = run.refuse() {
            run.drive(refused).await;
            return Ok(run.state);
        }
        let token = run.controls().token.clone();
        let mut resumption = Resumption::new(run.turn_scope(), pending, approval).cancelled_by(token);
        if let Some(caller) = &self.caller {
            resumption = resumption.made_by(caller);
        }
        if let Some(registry) = &run.offered().registry {
            resumption = resumption.with_registry(registry.clone());
        }
        let outcome = match (run.attend(self.executor.resume(resumption)).await, again) {
            (Ok(outcome), _) => Some(outcome),
            (Err(ResumeRefused::ResumedBefore { .. }), Some(again)) => {
                run.execute(Batch::of_held(run.scope.clone(), [again])).await.pop()
            }
            (Err(refused), _) => {
                run.give_back();
                return Err(refused.into());
            }
        };
        run.meter(&Usage::default());
        let effects = match outcome {
            Some(outcome) => run.advance(RunEvent::CallAnswered { outcome }),
            None => run.fail("the executor gave no outcome of a call".to_owned()),
        };
        run.drive(effects).await;
        Ok(run.state)
    }
}

impl<'a> Run<'a> {
    fn begin(agent: &'a Agent, scope: &CallScope, state: RunState) -> Self {
        let purse = agent.purses.of(scope.run(), state.account());
        let handle = RunHandle::new(scope.run().clone(), agent.at_work.clone());
        let mut run = Self {
            agent,
            scope: scope.clone().with_extension(purse.clone()).with_extension(handle),
            driven: agent.at_work.begin(scope.run(), &agent.cancellation),
            state: state.with_made_again(agent.made_again.iter().cloned()),
            purse,
            collected: Spent::default(),
            offered: None,
            started: Instant::now(),
            metered_ms: 0,
            compacted_at: 0,
            fault: None,
        };
        // What is set aside may be otherwise than when the run was stored.
        run.meter(&Usage::default());
        run
    }

    /// Ends the run if it may not be at work where it is.
    fn refuse(&mut self) -> Option<Vec<Effect>> {
        let reason = RunLimits::refuse(&self.scope).filter(|_| self.state.end().is_none())?;
        Some(self.fail(reason))
    }

    /// Leaves what was collected from the purse to those who drive the run next, since its state is not handed out.
    fn give_back(&self) {
        self.purse.give_back(self.collected);
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

    async fn drive(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        loop {
            while let Some(effect) = effects.pop_front() {
                if let Some(event) = self.perform(effect).await {
                    effects.extend(self.advance(event));
                }
                if let Some(reason) = self.fault.take() {
                    self.fail(reason);
                    // What was said until now is kept for the next prompt.
                    while let Some(event) = self.driven.controls.next_or_close() {
                        let _ = self.step(event);
                    }
                    return;
                }
            }
            // What was said while nothing was under way any more must not be lost with the controls.
            let Some(event) = self.driven.controls.next_or_close() else { return };
            effects.extend(self.step(event).unwrap_or_default());
        }
    }

    /// Takes note of what happened.
    pub(super) fn step(&mut self, event: RunEvent) -> Result<Vec<Effect>, StepError> {
        self.driven.controls.change(&mut self.state, |state| state.step(event))
    }

    /// Ends the run because of a fault outside it.
    fn fail(&mut self, reason: String) -> Vec<Effect> {
        self.driven.controls.change(&mut self.state, |state| state.fail(reason))
    }

    fn advance(&mut self, event: RunEvent) -> Vec<Effect> {
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
                let outcomes = self.execute(Batch::of_held(self.turn_scope(), calls)).await;
                Some(RunEvent::BatchExecuted { outcomes })
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

    /// Takes note of the time that has passed, of what a turn cost, and of what other runs have drawn.
    pub(super) fn meter(&mut self, usage: &Usage) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (mut spent, reserved) = self.purse.collect();
        self.collected += spent;
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
    pub(super) fn time_left(&self) -> Option<Duration> {
        let left = self.state.account().left(BudgetKind::WallTime)?;
        let passed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(Duration::from_millis(left.saturating_sub(passed.saturating_sub(self.metered_ms))))
    }

    async fn execute(&mut self, batch: Batch) -> Vec<CallOutcome> {
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
        if let Some(registry) = &self.offered().registry {
            batch = batch.with_registry(registry.clone());
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
        outcomes
    }

    /// Keeps and tells; nothing is begun while something is under way.
    pub(super) async fn note(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Persist => self.keep().await,
                Effect::Emit(kind) => self.agent.events.emit(&self.scope, None, || kind),
                _ => {}
            }
        }
    }
}
