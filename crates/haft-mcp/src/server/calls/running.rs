use super::approver::ClientApprover;
use super::relay::Relay;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use haft_tools_core::CallOutcome;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio_util::task::AbortOnDropHandle;

/// Is a call that runs, with the line that it has to its client.
pub(super) struct Running {
    pub(super) relay: Arc<Relay>,
    pub(super) approver: Arc<ClientApprover>,
    pub(super) work: Work,
}

/// Is the work of a call; dropped, it is cancelled.
pub(super) enum Work {
    /// Goes on while it is waited for.
    Here(BoxFuture<'static, Option<CallOutcome>>),
    /// Goes on by itself.
    Apart(AbortOnDropHandle<Option<CallOutcome>>),
}

impl Work {
    /// Has the work go on by itself.
    pub(super) fn apart(self) -> Self {
        match self {
            Self::Here(work) => Self::Apart(AbortOnDropHandle::new(tokio::spawn(work))),
            apart @ Self::Apart(_) => apart,
        }
    }
}

/// `None` comes of an executor that gives no outcome, or breaks.
impl Future for Work {
    type Output = Option<CallOutcome>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<CallOutcome>> {
        match &mut *self {
            Self::Here(work) => work.as_mut().poll(task),
            Self::Apart(handle) => Poll::Ready(ready!(handle.poll_unpin(task)).ok().flatten()),
        }
    }
}
