use super::approve::{self, Approved};
use super::decide::{Authorized, Decided, decide};
use super::local::Shared;
use super::nested::NestedCalls;
use super::prepare::prepare;
use super::record::Record;
use super::resolve::resolve;
use super::run::{Begun, begin, cancelled_before_start};
use super::shape::shape;
use super::validate::validate;
use super::{CallOutcome, Refusal};
use crate::admission::{Permit, Turn};
use crate::registry::Entry;
use crate::{Access, Approval, CallContext, CallScope, PendingCall, Prepared};
use haft_core::{Decision, ErrorKind, Repair, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio_util::sync::CancellationToken;

/// Where a call is made: by which executor, on whose behalf, how deep, and how it is cancelled.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) scope: &'a Arc<CallScope>,
    pub(super) cancellation: &'a CancellationToken,
    pub(super) nesting: u32,
}

/// Takes one call through all stages.
///
/// The first half, up to the decision, needs no waiting and is done for every call of a batch before any of them runs: it
/// gives what the calls are ordered by. The second half asks, waits for the call's turn, and runs it.
pub(super) struct Course<'a> {
    rest: Rest<'a>,
    ahead: Result<Front<'a>, Stop>,
}

/// Holds a call after its first half.
struct Front<'a> {
    entry: &'a Entry,
    decided: Decided,
    answer: Answer,
}

/// What has been answered about a call before it is decided.
enum Answer {
    /// Nothing: ask if the policy says so.
    None,
    /// A person gave this answer to this pending call.
    Given(Approval, Box<PendingCall>),
    /// A person wrote this very input, which is as good as approving it.
    Wrote,
}

/// Why a call does not get past its first half.
enum Stop {
    Refused(Refusal),
    /// It cannot be prepared, which the calls before it may change.
    Unprepared(Refusal),
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Refused(refusal) | Stop::Unprepared(refusal) => refusal,
        }
    }
}

/// Why a call is not run.
enum Halt {
    Refused(Refusal),
    Waits(Box<PendingCall>),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl<'a> Course<'a> {
    /// Takes up a call and goes through its first half; one whose id was used before goes no further.
    pub(super) fn begin(around: Surroundings<'a>, call: ToolCall, repeated: bool) -> Self {
        let record = Record::start(&around.shared.events, around.scope, &call);
        let mut rest = Rest { around, call, repairs: Vec::new(), record, turn: Turn::default() };
        let ahead = if repeated {
            Err(Stop::Refused(repeated_id(&rest.call)))
        } else {
            rest.look_ahead(Answer::None)
        };
        Self { rest, ahead }
    }

    /// Takes up a call that waited for a person, with their answer, and goes through its first half again.
    pub(super) fn resume(around: Surroundings<'a>, pending: PendingCall, approval: Approval) -> Self {
        let (call, repairs) = (pending.call.clone(), pending.repairs.clone());
        let record = Record::resume(&around.shared.events, around.scope, &call);
        let mut rest = Rest { around, call, repairs, record, turn: Turn::default() };
        let ahead = if let Approval::Deny { reason } = &approval {
            rest.record.answered(&approval);
            Err(Stop::Refused(approve::not_approved(reason)))
        } else {
            rest.look_ahead(Answer::Given(approval, Box::new(pending)))
        };
        Self { rest, ahead }
    }

    /// Takes the call's place in the order of what calls touch: at its end, or beside the call that makes it.
    pub(super) fn in_order(mut self, mut turn: Turn) -> Self {
        match &self.ahead {
            Ok(front) => turn.enter(front.decided.accesses()),
            // What it touches will only be known when the calls before it are done, and could be anything.
            Err(Stop::Unprepared(_)) => turn.enter(&Access::opaque("not known yet").into()),
            Err(Stop::Refused(_)) => {}
        }
        self.rest.turn = turn;
        self
    }

    /// Goes through the second half and answers the call.
    ///
    /// As far as that needs no waiting it is done in place; what remains of a call that has to wait is on the heap, so that
    /// the many that need not stay small.
    pub(super) fn finish(self) -> Finish<'a> {
        Finish::Begins(self)
    }

