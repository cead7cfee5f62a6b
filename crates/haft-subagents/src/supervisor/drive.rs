//! Drives one run: waits for its seat, sets its budget aside, has it run, and keeps what became of it.

use super::apart::DrivenApart;
use super::budgets::{Claim, Part, Short};
use super::ending::named;
use super::house::{House, root_of};
use super::live::Drive;
use crate::{
    AgentSpec, ChildMemory, ChildMeter, ChildOutcome, ChildRecord, ChildResult, ChildRun, ChildStatus,
    Placed, Runner, Share,
};
use futures_util::FutureExt as _;
use haft_agent::{Account, Purse, RunHandle, RunLimits, Spent};
use haft_core::{Message, RunId};
use haft_tools_core::{CallContext, CallScope, Seat, Seated, StoreError};
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
    pub(super) draws_on: DrawsOn,
    /// Reaches the run that started it.
    pub(crate) handle: Option<RunHandle>,
    /// The right to drive it, where that was taken already.
    pub(super) drive: Option<Drive>,
    /// Lists it where the run above is not at work, from when that right was taken.
    pub(super) apart: Option<DrivenApart>,
}

/// Says what a run draws on.
#[derive(Clone)]
pub(super) enum DrawsOn {
    /// The purse in the scope of the run above, if there is one.
    Above,
    /// What those share whose run above is not at work; what is spent of it is charged when that is.
    Shared(Purse),
    /// What was set aside for it before, which is charged in the same way.
    Own,
}

impl Order {
    /// What is shared where nobody pays yet.
    fn share(&self) -> Option<&Purse> {
        match &self.draws_on {
            DrawsOn::Shared(purse) => Some(purse),
            DrawsOn::Above | DrawsOn::Own => None,
        }
    }

    /// Whether the run above knows nothing of what it spends.
    pub(super) fn is_apart(&self) -> bool {
        !matches!(self.draws_on, DrawsOn::Above)
    }
}

/// Takes from the budget of the run above what a run has spent, also where it is abandoned.
struct Charge<'a> {
    part: Part,
    /// The purse that the part is of, if whoever is above counts by it.
    purse: Option<Purse>,
    apart: Option<&'a DrivenApart>,
    run: &'a RunId,
    meter: ChildMeter,
    /// What it had spent before.
    before: Spent,
}

impl Drop for Charge<'_> {
    fn drop(&mut self) {
        let spent = self.meter.spent();
        match &self.purse {
            Some(purse) => {
                purse.count(self.run, spent);
                self.part.settle(Spent::default());
            }
            None => self.part.settle(spent.without(&self.before)),
        }
        if let Some(apart) = self.apart {
            apart.settle(spent);
        }
    }
}

impl House {
    /// Drives a run until it ends or waits for a person, and gives what is known of it then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the run where it stands.
    pub(super) async fn drive(&self, mut order: Order) -> ChildRecord {
        let drive = match order.drive.take() {
            Some(drive) => drive,
            None => self.live.enter(&order.record.run, &order.token).await,
        };
        loop {
            let attempt = AssertUnwindSafe(self.try_drive(&order)).catch_unwind().await;
            let driven = match attempt {
                Ok(driven) => driven,
                Err(panic) => self.ended(&order, broken(&*panic)).await,
            };
            let record = match driven {
                Ok(record) => record,
                Err(error) => return unkept(order.record, &error),
            };
            // Whoever had it go on meanwhile has left it to this, and nobody can do so between the look and the end.
            let writing = self.writing.lock().await;
            match self.store.get(&record.run).await {
                Ok(Some(known)) if known.status == ChildStatus::Queued && !order.token.is_cancelled() => {
                    order.record = known;
                }
                _ => {
                    drop(drive);
                    drop(writing);
                    return record;
                }
            }
        }
    }

    async fn try_drive(&self, order: &Order) -> Result<ChildRecord, StoreError> {
        let run = &order.record.run;
        let known = self.known(run).await?;
        if known.has_ended() {
            return Ok(known);
        }
        let Some(spec) = self.agents.get(&*known.agent) else {
            let lost = ChildResult::lost("there is no agent of that name any more");
            return self.ended_unseen(order, &known, lost).await;
        };
        let Some(runner) = self.runner.get() else {
            let reason = "this program drives no agents; do it yourself";
            return self.ended_unseen(order, &known, ChildResult::failed(reason)).await;
        };
        // A process that ended has not noted what it spent.
        let known = self.note_spent(&known).await?;
        let begins = known.status == ChildStatus::Queued;
        let is_kept = self.store.state(run).await?.is_some();
        // Nobody else drives it, so one that is at work was left so by a process that ended.
        if known.status == ChildStatus::Running && !runner.keeps_all() && !is_kept {
            let lost = ChildResult::lost("the program ended while it was at work; see what it has done");
            return self.ended_unseen(order, &known, lost).await;
        }
        let claim = Claim { spec, record: &known, sharers: order.sharers, has_begun: !begins || is_kept };
        let (seated, part, payer) = match self.room(order, &claim).await? {
            Ok(room) => room,
            Err(none) => return self.ended_unseen(order, &known, none).await,
        };
        let place = match self.place(order, spec).await {
            Ok(place) => place,
            // It can still be gone on with when its place can be used again.
            Err(_) if !known.pending().is_empty() => return Ok(known),
            Err(failed) => return self.ended_unseen(order, &known, failed).await,
        };
        let budget = part.budget;
        let (had, handed) = self.heard_of_inbox(run).await?;
        let known = self
            .update(run, |record| {
                // Somebody may have ended it before it could be told that it is driven.
                if !record.has_ended() {
                    record.status = ChildStatus::Running;
                    record.budget = budget;
                    record.hand_inbox(had, handed);
                }
            })
            .await?;
        if known.has_ended() {
            return Ok(known);
        }
        self.live.changed();
        self.given.forget_said_to(run);
        let meter = ChildMeter::new(known.spent);
        let mut account = Account::new(part.budget);
        account.spent = known.spent;
        let purse = Purse::new(account);
        let mut scope = self.scope(order, spec, seated.seat(), purse.clone());
        if let Some(place) = &place {
            scope = Placed::enter(scope, Arc::clone(place));
        }
        if begins {
            self.tell_begun(&scope, &known);
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
            news: Arc::new(self.supervisor.clone()),
        };
        let charge = Charge {
            part,
            purse: payer,
            apart: order.apart.as_ref(),
            run,
            meter: meter.clone(),
            before: known.spent,
        };
        let outcome = driven(&**runner, child, &order.token).await;
        let outcome = match outcome {
            ChildOutcome::Ended(result) => {
                ChildOutcome::Ended(self.with_changes(order, place.as_deref(), result).await)
            }
            waiting @ ChildOutcome::Waiting(_) => waiting,
        };
        // A runner that has no purse of its own gives out this one.
        let mut spent = meter.spent();
        spent += purse.drawn();
        meter.record(spent);
        drop(charge);
        let settled = self.settled(order, outcome, spent, known.inbox.len()).await;
        drop(seated);
        settled
    }

