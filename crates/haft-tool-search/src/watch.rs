use haft_core::ToolError;
use haft_tools_core::CallContext;
use std::panic::resume_unwind;
use tokio_util::sync::CancellationToken;

/// After how many files people are told how far a search has got.
const PROGRESS_FILES: u64 = 1000;

/// Watches over a running search: says whether it should stop, and is told how far it got.
pub(crate) trait Watch {
    /// Tells whether nobody wants the result any more.
    fn is_cancelled(&self) -> bool;

    /// Hears how many files were looked at so far.
    fn looked_at(&self, files: u64);

    /// Gives the error that ends a search which should stop.
    fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// Says that a search ended because nobody wants its result any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cancelled;

impl From<Cancelled> for ToolError {
    fn from(_: Cancelled) -> Self {
        Self::cancelled(
            "the search was cancelled before it was done; search again, in a smaller directory if it took long",
        )
    }
}

/// Watches on behalf of a call.
struct CallWatch {
    cx: CallContext,
    stop: CancellationToken,
}

impl Watch for CallWatch {
    fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled()
    }

    fn looked_at(&self, files: u64) {
        if files.is_multiple_of(PROGRESS_FILES) {
            self.cx.progress(format!("looked at {files} files"));
        }
    }
}

/// Runs a search on a blocking thread; it is told to stop when the call is cancelled or this future is dropped.
pub(crate) async fn run_blocking<T: Send + 'static>(
    cx: CallContext,
    search: impl FnOnce(&dyn Watch) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stop = cx.cancellation().child_token();
    let _dropped_with_the_call = stop.clone().drop_guard();
    match tokio::task::spawn_blocking(move || search(&CallWatch { cx, stop })).await {
        Ok(result) => result,
        // The executor answers for a tool that breaks.
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // Only a runtime that is shutting down gives the task up.
        Err(_) => Err(Cancelled.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_tools_core::CallScope;
    use std::sync::mpsc;

    fn context() -> CallContext {
        CallContext::detached("c1".parse().unwrap(), CallScope::new("run-1".parse().unwrap()))
    }

    /// Starts a search that only ends when it is told to, and sends whether it was.
    fn endless(cx: CallContext) -> (impl Future<Output = Result<(), ToolError>>, mpsc::Receiver<()>) {
        let (sender, receiver) = mpsc::channel();
        let search = move |watch: &dyn Watch| {
            while !watch.is_cancelled() {
                std::thread::yield_now();
            }
            sender.send(()).unwrap();
            watch.check().map_err(ToolError::from)
        };
        (run_blocking(cx, search), receiver)
    }

    #[tokio::test]
    async fn a_search_ends_when_its_call_is_cancelled() {
        let cx = context();
        let (search, _ended) = endless(cx.clone());
        cx.cancellation().cancel();
        assert_eq!(search.await.unwrap_err().kind(), haft_core::ToolErrorKind::Cancelled);
    }

    #[tokio::test]
    async fn a_search_ends_when_nobody_waits_for_it() {
        let (search, ended) = endless(context());
        let mut search = Box::pin(search);
        let waker = std::task::Waker::noop();
        assert!(search.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        drop(search);
        ended.recv().unwrap();
    }
}
