//! Drives one run: waits for its seat, sets its budget aside, has it run, and keeps what became of it.

use super::budgets::{Part, reserve};
use super::house::{House, root_of};
use super::live::Drive;
use crate::{
    AgentSpec, ChildMemory, ChildMeter, ChildOutcome, ChildRecord, ChildResult, ChildRun, ChildStatus,
    Placed, Runner, Share,
};
use futures_util::FutureExt as _;
use haft_agent::{Account, Purse, RunHandle, RunLimits, Spent, When};
use haft_core::{EventKind, Message};
use haft_tools_core::{CallContext, CallScope, Seat, StoreError};
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a run that is cancelled may take to end before it is given up.
const GRACE: Duration = Duration::from_secs(10);

/// Says which run is to be driven, and for whom.
pub(crate) struct Order {
    pub(crate) record: ChildRecord,
    /// The scope of the run that started it.
    pub(crate) above: CallScope,
    /// The call because of which it is driven, where it is known.
    pub(crate) call: Option<CallContext>,
    /// Whether that call waits for it.
    pub(crate) is_awaited: bool,
    pub(crate) token: CancellationToken,
    /// How many runs share what is left of the budget.
    pub(crate) sharers: u64,
    /// Reaches the run that started it.
    pub(crate) handle: Option<RunHandle>,
    /// The right to drive it, where that was taken already.
    pub(super) drive: Option<Drive>,
}

/// Takes from the budget of the run above what a run has spent, also where it is abandoned.
struct Charge {
    part: Part,
    meter: ChildMeter,
    charged: Spent,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.part.settle(self.meter.spent().without(&self.charged));
    }
}

impl House {
    /// Drives a run until it ends or waits for a person, and gives what is known of it then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the run where it stands.
    pub(crate) async fn drive(&self, mut order: Order) -> ChildRecord {
        let drive = match order.drive.take() {
            Some(drive) => drive,
            None => self.live.enter(&order.record.run, &order.token).await,
        };
        let driven = self.try_drive(&order).await;
        let record = driven.unwrap_or_else(|error| {
            let mut record = order.record;
            let reason = "where it stands cannot be kept at the moment; say so and stop";
            record.end(ChildResult::failed(reason).with_detail(with_causes(&error)));
            record
        });
        drop(drive);
        record
    }

    /// Drives a run that nobody waits for, and tells its parent when it has ended.
    pub(super) async fn drive_apart(&self, order: Order) {
        let handle = order.handle.clone();
        let record = self.drive(order).await;
        if !record.has_ended() || record.told || self.live.is_waited_for(&record.run) {
            return;
        }
        let Some(handle) = handle else { return };
        // Whoever is told first has told it: a call that waits for the run may have done so.
        let mut is_news = false;
        let marked = self.update(&record.run, |record| is_news = !std::mem::replace(&mut record.told, true));
        if marked.await.is_err() || !is_news {
            return;
        }
        if handle.steer(crate::tools::news(&record), When::AfterTurn).is_err() {
            // It is told when it is next driven.
            let _ = self.update(&record.run, |record| record.told = false).await;
        }
    }

    async fn try_drive(&self, order: &Order) -> Result<ChildRecord, StoreError> {
        let run = &order.record.run;
        let known = self.update(run, |_| {}).await?;
        if known.has_ended() && known.inbox.is_empty() {
            return Ok(known);
        }
        let Some(spec) = self.agents.get(&*known.agent) else {
            let lost = ChildResult::lost("there is no agent of that name any more");
            return self.ended(order, lost).await;
        };
        let seated = tokio::select! {
            biased;
            () = order.token.cancelled() => return self.ended(order, ChildResult::cancelled()).await,
            seated = self.seats.take(root_of(&order.above)) => seated,
        };
        let purse = order.above.extension::<Purse>();
        let part = match reserve(purse, spec, &self.limits, &known, order.sharers) {
            Ok(part) => part,
            Err(none) => {
                let reason = format!("nothing is left of the budget of {none}; go on without it");
                return self.ended(order, ChildResult::failed(reason)).await;
            }
        };
        let Some(runner) = self.runner.get() else {
            let reason = "this program drives no agents; do it yourself";
            return self.ended(order, ChildResult::failed(reason)).await;
        };
        let began = known.status == ChildStatus::Queued;
        // Nobody else drives it, so one that is at work was left so by a process that ended.
        let was_left = known.status == ChildStatus::Running;
        if was_left && !runner.keeps_all() && self.store.state(run).await?.is_none() {
            let lost = ChildResult::lost("the program ended while it was at work; see what it has done");
            return self.ended(order, lost).await;
        }
        let place = match self.place(order, spec).await {
            Ok(place) => place,
            Err(failed) => return self.ended(order, failed).await,
        };
        let budget = part.budget;
        let known = self
            .update(run, |record| {
                record.status = ChildStatus::Running;
                record.budget = budget;
            })
            .await?;
        self.live.changed();
        let meter = ChildMeter::new(known.spent);
        let mut scope = self.scope(order, spec, seated.seat(), &part);
        if let Some(place) = &place {
            scope = Placed::enter(scope, Arc::clone(place));
        }
        if began {
            let agent = known.agent.clone();
            self.events.emit(&scope, None, || EventKind::RunStarted { agent, background: known.background });
        }
        let child = ChildRun {
            scope: scope.clone(),
            spec: Arc::clone(spec),
            task: known.task.clone(),
            path: known.path.clone(),
            messages: shared(order, spec),
            said: known.inbox.clone(),
            budget: part.budget,
            may_delegate: known.depth < self.depth(&scope),
            caller: order.call.clone().filter(|_| order.is_awaited),
            attended_like: order.call.clone(),
            cancellation: order.token.clone(),
            memory: ChildMemory::new(Arc::clone(&self.store), run.clone()),
            meter: meter.clone(),
        };
        let charge = Charge { part, meter: meter.clone(), charged: known.charged };
        let outcome = driven(&**runner, child, &order.token).await;
        let outcome = match outcome {
            Ok(ChildOutcome::Ended(result)) => {
                Ok(ChildOutcome::Ended(self.with_changes(order, place.as_deref(), result).await))
            }
            other => other,
        };
        drop(charge);
        let settled = self.settled(order, outcome, meter.spent(), known.inbox.len()).await;
        drop(seated);
        settled
    }

