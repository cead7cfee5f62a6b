use crate::updates::CallUpdates;
use haft_durable::{CallCourse, Performer};
use haft_tools_core::CallOutcome;
use restate_sdk::context::{ContextSideEffects as _, ContextSignals as _, RunFuture as _, WorkflowContext};
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk::serde::Json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use tokio_util::sync::CancellationToken;

/// The signal by which a workflow learns that its call is cancelled.
pub(crate) const STOP_SIGNAL: &str = "stop";

/// By which code the engine says that a workflow is cancelled.
pub(crate) const CANCELLED: u16 = 409;

/// Is what became of a round.
pub(crate) struct Stepped {
    pub(crate) outcome: CallOutcome,
    /// Whether the call was told to stop meanwhile.
    pub(crate) is_told: bool,
}

/// Performs the round that is next as one journaled step.
///
/// A call that was told to stop before is answered as lost where the engine does not let the step begin.
///
/// A round that may not be performed again has a step before it that takes down that it begins. Whoever finds that in the
/// journal, and no outcome, cannot tell how far the round got.
pub(crate) async fn perform(
    ctx: &WorkflowContext<'_>,
    performer: &Performer,
    course: Arc<CallCourse>,
    updates: Option<CallUpdates>,
) -> Result<Stepped, HandlerError> {
    let call = course.request().call().clone();
    let round = course.round_key().round();
    let mut begins_here = performer.may_perform_again(&course);
    if !begins_here {
        let begun = Arc::new(AtomicBool::new(false));
        let take_down = {
            let begun = Arc::clone(&begun);
            move || async move {
                begun.store(true, Ordering::Relaxed);
                Ok::<_, HandlerError>(())
            }
        };
        ctx.run(take_down).name(format!("begin {round}")).await?;
        begins_here = begun.load(Ordering::Relaxed);
    }
    let cancel = CancellationToken::new();
    let work = {
        let (performer, cancel) = (performer.clone(), cancel.clone());
        move || async move {
            let outcome = if begins_here {
                match updates {
                    None => performer.perform(&course, cancel).await,
                    Some(updates) => {
                        let observed = performer.observed_by(updates.observer());
                        updates.sent_while(observed.perform(&course, cancel)).await
                    }
                }
            } else {
                CallOutcome::lost(course.request().call())
            };
            Ok(outcome)
        }
    };
    let (outcome, is_told) = stoppable(ctx, format!("round {round}"), cancel, work).await;
    match outcome {
        Ok(outcome) => Ok(Stepped { outcome, is_told }),
        // The engine's own cancellation came before, so the outcome of the step is not seen here.
        Err(error) if error.code() == CANCELLED => {
            Ok(Stepped { outcome: CallOutcome::lost(&call), is_told: true })
        }
        Err(error) => Err(error.into()),
    }
}

/// Does something as one journaled step that is told to stop when the workflow is; gives what it came to, and whether it was
/// told.
pub(crate) async fn stoppable<T, F>(
    ctx: &WorkflowContext<'_>,
    name: String,
    cancel: CancellationToken,
    work: impl FnOnce() -> F + Send + 'static,
) -> (Result<T, TerminalError>, bool)
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: Future<Output = Result<T, HandlerError>> + Send + 'static,
{
    let is_done = Arc::new(AtomicBool::new(false));
    let step = {
        let is_done = Arc::clone(&is_done);
        move || async move {
            let outcome = work().await;
            is_done.store(true, Ordering::Relaxed);
            outcome.map(Json)
        }
    };
    let mut step = pin!(ctx.run(step).name(name));
    let mut told = pin!(ctx.signal::<()>(STOP_SIGNAL));
    let mut is_told = false;
    let outcome: Result<Json<T>, TerminalError> = poll_fn(|task| {
        if let Poll::Ready(outcome) = step.as_mut().poll(task) {
            return Poll::Ready(outcome);
        }
        // Of the two only one may read what the engine sends: the signal as long as the work goes on, then the step.
        if !is_told && !is_done.load(Ordering::Relaxed) && told.as_mut().poll(task).is_ready() {
            is_told = true;
            cancel.cancel();
        }
        Poll::Pending
    })
    .await;
    (outcome.map(Json::into_inner), is_told)
}
