mod layered;
mod perform;
mod rest;

use self::layered::Layered;
use self::rest::{Large, Rest};
use super::approve;
use super::decide::{Authorized, Decided};
use super::frame::Frame;
use super::live::Queued;
use super::record::Record;
use super::run::{Begun, Running, begin, cancelled_before_start};
use super::{CallOutcome, Refusal};
use crate::admission::{Room, Turn};
use crate::registry::Entry;
use crate::{Access, Answer, Approval, PendingCall};
use haft_core::{ErrorKind, ReplyStatus, ToolCall};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;
use tracing::Span;

/// Takes one call through all stages: is the future of its outcome.
///
/// The first half, up to the decision, needs no waiting and is done for every call of a batch before any of them runs: it
/// gives what the calls are ordered by. The second half asks, waits for the call's turn, and runs it. As far as that
/// needs no waiting it is done in place; what remains of a call that has to wait is on the heap, so that the many that
/// need not stay small.
#[expect(clippy::large_enum_variant, reason = "most calls end where they begin, and should not cost a box")]
pub(super) enum Course<'a> {
    Begun(Ahead<'a>),
    Waits(Waiting<'a>),
    Over,
}

/// Holds a call after its first half.
pub(super) struct Ahead<'a> {
    rest: Rest<'a>,
    /// How far it got; taken by the second half.
    front: Option<Result<Front<'a>, Stop>>,
    /// What layers made of the call before it waited for a person, if some did.
    layered: Option<Box<Layered>>,
}

/// Holds what the first half found out.
struct Front<'a> {
    entry: &'a Entry,
    decided: Decided,
    said: Said,
}

/// What a person has said about a call before it is decided.
enum Said {
    /// Nothing: ask if the policy says so.
    Nothing,
    /// This answer to this pending call.
    Given(Box<(Approval, PendingCall)>),
    /// This very input, which is as good as approving it.
    Wrote,
}

/// Why a call does not get past its first half.
enum Stop {
    Refused(Refusal),
    /// It cannot be prepared, which the calls before it may change.
    Unprepared(Refusal, Said),
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Refused(refusal) | Stop::Unprepared(refusal, _) => refusal,
        }
    }
}

impl<'a> Course<'a> {
    /// Takes up a call, goes through its first half and takes its place in the order of what calls touch; a call whose id
    /// was used before goes no further.
    pub(super) fn begin(
        frame: &'a Arc<Frame>,
        call: ToolCall,
        repeated: bool,
        turn: Turn<'a>,
        queued: Option<Queued<'a>>,
    ) -> Self {
        let mut rest = Rest::new(frame, Record::start(frame, call), turn);
        rest.queued = queued;
        Self::Begun(Ahead { rest, front: None, layered: None }).looking_ahead(|rest| {
            if repeated {
                Err(Stop::Refused(repeated_id(&rest.record.call)))
            } else {
                rest.look_ahead(Said::Nothing)
            }
        })
    }

    /// Takes up a call that waited for a person, with their answer, and goes through its first half again.
    pub(super) fn resume(
        frame: &'a Arc<Frame>,
        pending: PendingCall,
        approval: Approval,
        turn: Turn<'a>,
    ) -> Self {
        let mut rest = Rest::new(frame, Record::resume(frame, pending.call.clone()), turn);
        rest.repairs.clone_from(&pending.repairs);
        let layered = Layered::resumed(&pending, frame.layers()).map(|layered| {
            rest.touches.clone_from(&pending.accesses);
            Box::new(layered)
        });
        Self::Begun(Ahead { rest, front: None, layered }).looking_ahead(|rest| {
            if let Approval::Deny { reason } = &approval {
                rest.record.answered(&approval);
                return Err(Stop::Refused(approve::not_approved(reason)));
            }
            rest.look_ahead(Said::Given(Box::new((approval, pending))))
        })
    }