    /// Keeps what became of a run that was driven, and was told so many of the messages that waited for it.
    async fn settled(
        &self,
        order: &Order,
        outcome: Result<ChildOutcome, Box<dyn Any + Send>>,
        spent: Spent,
        said: usize,
    ) -> Result<ChildRecord, StoreError> {
        let (status, result) = match outcome {
            Ok(ChildOutcome::Waiting(calls)) => (Some(ChildStatus::Waiting { calls }), None),
            Ok(ChildOutcome::Ended(result)) => (None, Some(result)),
            Err(panic) => {
                let reason = "it broke through a fault of this program; do not repeat the task as it is";
                (None, Some(ChildResult::failed(reason).with_detail(panicked(&*panic))))
            }
        };
        let record = self
            .update(&order.record.run, |record| {
                (record.spent, record.charged) = (spent, spent);
                record.inbox.drain(..said.min(record.inbox.len()));
                if let Some(status) = status {
                    record.status = status;
                }
            })
            .await?;
        match result {
            Some(result) => self.ended(order, result).await,
            None => Ok(record),
        }
    }

    /// Keeps how a run ended, tells observers, and ends what it has left behind.
    async fn ended(&self, order: &Order, result: ChildResult) -> Result<ChildRecord, StoreError> {
        let record = self
            .update(&order.record.run, |record| {
                record.told = false;
                record.end(result);
            })
            .await?;
        let scope = order.above.child(record.run.clone()).with_agent(record.agent.as_str());
        if let Some(result) = record.result() {
            self.events.emit(&scope, None, || EventKind::RunEnded {
                agent: record.agent.clone(),
                end: result.end.name().to_owned(),
                detail: result.detail.clone(),
            });
        }
        self.abandon_below(&record.root, &record.run).await?;
        Ok(record)
    }

    /// What a run may do at most comes from here alone: the scope of the run above, and what its own agent is given.
    fn scope(&self, order: &Order, spec: &AgentSpec, seat: &Seat, part: &Part) -> CallScope {
        let run = order.record.run.clone();
        let mut scope = order
            .above
            .child(run)
            .with_agent(spec.name.as_str())
            .with_extension(seat.clone())
            .with_extension(Purse::new(Account::new(part.budget)))
            .with_extension(RunLimits::new().depth(self.limits.depth));
        if let Some(mode) = spec.mode {
            scope = scope.with_mode(mode);
        }
        scope
    }
}

/// Has a run driven by its runner, whatever that does.
async fn driven(
    runner: &dyn Runner,
    child: ChildRun,
    token: &CancellationToken,
) -> Result<ChildOutcome, Box<dyn Any + Send>> {
    // The runner is only used again through a shared reference, as it would be for another run.
    let running = AssertUnwindSafe(async { runner.run(child).await }).catch_unwind();
    let given_up = async {
        token.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        biased;
        outcome = running => outcome,
        () = given_up => Ok(ChildOutcome::Ended(ChildResult::cancelled())),
    }
}

/// What a run is told of its parent's.
fn shared(order: &Order, spec: &AgentSpec) -> Vec<Arc<Message>> {
    let most = match spec.context {
        Share::Fresh => return Vec::new(),
        Share::Last(most) => most,
        Share::All => usize::MAX,
    };
    let Some(transcript) = order.handle.as_ref().and_then(|handle| handle.transcript().ok()) else {
        return Vec::new();
    };
    transcript[transcript.len().saturating_sub(most)..].to_vec()
}

/// Writes an error with its causes, one after the other, for people.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn panicked(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", said.unwrap_or("without a message"))
}
