use super::Refusal;
use super::decide::Authorized;
use super::prepare::panicked;
use crate::{CallContext, Limits};
use futures_util::FutureExt as _;
use haft_core::{ReplyStatus, ToolError, ToolErrorKind, ToolOutput};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;

/// What a tool's future gives: its result, or what it panicked with.
type Ended = Result<Result<ToolOutput, ToolError>, Box<dyn Any + Send>>;

/// Says how far a call got at the first go.
pub(super) enum Begun {
    /// It is done.
    Ended(Result<ToolOutput, Refusal>),
    /// It goes on, in a task of its own.
    Running(Running),
}

/// Starts an authorized call and polls it once in place.
///
/// Most calls that need no waiting end here, and a task of its own would cost several times as much as they do.
pub(super) fn begin(
    authorized: Authorized,
    cx: CallContext,
    limits: &Limits,
    task: &mut Context<'_>,
) -> Begun {
    let prepared = authorized.into_prepared();
    if cx.cancellation().is_cancelled() {
        return Begun::Ended(Err(cancelled_before_start()));
    }
    let timeout = prepared.timeout().unwrap_or(limits.timeout).min(limits.timeout_ceiling);
    let cx = Listening(cx);
    // Nothing of the action is looked at again after a panic, so it cannot be seen in a broken state.
    let begun = catch_unwind(AssertUnwindSafe(|| {
        let mut work = prepared.into_action().run(cx.0.clone());
        (work.as_mut().poll(task), work)
    }));
    match begun {
        Ok((Poll::Pending, work)) => Begun::Running(Running { work, cx, timeout, grace: limits.grace }),
        Ok((Poll::Ready(result), work)) => {
            // A future that has ended can still hold things whose end panics.
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(work)));
            Begun::Ended(cx.answer(Stopped::Ended(dropped.map(|()| result)), timeout))
        }
        Err(panic) => Begun::Ended(cx.answer(Stopped::Ended(Err(panic)), timeout)),
    }
}

/// Holds a call that was not done at the first go.
pub(super) struct Running {
    work: Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>,
    cx: Listening,
    timeout: Duration,
    grace: Duration,
}

impl Running {
    /// Waits for the call's end, its cancellation or the end of its time.
    ///
    /// A call that is told to stop and does not is abandoned after a grace. Its task is aborted when the handle is
    /// dropped, so that nothing outlives the call.
    pub(super) async fn end(self) -> Result<ToolOutput, Refusal> {
        let Self { work, cx, timeout, grace } = self;
        let mut task = AbortOnDropHandle::new(tokio::spawn(AssertUnwindSafe(work).catch_unwind()));
        let token = cx.0.cancellation();
        let stopped = tokio::select! {
            biased;
            ended = &mut task => ended_task(ended),
            () = token.cancelled() => Stopped::Cancelled,
            () = tokio::time::sleep(timeout) => Stopped::TimedOut,
        };
        if let Stopped::Ended(_) = stopped {
            return cx.answer(stopped, timeout);
        }
        token.cancel();
        let stopped = tokio::select! {
            biased;
            ended = &mut task => last_word(ended_task(ended), stopped),
            () = tokio::time::sleep(grace) => stopped,
        };
        cx.answer(stopped, timeout)
    }
}

/// Chooses what counts when a call ends within its grace.
fn last_word(ended: Stopped, stopped: Stopped) -> Stopped {
    let says_so = |error: &ToolError| match stopped {
        Stopped::Cancelled => error.kind() == ToolErrorKind::Cancelled,
        Stopped::TimedOut => error.kind() == ToolErrorKind::TimedOut,
        Stopped::Ended(_) => false,
    };
    match &ended {
        // A tool that used its grace to finish has done the work, so its result is not thrown away.
        Stopped::Ended(Ok(Ok(_))) => ended,
        // One that says itself why it stopped knows best what became of its work.
        Stopped::Ended(Ok(Err(error))) if says_so(error) => ended,
        _ => stopped,
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
    fn answer(self, stopped: Stopped, timeout: Duration) -> Result<ToolOutput, Refusal> {
        self.0.finish();
        let tool = self.0.tool_name();
        match stopped {
            Stopped::Ended(Ok(Ok(output))) => Ok(output),
            Stopped::Ended(Ok(Err(error))) => {
                tracing::debug!(tool, error = &error as &dyn std::error::Error, "the tool failed");
                Err(Refusal::new(error.kind().into(), error.message()))
            }
            Stopped::Ended(Err(_)) => Err(panicked(tool)),
            Stopped::Cancelled => Err(Refusal::new(
                ReplyStatus::Cancelled,
                "the call was cancelled before it was done; see what it has done so far before you repeat it",
            )),
            Stopped::TimedOut => Err(Refusal::new(
                ReplyStatus::TimedOut,
                format!(
                    "`{tool}` was stopped after {} and may have done a part of its work; ask for less at once, or for \
                     more time if the tool takes a time limit",
                    spoken(timeout)
                ),
            )),
        }
    }
}

enum Stopped {
    Ended(Ended),
    Cancelled,
    TimedOut,
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

fn spoken(duration: Duration) -> String {
    if duration.as_secs() >= 1 && duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}
