use super::Refusal;
use super::decide::Authorized;
use super::prepare::{note, panicked};
use crate::admission::KeptRoom;
use crate::clock::Over;
use crate::panicked::{apart, discard};
use crate::permission::WaitsFor;
use crate::{Accesses, CallContext, Limits, PendingCall};
use futures_util::FutureExt as _;
use haft_core::{ReplyStatus, ToolError, ToolErrorKind, ToolOutput};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tracing::{Instrument as _, Span};

/// What a tool's future gives: its result, or what it panicked with.
pub(super) type Ended = Result<Result<ToolOutput, ToolError>, Box<dyn Any + Send>>;

type Work = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;

/// Says how a call failed, and what can be done about it.
pub(super) struct Failure {
    pub(super) refusal: Refusal,
    /// Whether trying again can help, and after how long.
    pub(super) retry: Option<Retry>,
    /// What the call needs before it can go on, if it can.
    pub(super) interruption: Option<Interruption>,
    /// What is left of the call, where it did not stop when it was told to.
    pub(super) abandoned: Option<Box<Abandoned>>,
}

/// Says what a call that ended needs before it can go on.
pub(super) enum Interruption {
    /// That a person makes themselves known there.
    Authentication(Box<str>),
    /// That calls below it are answered.
    Below(Box<Below>),
}

/// Holds what a call that ended waits for.
pub(super) struct Below {
    pub(super) calls: Vec<PendingCall>,
    /// What the call was let touch.
    pub(super) accesses: Accesses,
    /// Whether the call was told to stop, so that it does not wait.
    pub(super) was_stopped: bool,
}

impl Failure {
    /// Notes what the call was let touch, where it is to go on.
    fn having(mut self, let_touch: Accesses) -> Self {
        if let Some(Interruption::Below(below)) = &mut self.interruption {
            below.accesses = let_touch;
        }
        self
    }
}

/// Holds a call that was answered and may still be at work.
pub(super) struct Abandoned {
    pub(super) task: JoinHandle<Ended>,
    pub(super) room: KeptRoom,
    /// How long it stands in the way of others at most.
    pub(super) most_time: Duration,
}

/// Says when trying again can help: after a while that the error gives, or that the executor chooses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retry {
    pub(super) after: Option<Duration>,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, retry: None, interruption: None, abandoned: None }
    }
}

/// Says how long one call may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) wall: Duration,
    pub(super) idle: Option<Duration>,
    pub(super) grace: Duration,
}

impl Times {
    /// Takes the tool's own wish as far as the host lets it.
    pub(super) fn of(authorized: &Authorized, limits: &Limits) -> Self {
        let prepared = authorized.prepared();
        let wall = prepared.timeout().unwrap_or(limits.timeout).min(limits.timeout_ceiling);
        let idle = match (prepared.idle_timeout(), limits.idle_timeout) {
            (Some(wish), Some(limit)) => Some(wish.min(limit)),
            (wish, limit) => wish.or(limit),
        };
        Self { wall, idle, grace: limits.grace }
    }
}

/// Says how far a call got at the first go.
pub(super) enum Begun {
    /// It is done.
    Ended(Result<ToolOutput, Failure>),
    /// It goes on, in a task of its own.
    Running(Running),
}

/// Starts an authorized call and polls it once in place.
///
/// Most calls that need no waiting end here, and a task of its own would cost several times as much as they do.
pub(super) fn begin(
    authorized: Authorized,
    cx: CallContext,
    times: Times,
    span: &Span,
    task: &mut Context<'_>,
) -> Begun {
    if cx.is_cancelled() {
        return Begun::Ended(Err(cancelled_before_start().into()));
    }
    let (accesses, action) = authorized.into_prepared().into_parts();
    let cx = Listening(cx);
    // Nothing of the action is looked at again after a panic, so it cannot be seen in a broken state.
    let begun = catch_unwind(AssertUnwindSafe(|| {
        let _within = span.enter();
        let mut work = action.run(cx.0.clone());
        (work.as_mut().poll(task), work)
    }));
    match begun {
        Ok((Poll::Pending, work)) => Begun::Running(Running { work, cx, times, accesses }),
        Ok((Poll::Ready(result), work)) => {
            // A future that has ended can still hold things whose end panics.
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(work)));
            let answer = cx.answer(Stopped::Ended(dropped.map(|()| result)), times);
            Begun::Ended(answer.map_err(|failure| failure.having(accesses)))
        }
        Err(panic) => Begun::Ended(cx.answer(Stopped::Ended(Err(panic)), times)),
    }
}

/// Holds a call that was not done at the first go.
pub(super) struct Running {
    work: Work,
    cx: Listening,
    times: Times,
    accesses: Accesses,
}

impl Running {
    pub(super) fn context(&self) -> &CallContext {
        &self.cx.0
    }