    /// Makes it one of many, each of which keeps its room in the batch for as long as it takes.
    pub(super) fn among_many(self) -> OneOfMany<'a> {
        match self {
            Self::Begun(ahead) => OneOfMany::Begun(Box::new(ahead)),
            Self::Waits(waiting) => OneOfMany::Waits(waiting),
            Self::Over => OneOfMany::Over,
        }
    }

    /// Goes through the first half where the call already is: it is too large to be moved about.
    fn looking_ahead(mut self, look: impl FnOnce(&mut Rest<'a>) -> Result<Front<'a>, Stop>) -> Self {
        if let Self::Begun(Ahead { rest, front, .. }) = &mut self {
            let found = look(rest);
            rest.enter(front.insert(found));
        }
        self
    }
}

impl Future for Course<'_> {
    type Output = CallOutcome;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<CallOutcome> {
        if let Self::Begun(ahead) = &mut *self {
            let gone = ahead.go(task);
            if let Gone::Answered(outcome) = gone {
                // Its place in the order is given up with it.
                self.set(Self::Over);
                return Poll::Ready(outcome);
            }
            if let Self::Begun(ahead) = std::mem::replace(&mut *self, Self::Over) {
                *self = Self::Waits(ahead.wait(gone));
            }
        }
        let Self::Waits(waiting) = &mut *self else { return Poll::Pending };
        let polled = waiting.as_mut().poll(task);
        if polled.is_ready() {
            self.set(Self::Over);
        }
        polled
    }
}

/// Takes one call of many through all stages, as a [`Course`] does, and is small once the call has to wait.
pub(super) enum OneOfMany<'a> {
    Begun(Box<Ahead<'a>>),
    Waits(Waiting<'a>),
    Over,
}

impl Future for OneOfMany<'_> {
    type Output = CallOutcome;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<CallOutcome> {
        if let Self::Begun(ahead) = &mut *self {
            let gone = ahead.go(task);
            if let Gone::Answered(outcome) = gone {
                // Its place in the order is given up with it.
                self.set(Self::Over);
                return Poll::Ready(outcome);
            }
            if let Self::Begun(ahead) = std::mem::replace(&mut *self, Self::Over) {
                *self = Self::Waits(ahead.wait(gone));
            }
        }
        let Self::Waits(waiting) = &mut *self else { return Poll::Pending };
        let polled = waiting.as_mut().poll(task);
        if polled.is_ready() {
            self.set(Self::Over);
        }
        polled
    }
}

/// Is what remains of a call that has to wait.
type Waiting<'a> = Pin<Box<dyn Future<Output = CallOutcome> + Send + 'a>>;

/// Says how far a call got without waiting.
#[expect(clippy::large_enum_variant, reason = "most calls are answered at once, and should not cost a box")]
enum Gone<'a> {
    Answered(CallOutcome),
    /// It is done, and its answer takes time to bound.
    Ends(Box<(Large, Span)>),
    /// It runs, and is not done.
    Runs(Box<(Running, Span)>),
    /// It cannot run yet.
    Stays(Box<Result<Front<'a>, Stop>>),
}