    /// Ends a run that is not driven by its runner any more.
    async fn ended_unseen(
        &self,
        order: &Order,
        known: &ChildRecord,
        result: ChildResult,
    ) -> Result<ChildRecord, StoreError> {
        self.note_spent(known).await?;
        self.ended(order, result).await
    }

    /// Waits for a seat and for a part of the budget; gives the end of the run where there will be none.
    async fn room(
        &self,
        order: &Order,
        claim: &Claim<'_>,
    ) -> Result<Result<(Seated, Part, Option<Purse>), ChildResult>, StoreError> {
        loop {
            let mut changes = self.live.changes();
            let seated = tokio::select! {
                biased;
                () = order.token.cancelled() => return Ok(Err(ChildResult::cancelled())),
                seated = self.seats.take(root_of(&order.above)) => seated,
            };
            let payer = payer(order, claim.record);
            let purse = payer.as_ref().or_else(|| order.share());
            let none = match claim.reserve(purse, &self.limits) {
                Ok(part) => return Ok(Ok((seated, shared_out(order, claim, part, payer.is_some()), payer))),
                Err(Short::Held(_)) if self.is_beside_others(order).await? => {
                    drop(seated);
                    tokio::select! {
                        biased;
                        () = order.token.cancelled() => return Ok(Err(ChildResult::cancelled())),
                        // The house lives as long as this does, so there is always a next change.
                        _ = changes.changed() => continue,
                    }
                }
                Err(Short::Held(none) | Short::Spent(none)) => none,
            };
            return Ok(if let Some(purse) = purse.filter(|_| claim.has_begun) {
                let part = claim.reserve_rest(purse, &self.limits);
                Ok((seated, shared_out(order, claim, part, payer.is_some()), payer))
            } else {
                let reason = format!("nothing is left of the budget of {none}; go on without it");
                Err(ChildResult::failed(reason))
            });
        }
    }

    /// Tells whether others are at work that the same run has started.
    async fn is_beside_others(&self, order: &Order) -> Result<bool, StoreError> {
        let children = self.children_of(&order.above).await?;
        Ok(children.iter().any(|other| other.run != order.record.run && self.live.is_driven(&other.run)))
    }

    /// What a run may do at most comes from here alone: the scope of the run above, and what its own agent is given.
    fn scope(&self, order: &Order, spec: &AgentSpec, seat: &Seat, purse: Purse) -> CallScope {
        named(&order.above, &order.record, spec)
            .with_extension(seat.clone())
            .with_extension(purse)
            .with_extension(RunLimits::new().depth(self.limits.depth))
    }
}

/// Who pays for a run, and counts by now what it has spent before.
fn payer(order: &Order, record: &ChildRecord) -> Option<Purse> {
    let above = order.above.extension::<Purse>().filter(|_| !order.is_apart()).cloned();
    let payer = above.or_else(|| order.apart.as_ref()?.payer())?;
    payer.count(&record.run, record.spent);
    Some(payer)
}

/// Says what a run may spend that nobody pays for yet.
fn shared_out(order: &Order, claim: &Claim<'_>, part: Part, is_paid: bool) -> Part {
    if let Some(apart) = order.apart.as_ref().filter(|_| !is_paid) {
        apart.share(part.budget, claim.record.spent);
    }
    part
}

/// Has a run driven by its runner, whatever that does.
async fn driven(runner: &dyn Runner, child: ChildRun, token: &CancellationToken) -> ChildOutcome {
    // The runner is only used again through a shared reference, as it would be for another run.
    let running = AssertUnwindSafe(async { runner.run(child).await }).catch_unwind();
    let given_up = async {
        token.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        biased;
        outcome = running => outcome.unwrap_or_else(|panic| ChildOutcome::Ended(broken(&*panic))),
        () = given_up => ChildOutcome::Ended(ChildResult::cancelled()),
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

/// Is the end of a run of which it cannot be kept where it stands.
fn unkept(mut record: ChildRecord, error: &StoreError) -> ChildRecord {
    let reason = "where it stands cannot be kept at the moment; say so and stop";
    record.end(ChildResult::failed(reason).with_detail(haft_core::with_causes(error)));
    record
}

fn broken(panic: &(dyn Any + Send)) -> ChildResult {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let reason = "it broke through a fault of this program; do not repeat the task as it is";
    ChildResult::failed(reason).with_detail(format!("it panicked: {}", said.unwrap_or("without a message")))
}