    /// Waits for the call's end, its cancellation or the end of its time.
    ///
    /// A call that is told to stop and does not is abandoned after a grace: its task is aborted, and handed back, since it
    /// only ends when it next has to wait. It is aborted too when this is dropped, so that nothing outlives the call.
    pub(super) async fn end(
        self,
        began: Instant,
        tasks: &TaskTracker,
        span: &Span,
    ) -> Result<ToolOutput, Failure> {
        let Self { work, cx, times, accesses } = self;
        let work = AssertUnwindSafe(work).catch_unwind().instrument(span.clone());
        let mut task = AbortOnDropHandle::new(tasks.spawn(work));
        let token = cx.0.cancellation();
        let stopped = tokio::select! {
            biased;
            ended = &mut task => ended_task(ended),
            () = token.cancelled() => Stopped::Cancelled,
            over = cx.0.clock().over(began, times.wall, times.idle) => Stopped::TimedOut(over),
        };
        if let Stopped::Ended(_) = stopped {
            return cx.answer(stopped, times).map_err(|failure| failure.having(accesses));
        }
        token.cancel();
        let in_grace = tokio::select! {
            biased;
            ended = &mut task => Some(ended_task(ended)),
            () = tokio::time::sleep(times.grace) => None,
        };
        if let Some(ended) = in_grace {
            // What a call keeps that would have waited has to be given up.
            let below =
                ended.waits_for().map(|below| Box::new(Below { was_stopped: true, accesses, ..below }));
            let interruption = below.map(Interruption::Below);
            let answer = cx.answer(last_word(ended, stopped), times);
            return answer.map_err(|failure| Failure { interruption, ..failure });
        }
        let (task, room) = (task.detach(), cx.0.room().keep());
        task.abort();
        let abandoned = Box::new(Abandoned { task, room, most_time: times.wall });
        cx.answer(stopped, times).map_err(|failure| Failure { abandoned: Some(abandoned), ..failure })
    }
}

/// Chooses what counts when a call ends within its grace.
fn last_word(ended: Stopped, stopped: Stopped) -> Stopped {
    let says_so = |error: &ToolError| match stopped {
        Stopped::Cancelled => error.kind() == ToolErrorKind::Cancelled,
        Stopped::TimedOut(_) => error.kind() == ToolErrorKind::TimedOut,
        Stopped::Ended(_) => false,
    };
    match ended {
        // A tool that used its grace to finish has done the work, so its result is not thrown away.
        Stopped::Ended(Ok(Ok(_))) => ended,
        // One that says itself why it stopped knows best what became of its work.
        Stopped::Ended(Ok(Err(ref error))) if says_so(error) => ended,
        ended => {
            apart(|| drop(ended));
            stopped
        }
    }
}

/// Is the context of a call that is not answered yet; dropped without an answer, it tells the call to stop, and lets
/// nothing more be heard of it.
struct Listening(CallContext);

impl Drop for Listening {
    fn drop(&mut self) {
        if !self.0.is_finished() {
            self.0.finish();
            self.0.cancellation().cancel();
        }
    }
}

impl Listening {
    fn answer(self, stopped: Stopped, times: Times) -> Result<ToolOutput, Failure> {
        self.0.finish();
        let tool = self.0.tool_name();
        let refusal = match stopped {
            Stopped::Ended(Ok(Ok(output))) => return Ok(output),
            Stopped::Ended(Ok(Err(error))) => {
                let retry = error.can_retry().then(|| Retry { after: error.retry_after() });
                let refusal = Refusal::new(error.kind().into(), error.message());
                let interruption = match Below::of(&error) {
                    Some(below) => Some(Interruption::Below(Box::new(below))),
                    None => error.authentication_url().map(|url| Interruption::Authentication(url.into())),
                };
                // A call that waits is not tried again meanwhile.
                let retry = retry.filter(|_| !matches!(interruption, Some(Interruption::Below(_))));
                note(tool, error, "the tool failed");
                return Err(Failure { refusal, retry, interruption, abandoned: None });
            }
            Stopped::Ended(Err(payload)) => {
                discard(payload);
                panicked(tool)
            }
            Stopped::Cancelled => Refusal::new(
                ReplyStatus::Cancelled,
                "the call was cancelled before it was done; see what it has done so far before you repeat it",
            ),
            Stopped::TimedOut(over) => timed_out(tool, over, times),
        };
        Err(refusal.into())
    }
}

enum Stopped {
    Ended(Ended),
    Cancelled,
    TimedOut(Over),
}

impl Stopped {
    /// What a call waits for that ended in order to wait.
    fn waits_for(&self) -> Option<Below> {
        match self {
            Self::Ended(Ok(Err(error))) => Below::of(error),
            _ => None,
        }
    }
}

impl Below {
    fn of(error: &ToolError) -> Option<Self> {
        let calls = WaitsFor::of(error)?.to_vec();
        Some(Self { calls, accesses: Accesses::none(), was_stopped: false })
    }
}

fn ended_task(joined: Result<Ended, tokio::task::JoinError>) -> Stopped {
    match joined {
        Ok(ended) => Stopped::Ended(ended),
        Err(error) if error.is_panic() => Stopped::Ended(Err(error.into_panic())),
        // Only a runtime that is shutting down cancels the task.
        Err(_) => Stopped::Cancelled,
    }
}

pub(super) fn cancelled_before_start() -> Refusal {
    Refusal::new(ReplyStatus::Cancelled, "the call was cancelled before it was started; nothing was done")
}

fn timed_out(tool: &str, over: Over, times: Times) -> Refusal {
    let (after, advice) = match (over, times.idle) {
        (Over::Idle, Some(idle)) => (
            format!("{} without any progress", spoken(idle)),
            "see what it has done, and ask for less at once",
        ),
        _ => (spoken(times.wall), "ask for less at once, or for more time if the tool takes a time limit"),
    };
    let message =
        format!("`{tool}` was stopped after {after} and may have done a part of its work; {advice}");
    Refusal::new(ReplyStatus::TimedOut, message)
}

fn spoken(duration: Duration) -> String {
    if duration.as_secs() >= 1 && duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}