impl<'a> Ahead<'a> {
    /// Goes as far as that needs no waiting.
    fn go(&mut self, task: &mut Context<'_>) -> Gone<'a> {
        let rest = &mut self.rest;
        // Layers that saw the call see its end.
        if self.layered.is_some() {
            return Gone::Stays(Box::new(self.front.take().unwrap_or_else(|| Err(taken()))));
        }
        match self.front.take() {
            Some(Ok(_)) if rest.queued.as_ref().is_some_and(Queued::is_cancelled) => {
                rest.answer(cancelled_before_start().into(), Span::none())
            }
            Some(Err(stop)) if matches!(stop, Stop::Refused(_)) || !rest.turn.waits() => {
                rest.answer(Refusal::from(stop).into(), Span::none())
            }
            Some(Ok(Front { entry, decided: Decided::Allowed(authorized), said: Said::Nothing }))
                if !rest.turn.waits() && rest.runs_in_place(&authorized) =>
            {
                let admission = &rest.frame.shared.admission;
                if let Some(room) = admission.admit_now(&entry.spec, authorized.accesses()) {
                    return rest.run_in_place(entry, authorized, room, task);
                }
                let decided = Decided::Allowed(authorized);
                Gone::Stays(Box::new(Ok(Front { entry, decided, said: Said::Nothing })))
            }
            Some(front) => Gone::Stays(Box::new(front)),
            None => Gone::Stays(Box::new(Err(taken()))),
        }
    }

    /// Goes on with a call that has to wait.
    fn wait(self, gone: Gone<'a>) -> Waiting<'a> {
        let Self { mut rest, layered, .. } = self;
        match gone {
            Gone::Answered(outcome) => Box::pin(std::future::ready(outcome)),
            Gone::Ends(large) => Box::pin(async move {
                let (large, span) = *large;
                rest.conclude_large(large, &span).await
            }),
            Gone::Runs(running) => Box::pin(rest.end(running)),
            Gone::Stays(front) => Box::pin(rest.finish(front, layered)),
        }
    }
}

/// Stands in for how far a call got: that is taken once, and the call has gone on since.
fn taken() -> Stop {
    Stop::Refused(cancelled_before_start())
}

impl<'a> Rest<'a> {
    /// Takes the call's place in the order of what calls touch: at its end, or beside the call that makes it.
    fn enter(&mut self, front: &Result<Front<'a>, Stop>) {
        match front {
            Ok(front) => self.turn.enter(front.decided.accesses()),
            // What it touches will only be known when the calls before it are done, and could be anything.
            Err(Stop::Unprepared(..)) => self.turn.enter(&Access::opaque("not known yet").into()),
            Err(Stop::Refused(_)) => {}
        }
    }

    /// Tells whether a call has nothing around it that may have to be waited for.
    fn runs_in_place(&self, authorized: &Authorized) -> bool {
        self.frame.layers().is_empty() && !authorized.prepared().is_repeatable()
    }

    fn run_in_place(
        &mut self,
        entry: &'a Entry,
        authorized: Authorized,
        room: Room,
        task: &mut Context<'_>,
    ) -> Gone<'a> {
        let admitted = self.frame.control.admits(&self.record.call).and_then(|()| self.record.begun());
        if let Err(refusal) = admitted {
            return self.answer(refusal.into(), Span::none());
        }
        let (times, span) = (self.times(entry, &authorized), self.span(entry));
        match begin(authorized, self.context(entry, room, None), times, &span, task) {
            Begun::Ended(Ok(output)) => self.answer(output.into(), span),
            Begun::Ended(Err(failure)) => self.answer(failure.refusal.into(), span),
            Begun::Running(running) => Gone::Runs(Box::new((running, span))),
        }
    }

    fn answer(&mut self, answer: Answer, span: Span) -> Gone<'a> {
        match self.conclude_now(answer, &span) {
            Ok(outcome) => Gone::Answered(outcome),
            Err(large) => Gone::Ends(Box::new((large, span))),
        }
    }

    /// Waits for the end of a call that began in place.
    async fn end(mut self, running: Box<(Running, Span)>) -> CallOutcome {
        let (running, span) = *running;
        let _listing = self.list(running.context().cancellation().clone());
        let result = running.end(Instant::now(), &self.frame.shared.admission.tasks, &span).await;
        let (answer, abandoned) = match result {
            Ok(output) => (output.into(), None),
            Err(failure) => (failure.refusal.into(), failure.abandoned),
        };
        let outcome = self.conclude(answer, &span).await;
        perform::watch(self.frame, &outcome, abandoned, &mut self.turn);
        outcome
    }
}

fn repeated_id(call: &ToolCall) -> Refusal {
    let id = &call.id;
    let message =
        format!("an earlier call of this message has the id `{id}` too; give each call an id of its own");
    Refusal::new(ReplyStatus::Error(ErrorKind::InvalidInput), message)
}
