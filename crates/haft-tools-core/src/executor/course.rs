mod layered;
mod perform;
mod rest;

use self::layered::Layered;
use self::rest::Rest;
use super::approve;
use super::decide::{Authorized, Decided};
use super::frame::Frame;
use super::record::Record;
use super::run::{Begun, begin};
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

/// Takes one call through all stages.
///
/// The first half, up to the decision, needs no waiting and is done for every call of a batch before any of them runs: it
/// gives what the calls are ordered by. The second half asks, waits for the call's turn, and runs it.
pub(super) struct Course<'a> {
    rest: Rest<'a>,
    ahead: Result<Front<'a>, Stop>,
    layered: Layered,
}

/// Holds a call after its first half.
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
    Given(Approval, Box<PendingCall>),
    /// This very input, which is as good as approving it.
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

impl<'a> Course<'a> {
    /// Takes up a call and goes through its first half; one whose id was used before goes no further.
    pub(super) fn begin(frame: &'a Arc<Frame>, call: ToolCall, repeated: bool) -> Self {
        let mut rest = Rest::new(frame, Record::start(frame, call));
        let ahead = if repeated {
            Err(Stop::Refused(repeated_id(&rest.record.call)))
        } else {
            rest.look_ahead(Said::Nothing)
        };
        Self { rest, ahead, layered: Layered::default() }
    }

    /// Takes up a call that waited for a person, with their answer, and goes through its first half again.
    pub(super) fn resume(frame: &'a Arc<Frame>, pending: PendingCall, approval: Approval) -> Self {
        let mut rest = Rest::new(frame, Record::resume(frame, pending.call.clone()));
        rest.repairs.clone_from(&pending.repairs);
        let layered = Layered::seen_by(pending.layers);
        let ahead = if let Approval::Deny { reason } = &approval {
            rest.record.answered(&approval);
            Err(Stop::Refused(approve::not_approved(reason)))
        } else {
            rest.look_ahead(Said::Given(approval, Box::new(pending)))
        };
        Self { rest, ahead, layered }
    }

    /// Takes the call's place in the order of what calls touch: at its end, or beside the call that makes it.
    pub(super) fn in_order(mut self, mut turn: Turn<'a>) -> Self {
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
        let Self { rest, ahead, layered } = self;
        match ahead {
            Err(stop) if matches!(stop, Stop::Refused(_)) || !rest.turn.waits() => {
                Gone::Answered(rest.conclude(Refusal::from(stop).into(), &Span::none()))
            }
            Ok(Front { entry, decided: Decided::Allowed(authorized), said: Said::Nothing })
                if !rest.turn.waits() && rest.runs_in_place(&authorized) =>
            {
                match rest.frame.shared.admission.admit_now(&entry.spec, authorized.accesses()) {
                    Some(room) => rest.run_in_place(entry, authorized, room, task),
                    None => {
                        let decided = Decided::Allowed(authorized);
                        let front = Front { entry, decided, said: Said::Nothing };
                        Gone::Waits(Box::pin(rest.finish(Ok(front), layered)))
                    }
                }
            }
            ahead => Gone::Waits(Box::pin(rest.finish(ahead, layered))),
        }
    }
}

impl<'a> Rest<'a> {
    /// Tells whether a call has nothing around it that may have to be waited for.
    fn runs_in_place(&self, authorized: &Authorized) -> bool {
        self.frame.layers().is_empty() && !authorized.prepared().is_repeatable()
    }

    fn run_in_place(
        self,
        entry: &'a Entry,
        authorized: Authorized,
        room: Room,
        task: &mut Context<'_>,
    ) -> Gone<'a> {
        if let Err(refusal) = self.frame.control.admits(&self.record.call) {
            return Gone::Answered(self.conclude(refusal.into(), &Span::none()));
        }
        let (times, span) = (self.times(entry, &authorized), self.span(entry));
        match begin(authorized, self.context(entry, room, None), times, &span, task) {
            Begun::Ended(result) => {
                let answer = result.map_or_else(|failure| failure.refusal.into(), Answer::from);
                Gone::Answered(self.conclude(answer, &span))
            }
            Begun::Running(running) => Gone::Waits(Box::pin(async move {
                let _listing = self.list(running.context().cancellation().clone());
                let result = running.end(Instant::now(), &self.frame.shared.admission.tasks, &span).await;
                let (answer, abandoned) = match result {
                    Ok(output) => (output.into(), None),
                    Err(failure) => (failure.refusal.into(), failure.abandoned),
                };
                let frame = self.frame;
                let outcome = self.conclude(answer, &span);
                perform::watch(frame, &outcome, abandoned);
                outcome
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

fn repeated_id(call: &ToolCall) -> Refusal {
    let id = &call.id;
    let message =
        format!("an earlier call of this message has the id `{id}` too; give each call an id of its own");
    Refusal::new(ReplyStatus::Error(ErrorKind::InvalidInput), message)
}