    /// Goes as far as that needs no waiting.
    fn go(self, task: &mut Context<'_>) -> Gone<'a> {
        let Self { rest, ahead } = self;
        let Surroundings { shared, .. } = rest.around;
        let (entry, authorized, permit) = match ahead {
            Err(stop) if !matches!(stop, Stop::Unprepared(_)) || !rest.turn.waits() => {
                return Gone::Answered(rest.conclude(Err(Refusal::from(stop).into())));
            }
            Ok(Front { entry, decided: Decided::Allowed(authorized), answer: Answer::None })
                if !rest.turn.waits() =>
            {
                if let Some(permit) = shared.admission.admit_now(authorized.accesses()) {
                    (entry, authorized, permit)
                } else {
                    let decided = Decided::Allowed(authorized);
                    let front = Front { entry, decided, answer: Answer::None };
                    return Gone::Waits(Box::pin(rest.finish(Ok(front))));
                }
            }
            ahead => return Gone::Waits(Box::pin(rest.finish(ahead))),
        };
        let cx = rest.context(entry, &permit);
        match begin(authorized, cx, &shared.limits, task) {
            Begun::Ended(result) => {
                drop(permit);
                Gone::Answered(rest.conclude(result.map_err(Halt::from)))
            }
            Begun::Running(running) => Gone::Waits(Box::pin(async move {
                let result = running.end().await;
                drop(permit);
                rest.conclude(result.map_err(Halt::from))
            })),
        }
    }
}

/// Says how far a call got without waiting.
enum Gone<'a> {
    Answered(CallOutcome),
    Waits(Waiting<'a>),
}

type Waiting<'a> = Pin<Box<dyn Future<Output = CallOutcome> + Send + 'a>>;

/// Is the second half of a call: gives its outcome.
#[expect(
    clippy::large_enum_variant,
    reason = "a call that is not begun is what most of them are until they are done"
)]
pub(super) enum Finish<'a> {
    Begins(Course<'a>),
    Waits(Waiting<'a>),
    Over,
}

impl Future for Finish<'_> {
    type Output = CallOutcome;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<CallOutcome> {
        let mut waiting = match std::mem::replace(&mut *self, Self::Over) {
            Self::Begins(course) => match course.go(task) {
                Gone::Answered(outcome) => return Poll::Ready(outcome),
                Gone::Waits(waiting) => waiting,
            },
            Self::Waits(waiting) => waiting,
            Self::Over => return Poll::Pending,
        };
        let polled = waiting.as_mut().poll(task);
        if polled.is_pending() {
            *self = Self::Waits(waiting);
        }
        polled
    }
}

/// Holds a call on its way, and what is known of it.
struct Rest<'a> {
    around: Surroundings<'a>,
    call: ToolCall,
    repairs: Vec<Repair>,
    record: Record<'a>,
    turn: Turn,
}

impl<'a> Rest<'a> {
    async fn finish(mut self, ahead: Result<Front<'a>, Stop>) -> CallOutcome {
        let result = self.go_on(ahead).await;
        self.conclude(result)
    }

    async fn go_on(&mut self, ahead: Result<Front<'a>, Stop>) -> Result<ToolOutput, Halt> {
        let mut front = match ahead {
            Ok(front) => front,
            Err(Stop::Unprepared(_)) if self.turn.waits() => {
                self.wait_for_turn().await?;
                self.look_ahead(Answer::None).map_err(Refusal::from)?
            }
            Err(stop) => return Err(Refusal::from(stop).into()),
        };
        loop {
            if self.turn.waits() && matches!(front.decided, Decided::Asked(_)) {
                // A person is shown what will run, which the calls before this one may still change.
                self.wait_for_turn().await?;
                let Front { entry, decided, answer } = front;
                let prepared = prepare(entry, &self.call, self.around.scope)?;
                if prepared.accesses() != decided.accesses() {
                    self.turn.enter(prepared.accesses());
                }
                front = self.decide(entry, prepared, answer)?;
                continue;
            }
            let (entry, authorized) = self.authorize(front).await?;
            if !self.turn.waits() {
                return self.perform(entry, authorized).await;
            }
            self.wait_for_turn().await?;
            // The calls before this one may have changed what it names.
            let prepared = prepare(entry, &self.call, self.around.scope)?;
            match authorized.renew(prepared) {
                Ok(authorized) => return self.perform(entry, authorized).await,
                Err(prepared) => {
                    self.turn.enter(prepared.accesses());
                    front = self.decide(entry, prepared, Answer::None)?;
                }
            }
        }
    }

