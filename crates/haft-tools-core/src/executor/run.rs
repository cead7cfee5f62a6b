use super::Refusal;
use super::decide::Authorized;
use super::prepare::panicked;
use crate::{CallContext, Limits};
use futures_util::FutureExt as _;
use haft_core::{ReplyStatus, ToolError, ToolErrorKind, ToolOutput};
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;

/// What a tool's future gives: its result, or what it panicked with.
type Ended = Result<Result<ToolOutput, ToolError>, Box<dyn Any + Send>>;

/// Runs an authorized call within its time; a call that is told to stop and does not is abandoned after a grace.
pub(super) async fn run(
    authorized: Authorized,
    cx: &CallContext,
    limits: &Limits,
) -> Result<ToolOutput, Refusal> {
    let prepared = authorized.into_prepared();
    if cx.cancellation().is_cancelled() {
        return Err(cancelled_before_start());
    }
    let timeout = prepared.timeout().unwrap_or(limits.timeout).min(limits.timeout_ceiling);
    // Nothing of the action is looked at again after a panic, so it cannot be seen in a broken state.
    let begun = catch_unwind(AssertUnwindSafe(|| prepared.into_action().run(cx.clone())));
    let abandoned = Abandon(cx);
    let stopped = match begun {
        Ok(work) => supervise(AssertUnwindSafe(work).catch_unwind(), cx, timeout, limits.grace).await,
        Err(panic) => Stopped::Ended(Err(panic)),
    };
    std::mem::forget(abandoned);
    cx.finish();
    match stopped {
        Stopped::Ended(Ok(Ok(output))) => Ok(output),
        Stopped::Ended(Ok(Err(error))) => {
            tracing::debug!(
                tool = cx.tool_name(),
                error = &error as &dyn std::error::Error,
                "the tool failed"
            );
            Err(Refusal::new(error.kind().into(), error.message()))
        }
        Stopped::Ended(Err(_)) => Err(panicked(cx.tool_name())),
        Stopped::Cancelled => Err(Refusal::new(
            ReplyStatus::Cancelled,
            "the call was cancelled before it was done; see what it has done so far before you repeat it",
        )),
        Stopped::TimedOut => Err(Refusal::new(
            ReplyStatus::TimedOut,
            format!(
                "`{}` was stopped after {} and may have done a part of its work; ask for less at once, or for more time if \
                 the tool takes a time limit",
                cx.tool_name(),
                spoken(timeout)
            ),
        )),
    }
}

/// Tells a call whose future is dropped to stop, and lets nothing more be heard of it.
struct Abandon<'a>(&'a CallContext);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.finish();
        self.0.cancellation().cancel();
    }
}

enum Stopped {
    Ended(Ended),
    Cancelled,
    TimedOut,
}

/// Polls the work once in place, and gives it a task of its own only if it is not done then.
///
/// Most calls that need no waiting end at the first poll, and a task costs several times as much as they do. The task
/// is aborted when its handle is dropped, so that nothing outlives the call.
async fn supervise<W>(work: W, cx: &CallContext, timeout: Duration, grace: Duration) -> Stopped
where
    W: Future<Output = Ended> + Send + Unpin + 'static,
{
    let mut work = work;
    if let Poll::Ready(ended) = poll_fn(|task| Poll::Ready(Pin::new(&mut work).poll(task))).await {
        return Stopped::Ended(ended);
    }
    Box::pin(supervise_task(work, cx, timeout, grace)).await
}

/// Gives the work a task of its own and waits for its end, its cancellation or the end of its time.
async fn supervise_task<W>(work: W, cx: &CallContext, timeout: Duration, grace: Duration) -> Stopped
where
    W: Future<Output = Ended> + Send + Unpin + 'static,
{
    let mut task = AbortOnDropHandle::new(tokio::spawn(work));
    let stopped = tokio::select! {
        biased;
        ended = &mut task => return ended_task(ended),
        () = cx.cancellation().cancelled() => Stopped::Cancelled,
        () = tokio::time::sleep(timeout) => Stopped::TimedOut,
    };
    cx.cancellation().cancel();
    tokio::select! {
        biased;
        ended = &mut task => match (ended_task(ended), stopped) {
            // A tool that used its grace to finish has done the work, so its result is not thrown away.
            (Stopped::Ended(Ok(Ok(output))), _) => Stopped::Ended(Ok(Ok(output))),
            // One that says itself why it stopped knows best what became of its work.
            (Stopped::Ended(Ok(Err(error))), Stopped::Cancelled) if error.kind() == ToolErrorKind::Cancelled => {
                Stopped::Ended(Ok(Err(error)))
            }
            (Stopped::Ended(Ok(Err(error))), Stopped::TimedOut) if error.kind() == ToolErrorKind::TimedOut => {
                Stopped::Ended(Ok(Err(error)))
            }
            (_, stopped) => stopped,
        },
        () = tokio::time::sleep(grace) => stopped,
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

fn spoken(duration: Duration) -> String {
    if duration.as_secs() >= 1 && duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}
