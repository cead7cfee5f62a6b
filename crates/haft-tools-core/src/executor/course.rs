mod approve;
mod layered;
mod outer;
mod perform;
mod rest;
mod schedule;

use self::layered::Layered;
use self::rest::Rest;
use super::asking;
use super::decide::{Authorized, Decided};
use super::frame::Frame;
use super::live::Queued;
use super::record::Record;
use super::run::{Begun, Failure, Running, begin, cancelled_before_start};
use super::shape::Unshaped;
use super::{CallOutcome, Refusal};
use crate::admission::{Room, Turn};
use crate::registry::Entry;
use crate::{Access, Approval, LayerAnswer, PendingCall};
use haft_core::{ErrorKind, Repair, ReplyStatus, ToolCall};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;
use tracing::Span;

/// Takes one call through all stages: is the future of its outcome, and small.
///
/// The first half, up to the decision, needs no waiting and is done for every call of a batch before any of them runs: it
/// gives what the calls are ordered by. The second half asks, waits for the call's turn, and runs it. As far as that
/// needs no waiting it is done at once ([`Ahead::go`]); only what remains of a call that has to wait is kept.
pub(super) enum Course<'a> {
    Begun(Box<Ahead<'a>>),
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

/// Says what there is to know of a call as one of several.
pub(super) struct Among<'a> {
    /// Whether an earlier call has its id.
    pub(super) repeated: bool,
    pub(super) queued: Queued<'a>,
    /// What was changed in its input before it was held back, if it was.
    pub(super) held: Option<Vec<Repair>>,
}

/// Holds what the first half found out.
pub(super) struct Front<'a> {
    entry: &'a Entry,
    decided: Decided,
    said: Said,
}

/// What a person has said about a call before it is decided.
pub(super) enum Said {
    /// Nothing: ask if the policy says so.
    Nothing,
    /// This answer to this pending call.
    Given(Box<(Approval, PendingCall)>),
    /// This very input, which is as good as approving it.
    Wrote,
}

/// Why a call does not get past its first half.
pub(super) enum Stop {
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

impl<'a> From<Ahead<'a>> for Course<'a> {
    fn from(ahead: Ahead<'a>) -> Self {
        Self::Begun(Box::new(ahead))
    }
}