    fn decide(&self, entry: &'a Entry, prepared: Prepared, answer: Answer) -> Result<Front<'a>, Refusal> {
        let tell = |decision, reason: &dyn Fn() -> String| self.record.decided(decision, reason);
        let decided = decide(&self.around.shared.policy, entry, prepared, tell)?;
        Ok(Front { entry, decided, answer })
    }

    /// Goes through the stages that need no waiting: resolve, validate, prepare and decide.
    fn look_ahead(&mut self, answer: Answer) -> Result<Front<'a>, Stop> {
        let Surroundings { shared, scope, cancellation, nesting } = self.around;
        if cancellation.is_cancelled() {
            return Err(Stop::Refused(cancelled_before_start()));
        }
        if nesting > shared.limits.nesting {
            return Err(Stop::Refused(too_deep(shared.limits.nesting)));
        }
        let entry = resolve(&shared.registry, &self.call).map_err(Stop::Refused)?;
        self.repairs.extend(validate(entry, &mut self.call).map_err(Stop::Refused)?);
        let prepared = prepare(entry, &self.call, scope).map_err(Stop::Unprepared)?;
        self.decide(entry, prepared, answer).map_err(Stop::Refused)
    }

    /// Waits until the calls before this one that it conflicts with have ended, unless it is cancelled.
    async fn wait_for_turn(&mut self) -> Result<(), Refusal> {
        tokio::select! {
            biased;
            () = self.around.cancellation.cancelled() => Err(cancelled_before_start()),
            () = self.turn.come() => Ok(()),
        }
    }

    /// Gets a person's word where the policy wants it.
    ///
    /// Asking is on the heap, so that the many calls that nobody is asked about stay small.
    async fn authorize(&mut self, mut front: Front<'a>) -> Result<(&'a Entry, Authorized), Halt> {
        loop {
            let Front { entry, decided, answer } = front;
            let approved = match (decided, answer) {
                (
                    Decided::Allowed(authorized),
                    Answer::None | Answer::Wrote | Answer::Given(Approval::Approve, _),
                ) => Approved::Run(authorized),
                (Decided::Asked(prepared), Answer::Wrote) => {
                    self.record.decided(Decision::Allow, &|| "approved with other arguments".to_owned());
                    Approved::Run(Authorized::by_approval(prepared))
                }
                (decided, Answer::Given(approval, pending)) => {
                    let prepared = decided.into_prepared();
                    if approve::digest(entry, &self.call, &prepared, self.around.scope) == pending.digest {
                        self.record.answered(&approval);
                        approve::apply(approval, prepared, *pending)?
                    } else {
                        Box::pin(self.ask(entry, prepared)).await?
                    }
                }
                (Decided::Asked(prepared), Answer::None) => Box::pin(self.ask(entry, prepared)).await?,
            };
            match approved {
                Approved::Run(authorized) => return Ok((entry, authorized)),
                Approved::Waits(pending) => return Err(Halt::Waits(pending)),
                Approved::Again(input) => {
                    self.repairs = vec![approve::edited(&self.call.input, &input)];
                    self.call.input = input;
                    front = self.look_ahead(Answer::Wrote).map_err(Refusal::from)?;
                    self.turn.enter(front.decided.accesses());
                }
            }
        }
    }

