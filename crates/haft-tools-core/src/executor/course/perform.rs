use super::rest::Rest;
use crate::CallContext;
use crate::admission::{Room, Turn};
use crate::context::Admitted;
use crate::executor::decide::{Authorized, Terms};
use crate::executor::frame::Frame;
use crate::executor::prepare::prepare;
use crate::executor::run::{Abandoned, Begun, Failure, Times, begin};
use crate::executor::{CallOutcome, span};
use crate::panicked::apart;
use crate::registry::Entry;
use haft_core::{EventKind, ToolOutput};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Span;

impl Rest<'_> {
    /// Runs what was authorized and has room, and again where that can help.
    pub(super) async fn perform(
        &mut self,
        entry: &Entry,
        mut authorized: Authorized,
        mut room: Room,
        token: &CancellationToken,
        span: &mut Span,
    ) -> Result<ToolOutput, Failure> {
        let Frame { shared, control, .. } = &**self.frame;
        control.admits(&self.record.call)?;
        self.record.begun()?;
        // From now on the tool itself knows what becomes of what it keeps.
        self.waited = None;
        // All attempts have one time, which starts when there is room for the first.
        let (mut began, mut attempt) = (Instant::now(), 0);
        loop {
            let terms = authorized.prepared().is_repeatable().then(|| authorized.terms());
            let times = self.times(entry, &authorized);
            *span = self.span(entry);
            let cx = self.context(room, Some(token.clone()));
            let start = {
                let waker = own_waker().await;
                begin(authorized, cx.clone(), times, span, &mut Context::from_waker(&waker))
            };
            let result = match start {
                Begun::Ended(result) => result,
                Begun::Running(running) => running.end(began, &shared.admission.tasks, span).await,
            };
            attempt += 1;
            let (failure, terms) = match (result, terms) {
                (Err(failure), Some(terms)) => (failure, terms),
                (result, _) => return result,
            };
            began += cx.clock().stood_still();
            let left = times.wall.saturating_sub(began.elapsed());
            match self.again(entry, &failure, &terms, attempt, left, token).await {
                Some(again) => (authorized, room) = again,
                None => return Err(failure),
            }
            span::failed(span, failure.refusal.status);
            self.record.retried(attempt, &failure.refusal.message);
        }
    }

    /// Waits until a call that failed can be tried again, and there is room for it; `None` if it is not to be tried, or
    /// not in the time that is left.
    async fn again(
        &self,
        entry: &Entry,
        failure: &Failure,
        terms: &Terms,
        failed: u32,
        left: Duration,
        token: &CancellationToken,
    ) -> Option<(Authorized, Room)> {
        let Frame { shared, control, scope, .. } = &**self.frame;
        let delay = shared.limits.retries.after(failed, failure.retry?.after)?;
        if delay >= left {
            return None;
        }
        let again = async {
            sleep(delay).await;
            // What would do something else now, nobody has permitted.
            let authorized = terms.renew(prepare(entry, &self.record.call, scope).ok()?).ok()?;
            let room = shared.admission.admit(&entry.spec, authorized.accesses()).await;
            Some((authorized, room))
        };
        tokio::select! {
            biased;
            _ = control.halts(token) => None,
            again = timeout(left, again) => again.ok().flatten(),
        }
    }

    pub(super) fn times(&self, entry: &Entry, authorized: &Authorized) -> Times {
        Times::of(authorized, self.frame.shared.limits_of(entry))
    }

    pub(super) fn span(&self, entry: &Entry) -> Span {
        let shared = &self.frame.shared;
        span::of(entry, &self.record.call, shared.span_content, &shared.redactor)
    }

    /// Makes the surroundings of the running call.
    pub(super) fn context(&self, room: Room, token: Option<CancellationToken>) -> CallContext {
        CallContext::new(Admitted {
            call_id: self.record.call.id.clone(),
            tool: self.place,
            frame: Arc::clone(self.frame),
            token,
            place: self.turn.place(),
            room,
        })
    }
}

/// Tells when a call that was answered without waiting for it has ended, if it was abandoned.
///
/// Until then it keeps its place and its room, since it may still be at work, but no longer than it was to take at most.
pub(super) fn watch(
    frame: &Arc<Frame>,
    outcome: &CallOutcome,
    abandoned: Option<Box<Abandoned>>,
    turn: &mut Turn<'_>,
) {
    let (Some(abandoned), CallOutcome::Replied(reply)) = (abandoned, outcome) else { return };
    let Abandoned { mut task, room, most_time } = *abandoned;
    let (frame, call, name, places) =
        (Arc::clone(frame), reply.call_id.clone(), reply.name.clone(), turn.keep());
    tracing::warn!(tool = name, "a call that does not stop was abandoned");
    let tasks = frame.shared.admission.tasks.clone();
    tasks.spawn(async move {
        let answered = Instant::now();
        let in_time = timeout(most_time, &mut task).await.ok();
        drop((places, room));
        let ended = match in_time {
            Some(ended) => ended,
            None => task.await,
        };
        // However it ended, nobody waits for its result any more.
        apart(|| drop(ended));
        let after_ms = u64::try_from(answered.elapsed().as_millis()).unwrap_or(u64::MAX);
        let ended = || EventKind::AbandonedEnded { name, after_ms };
        frame.emit(&call, ended);
    });
}

/// Gives the waker of the task that this is awaited in, for polling something else in its place.
async fn own_waker() -> Waker {
    poll_fn(|task| Poll::Ready(task.waker().clone())).await
}
