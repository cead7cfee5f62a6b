use haft_core::ToolError;
use haft_tools_core::{CallContext, Preview};
use std::panic::resume_unwind;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

/// Runs work that blocks on a thread for it.
///
/// The token tells the work to stop: when the call is cancelled, and when nobody waits for the result any more.
pub(crate) async fn blocking<T: Send + 'static>(
    cx: &CallContext,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stop = cx.cancellation().child_token();
    let _stops_when_dropped = stop.clone().drop_guard();
    match spawn_blocking(move || work(&stop)).await {
        Ok(result) => result,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // The runtime is shutting down.
        Err(error) => {
            Err(ToolError::cancelled("the call was cancelled before it was done").with_source(error))
        }
    }
}

/// Makes a preview on a thread for work that blocks.
pub(crate) async fn blocking_preview(work: impl FnOnce() -> Preview + Send + 'static) -> Preview {
    // A preview that cannot be made leaves the arguments to be shown; running the call will say what is wrong.
    spawn_blocking(work).await.unwrap_or(Preview::Arguments)
}

/// Ends the work of a call that is to stop.
pub(crate) fn go_on(stop: &CancellationToken) -> Result<(), ToolError> {
    if stop.is_cancelled() {
        return Err(ToolError::cancelled("the call was cancelled before it was done"));
    }
    Ok(())
}