    /// Asks the approver, for as long as the call is not cancelled.
    async fn ask(&self, entry: &Entry, prepared: Prepared) -> Result<Approved, Refusal> {
        let Surroundings { shared, scope, cancellation, .. } = self.around;
        let asking = async {
            let (call, repairs, most_time) = (&self.call, &self.repairs, shared.limits.timeout);
            let pending =
                approve::pending_call(&shared.policy, entry, call, repairs, &prepared, scope, most_time)
                    .await?;
            self.record.asked(&pending);
            let approval = approve::ask(&*shared.approver, &pending).await;
            Ok::<_, Refusal>((approval, pending))
        };
        let (approval, pending) = tokio::select! {
            biased;
            () = cancellation.cancelled() => return Err(cancelled_before_start()),
            asked = asking => asked?,
        };
        self.record.answered(&approval);
        approve::apply(approval, prepared, pending)
    }

    /// Runs what was authorized, once there is room in its class.
    async fn perform(&self, entry: &Entry, authorized: Authorized) -> Result<ToolOutput, Halt> {
        let Surroundings { shared, cancellation, .. } = self.around;
        let permit = tokio::select! {
            biased;
            () = cancellation.cancelled() => return Err(cancelled_before_start().into()),
            permit = shared.admission.admit(authorized.accesses()) => permit,
        };
        let cx = self.context(entry, &permit);
        let begun = {
            let waker = own_waker().await;
            begin(authorized, cx, &shared.limits, &mut Context::from_waker(&waker))
        };
        Ok(match begun {
            Begun::Ended(result) => result?,
            Begun::Running(running) => running.end().await?,
        })
    }

    /// Makes the surroundings of the running call.
    fn context(&self, entry: &Entry, permit: &Permit) -> CallContext {
        let Surroundings { shared, scope, cancellation, nesting } = self.around;
        let nested = NestedCalls::new(Arc::clone(shared), nesting + 1, self.turn.place(), permit.lender());
        CallContext::new(
            self.call.id.clone(),
            Arc::clone(&entry.name),
            Arc::clone(scope),
            cancellation.child_token(),
            shared.events.clone(),
            Some(nested),
        )
    }

    /// Answers the call, or leaves it open for the answer of a person.
    fn conclude(self, result: Result<ToolOutput, Halt>) -> CallOutcome {
        let answer = match result {
            Ok(output) => Ok(output),
            Err(Halt::Refused(refusal)) => Err(refusal),
            Err(Halt::Waits(pending)) if self.around.nesting == 0 => {
                self.record.wait();
                return CallOutcome::Pending(pending);
            }
            Err(Halt::Waits(_)) => Err(cannot_wait()),
        };
        let (status, output) = match answer {
            Ok(output) => (ReplyStatus::Ok, output),
            Err(Refusal { status, message }) => (status, ToolOutput::text(message)),
        };
        let (output, truncation) = shape(output, self.around.shared.limits.output_bytes, &self.repairs);
        let mut reply = ToolReply::new(self.call.id, self.call.name, status, output);
        reply.truncation = truncation;
        reply.repairs = self.repairs;
        CallOutcome::Replied(self.record.finish(reply))
    }
}

/// Gives the waker of the task that this is awaited in, for polling something else in its place.
async fn own_waker() -> Waker {
    poll_fn(|task| Poll::Ready(task.waker().clone())).await
}

fn repeated_id(call: &ToolCall) -> Refusal {
    let id = &call.id;
    let message =
        format!("an earlier call of this message has the id `{id}` too; give each call an id of its own");
    Refusal::new(ReplyStatus::Error(ErrorKind::InvalidInput), message)
}

fn too_deep(limit: u32) -> Refusal {
    let message = format!("calls made by tools may nest {limit} deep at most; make this call yourself");
    Refusal::new(ReplyStatus::Denied, message)
}

fn cannot_wait() -> Refusal {
    Refusal::new(
        ReplyStatus::Denied,
        "this call needs an approval that comes later, which a call made by a tool cannot wait for; make it yourself",
    )
}
