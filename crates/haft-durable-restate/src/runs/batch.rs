//! The calls of a turn, as invocations that the workflow of the run waits for.

use super::below::Below;
use super::leg::{self, Leg, Work};
use super::run_clock::RunClock;
use super::run_request::RunRequest;
use super::run_wire::{Delegation, Planned};
use super::run_workflow::Standing;
use crate::executor::taken;
use crate::step::{CANCELLED, STOP_SIGNAL};
use crate::suspending::FarWait;
use haft_agent::{Account, Purse, RunEvent, Spent};
use haft_core::{BudgetKind, RunId, ToolReply};
use haft_durable::CallRequest;
use haft_tools_core::{CallOutcome, CallScope, PendingCall};
use restate_sdk::context::macro_support::SealedDurableFuture as _;
use restate_sdk::prelude::{
    CallFuture, ContextSignals as _, ContextTimers as _, HandlerError, Json, TerminalError, WorkflowContext,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long invocations may take before each is asked whether it waits, and how much more for each of them: most have ended
/// by then, and where there are many, asking would keep them from it.
const SOON: Duration = Duration::from_millis(250);
const SOON_EACH: Duration = Duration::from_millis(3);

/// How long a run waits for what goes on before it gives its worker free.
const HOLDS_FOR: Duration = Duration::from_secs(5);

/// How many invocations are waited for at once, the first ones first: the engine is told of all of them each time.
const WINDOW: usize = 64;

/// Is what became of the calls.
pub(super) struct Made {
    pub(super) events: Vec<RunEvent>,
    /// Whether the run was told to stop meanwhile.
    pub(super) is_told: bool,
}

/// Makes the calls of a turn.
pub(super) struct Batch<'a, 'ctx> {
    ctx: &'a WorkflowContext<'ctx>,
    request: &'a RunRequest,
    standing: &'a mut Standing,
    scope: CallScope,
    calls: Vec<Planned>,
    replies: Vec<Option<ToolReply>>,
    /// The runs below of a call that has begun some.
    below: BTreeMap<usize, Below>,
    purse: Purse,
    counted: BTreeMap<RunId, Spent>,
    clock: RunClock,
    is_told: bool,
    /// Whether nothing more is begun.
    stops: bool,
    /// Whether those who look were told that it waits.
    waits: bool,
}

/// Says which of the futures that are waited for it is.
#[derive(Clone, Copy)]
enum What {
    Stop,
    Soon,
    TimeOver,
    Run(usize),
    Stands(usize),
}

impl<'a, 'ctx> Batch<'a, 'ctx> {
    pub(super) fn new(
        ctx: &'a WorkflowContext<'ctx>,
        request: &'a RunRequest,
        standing: &'a mut Standing,
        calls: Vec<Planned>,
        account: Account,
        turn: u32,
        at_ms: u64,
    ) -> Self {
        let clock = RunClock::new(account.left(BudgetKind::WallTime), at_ms);
        Self {
            ctx,
            request,
            standing,
            scope: request.scope().with_turn(turn),
            replies: vec![None; calls.len()],
            calls,
            below: BTreeMap::new(),
            purse: Purse::new(account),
            counted: BTreeMap::new(),
            clock,
            is_told: false,
            stops: false,
            waits: false,
        }
    }

    /// Makes them all, and gives what the run is to take note of.
    pub(super) async fn made(mut self) -> Result<Made, HandlerError> {
        let ctx = self.ctx;
        let mut begun = vec![false; self.calls.len()];
        let mut legs: Vec<Leg<_>> = Vec::with_capacity(self.calls.len());
        let (mut stop, mut soon, mut time_over) = (Some(ctx.signal::<()>(STOP_SIGNAL)), None, None);
        loop {
            self.begin(&mut begun, &mut legs, |target, body| leg::invoke(ctx, target, body));
            if legs.is_empty() {
                break;
            }
            if soon.is_none() && legs.iter().any(|leg| leg.stands.is_none()) {
                let each = SOON_EACH * u32::try_from(legs.len()).unwrap_or(u32::MAX);
                soon = Some(ctx.sleep(SOON.saturating_add(each)));
            }
            let is_waiting = legs.iter().all(|leg| !leg.waiting.is_empty());
            if self.cancelled_in(!is_waiting).await? {
                (stop, time_over) = (None, None);
                self.stops = true;
                stop_all(&legs).await?;
                continue;
            }
            if is_waiting && !self.waits {
                self.waits = true;
                let waiting: Vec<PendingCall> =
                    legs.iter().flat_map(|leg| leg.waiting.iter().cloned()).collect();
                self.standing.waits(ctx, waiting);
            }
            if is_waiting {
                time_over = None;
            } else if let (Some(left), None, false) = (self.clock.left(), &time_over, self.stops) {
                time_over = Some(ctx.sleep(left));
            }
            let mut waited: Vec<What> = Vec::new();
            let mut handles = Vec::new();
            if let Some(stop) = &stop {
                waited.push(What::Stop);
                handles.push(stop.handle());
            }
            if let Some(soon) = soon.as_ref().filter(|_| !is_waiting) {
                waited.push(What::Soon);
                handles.push(soon.handle());
            }
            if let Some(time_over) = &time_over {
                waited.push(What::TimeOver);
                handles.push(time_over.handle());
            }
            // What waits for a person is only looked at where nothing else goes on.
            let looked_at = legs.iter().enumerate().filter(|(_, leg)| is_waiting || leg.waiting.is_empty());
            for (place, leg) in looked_at.take(if is_waiting { usize::MAX } else { WINDOW }) {
                waited.push(What::Run(place));
                handles.push(leg.run.handle());
                if let Some(stands) = &leg.stands {
                    waited.push(What::Stands(place));
                    handles.push(stands.handle());
                }
            }
            let first = {
                let _far = if is_waiting { FarWait::begin() } else { FarWait::after(HOLDS_FOR) };
                legs[0].run.inner_context().select(handles).await
            };
            // The engine's own cancellation counts like a word to stop.
            let first = first.ok().and_then(|first| waited.get(first).copied()).unwrap_or(What::Stop);
            match first {
                What::Stop => {
                    (stop, time_over) = (None, None);
                    (self.is_told, self.stops) = (true, true);
                    stop_all(&legs).await?;
                }
                What::TimeOver => {
                    time_over = None;
                    self.stops = true;
                    stop_all(&legs).await?;
                }
                What::Soon => {
                    soon = None;
                    for leg in legs.iter_mut().filter(|leg| leg.stands.is_none()) {
                        leg.stands = Some(leg.asked(|target, body| leg::invoke(ctx, target, body)));
                    }
                }
                What::Stands(place) => {
                    let leg = &mut legs[place];
                    let Some(stands) = leg.stands.take() else { continue };
                    let seen = stands.await.map(Json::into_inner);
                    leg.seen(seen, |target, body| leg::invoke(ctx, target, body))?;
                    self.changed();
                }
                What::Run(place) => {
                    let leg = legs.remove(place);
                    let landed = leg.run.await;
                    if let Some(stands) = leg.stands {
                        // Nobody wants to know any more.
                        stands.invocation_handle().await?.cancel();
                    }
                    self.landed(&leg.work, landed.map(Json::into_inner));
                    self.changed();
                }
            }
        }
        while self.cancelled_in(false).await? {}
        Ok(self.outcome())
    }

    /// Has the clock run or stand still, and tells whether the engine has cancelled the run meanwhile.
    async fn cancelled_in(&mut self, runs: bool) -> Result<bool, TerminalError> {
        match self.clock.runs(self.ctx, runs).await {
            Ok(()) => Ok(false),
            Err(error) if error.code() == CANCELLED => {
                self.is_told = true;
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Begins what has to wait for nothing any more.
    fn begin<F: CallFuture>(
        &mut self,
        begun: &mut [bool],
        legs: &mut Vec<Leg<F>>,
        invoke: impl Fn(restate_sdk::context::RequestTarget, Value) -> F,
    ) {
        for (place, below) in &mut self.below {
            for run in below.due(self.stops) {
                legs.push(Leg::of_run(*place, run, &invoke));
            }
            if let Some(reply) = below.reply(&self.calls[*place].call) {
                self.replies[*place].get_or_insert(reply);
            }
        }
        for (place, planned) in self.calls.iter().enumerate() {
            let is_free =
                planned.after.iter().all(|earlier| self.replies.get(*earlier).is_none_or(Option::is_some));
            if begun[place] || !is_free {
                continue;
            }
            begun[place] = true;
            let call = &planned.call;
            let is_repeated = self.calls[..place].iter().any(|other| other.call.id == call.id);
            if self.stops || is_repeated {
                let outcome = if is_repeated { taken(call) } else { leg::not_begun(call) };
                self.replies[place] = replied(outcome);
                continue;
            }
            match CallRequest::new(&self.scope, call.clone()) {
                Ok(request) => legs.push(Leg::of_call(place, planned.pool.clone(), &request, &invoke)),
                Err(error) => self.replies[place] = replied(crate::executor::unsent(call, &error)),
            }
        }
    }

    /// Takes note of what an invocation came to.
    fn landed(&mut self, work: &Work, landed: Result<Value, TerminalError>) {
        match *work {
            Work::Call { place, request, .. } => {
                let call = &self.calls[place].call;
                let Some(reply) = replied(leg::outcome(landed, request, call)) else { return };
                let delegation = Delegation::of(&reply).filter(|_| self.calls[place].delegates);
                match delegation {
                    Some(delegation) => {
                        let below = Below::new(self.request, &self.scope, call, delegation, &self.purse);
                        self.below.insert(place, below);
                    }
                    None => self.replies[place] = Some(reply),
                }
            }
            Work::Run { place, number, .. } => {
                let below = self.below.get_mut(&place);
                self.counted.extend(below.and_then(|below| below.landed(number, landed)));
            }
        }
    }

    /// Says to those who look that what they were told is so no longer.
    fn changed(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.standing.goes_on(self.ctx);
        }
    }

    fn outcome(self) -> Made {
        let mut spent = self.purse.drawn();
        spent.wall_ms = self.clock.spent();
        let metered = RunEvent::Metered { spent, reserved: Spent::default(), counted: self.counted };
        let outcomes = self.replies.into_iter().zip(&self.calls).map(|(reply, planned)| match reply {
            Some(reply) => CallOutcome::Replied(reply),
            None => CallOutcome::lost(&planned.call),
        });
        let executed = RunEvent::BatchExecuted { outcomes: outcomes.collect() };
        Made { events: vec![metered, executed], is_told: self.is_told }
    }
}

/// Tells whatever still goes on to stop.
async fn stop_all<F: CallFuture>(legs: &[Leg<F>]) -> Result<(), TerminalError> {
    for leg in legs {
        leg.run.invocation_handle().await?.signal(STOP_SIGNAL).resolve(());
    }
    Ok(())
}

fn replied(outcome: CallOutcome) -> Option<ToolReply> {
    match outcome {
        CallOutcome::Replied(reply) => Some(reply),
        _ => None,
    }
}