impl Future for Course<'_> {
    type Output = CallOutcome;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<CallOutcome> {
        let mut waiting = match std::mem::replace(&mut *self, Self::Over) {
            Self::Begun(mut ahead) => match ahead.go(task) {
                // Its place in the order is given up with it.
                Ok(outcome) => return Poll::Ready(outcome),
                Err(left) => ahead.wait(left),
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

/// Is what remains of a call that has to wait.
pub(super) type Waiting<'a> = Pin<Box<dyn Future<Output = CallOutcome> + Send + 'a>>;

/// Says how far a call got that has to wait.
pub(super) enum Left<'a> {
    /// It is done, and its answer takes time to bound.
    Ends(Box<(ReplyStatus, Unshaped, Span)>),
    /// It runs, and is not done.
    Runs(Box<(Running, Span)>),
    /// It needs something else before it can go on.
    Interrupted(Box<(&'a Entry, Failure)>),
    /// It cannot run yet.
    Stays(Box<Result<Front<'a>, Stop>>),
}

impl<'a> Ahead<'a> {
    /// Takes up a call, goes through its first half and takes its place in the order of what calls touch.
    #[inline]
    pub(super) fn begin(frame: &'a Arc<Frame>, call: ToolCall, turn: Turn<'a>) -> Self {
        Self::look_ahead(Rest::new(frame, Record::start(frame, call), turn), false)
    }

    /// Takes up a call of several, as [`Ahead::begin`] does; one whose id was used before goes no further.
    pub(super) fn begin_among(
        frame: &'a Arc<Frame>,
        call: ToolCall,
        turn: Turn<'a>,
        among: Among<'a>,
    ) -> Self {
        let Among { repeated, queued, held } = among;
        let record = match &held {
            Some(_) => Record::resume(frame, call),
            None => Record::start(frame, call),
        };
        let mut rest = Rest::new(frame, record, turn);
        rest.queued = Some(queued);
        rest.repairs = held.unwrap_or_default();
        Self::look_ahead(rest, repeated)
    }

    #[inline]
    fn look_ahead(mut rest: Rest<'a>, repeated: bool) -> Self {
        let front = if repeated {
            Err(Stop::Refused(repeated_id(&rest.record.call)))
        } else {
            rest.look_ahead(Said::Nothing)
        };
        rest.enter(&front);
        Self { rest, front: Some(front), layered: None }
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
        let denied = approval.denies().then(|| {
            rest.record.answered(&approval);
            Stop::Refused(asking::unapproved(&approval))
        });
        // Of a call that waited for others nobody has said anything.
        let said = if pending.waits_below() {
            rest.waited = Some(Box::new(pending));
            Said::Nothing
        } else {
            rest.waited = pending.has_begun().then(|| Box::new(pending.clone()));
            Said::Given(Box::new((approval, pending)))
        };
        let front = match denied {
            Some(denied) => Err(denied),
            None => rest.look_ahead(said),
        };
        rest.enter(&front);
        Self { rest, front: Some(front), layered }
    }

    /// Goes as far as that needs no waiting; says how far that is for a call that has to wait.
    pub(super) fn go(&mut self, task: &mut Context<'_>) -> Result<CallOutcome, Left<'a>> {
        let rest = &mut self.rest;
        match self.front.take() {
            // Layers that saw the call see its end, and a tool that keeps something for it is told of it.
            Some(front) if self.layered.is_some() || rest.waited.is_some() => {
                Err(Left::Stays(Box::new(front)))
            }
            Some(Ok(_)) if rest.queued.as_ref().is_some_and(Queued::is_cancelled) => {
                rest.answer(cancelled_before_start().into(), Span::none())
            }
            Some(Err(stop))
                if matches!(stop, Stop::Refused(_)) || (!rest.turn.waits() && rest.frame.leaves_none()) =>
            {
                rest.answer(Refusal::from(stop).into(), Span::none())
            }
            Some(Ok(Front { entry, decided: Decided::Allowed(authorized), said: Said::Nothing }))
                if !rest.turn.waits() && rest.frame.leaves_none() && rest.runs_in_place(&authorized) =>
            {
                let admission = &rest.frame.shared.admission;
                if let Some(room) = admission.admit_now(&entry.spec, authorized.accesses()) {
                    return rest.run_in_place(entry, authorized, room, task);
                }
                let decided = Decided::Allowed(authorized);
                Err(Left::Stays(Box::new(Ok(Front { entry, decided, said: Said::Nothing }))))
            }
            Some(front) => Err(Left::Stays(Box::new(front))),
            None => Err(Left::Stays(Box::new(Err(taken())))),
        }
    }

    /// Goes on with a call that has to wait.
    pub(super) fn wait(self, left: Left<'a>) -> Waiting<'a> {
        let Self { mut rest, layered, .. } = self;
        match left {
            Left::Ends(answer) => Box::pin(async move {
                let (status, output, span) = *answer;
                rest.conclude_large(status, output, &span).await
            }),
            Left::Runs(running) => Box::pin(rest.end(running)),
            Left::Interrupted(failed) => {
                let (entry, failure) = *failed;
                Box::pin(rest.go_on_after(entry, failure))
            }
            Left::Stays(front) => Box::pin(rest.finish(front, layered)),
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
    ) -> Result<CallOutcome, Left<'a>> {
        let admitted = self.frame.control.admits(&self.record.call).and_then(|()| self.record.begun());
        if let Err(refusal) = admitted {
            return self.answer(refusal.into(), Span::none());
        }
        let (times, span) = (self.times(entry, &authorized), self.span(entry));
        match begin(authorized, self.context(room, None), times, &span, task) {
            Begun::Ended(Ok(output)) => self.answer(output.into(), span),
            Begun::Ended(Err(failure)) if failure.interruption.is_some() => {
                Err(Left::Interrupted(Box::new((entry, failure))))
            }
            Begun::Ended(Err(failure)) => self.answer(failure.refusal.into(), span),
            Begun::Running(running) => Err(Left::Runs(Box::new((running, span)))),
        }
    }

    /// Answers a call, unless its answer takes time to bound.
    fn answer(&mut self, answer: LayerAnswer, span: Span) -> Result<CallOutcome, Left<'a>> {
        let LayerAnswer { status, mut output } = answer;
        match self.shaper().shape(&mut output, &self.repairs) {
            Ok(truncation) => Ok(self.reply(status, output, truncation, &span)),
            Err(output) => Err(Left::Ends(Box::new((status, output, span)))),
        }
    }

    /// Waits for the end of a call that began in place.
    async fn end(mut self, running: Box<(Running, Span)>) -> CallOutcome {
        let (running, span) = *running;
        let listing = self.list(running.context().cancellation().clone());
        let result = running.end(Instant::now(), &self.frame.shared.admission.tasks, &span).await;
        let (answer, abandoned) = match (result, self.entry) {
            (Ok(output), _) => (output.into(), None),
            (Err(failure), Some(entry)) if failure.interruption.is_some() => {
                drop(listing);
                return Box::pin(self.go_on_after(entry, failure)).await;
            }
            (Err(failure), _) => (failure.refusal.into(), failure.abandoned),
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
