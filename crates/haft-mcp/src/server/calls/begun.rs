use super::super::line::Line as _;
use super::relay::Relay;
use super::watch::Watch;
use haft_core::ToolCall;
use haft_tools_core::{
    Approval, Approver, CallOutcome, CallScope, CallStanding, Observer, PendingCall, PendingStore,
    Resumption, ToolExecutor, ToolRegistry,
};
use std::sync::Arc;

/// Is what is needed to go on with a call that a client repeats, where it has begun and waits for calls that it has made.
pub(super) struct Begun {
    pub(super) call: ToolCall,
    pub(super) scope: CallScope,
    pub(super) tools: ToolRegistry,
    pub(super) pending: Arc<dyn PendingStore>,
    pub(super) relay: Arc<Relay>,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) is_watched: bool,
}

/// Is a call that has begun.
pub(super) struct Outer {
    begun: Begun,
    pending: PendingCall,
    /// Whether something that it waits for was settled.
    goes_on: bool,
}

impl Begun {
    /// Finds the very same call as it waits.
    ///
    /// One whose arguments were mended is not found, since nobody knows any more how the client wrote them.
    pub(super) async fn find(self) -> Option<Outer> {
        let waiting = match self.pending.waiting_of(self.scope.run()).await {
            Ok(waiting) => waiting,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "the calls that wait cannot be read, so the call is begun");
                return None;
            }
        };
        let pending = waiting.into_iter().find(|waiting| waiting.waits_below() && self.is_same(waiting))?;
        let settled = self.pending.settled(&pending).await;
        let goes_on = settled.is_ok_and(|settled| !settled.is_empty());
        Some(Outer { begun: self, pending, goes_on })
    }

    fn is_same(&self, pending: &PendingCall) -> bool {
        (&pending.call.name, &pending.call.input) == (&self.call.name, &self.call.input)
            && pending.agent.as_deref() == self.scope.agent()
            && pending.above.len() == self.scope.chain().skip(1).count()
    }
}

impl Outer {
    /// Goes on with it, if something that it waits for was answered; `None` if somebody else does so already.
    pub(super) async fn go_on(self, executor: &dyn ToolExecutor) -> Option<CallOutcome> {
        let Self { begun, pending, goes_on } = self;
        // A person may have answered the call itself, to end it.
        let own = match begun.pending.standing(&pending.id).await {
            Ok(CallStanding::Answered(answer)) => Some(answer).filter(Approval::denies),
            _ => None,
        };
        if own.is_none() && !goes_on {
            return Some(CallOutcome::Pending(Box::new(pending)));
        }
        let Begun { scope, tools, relay, approver, is_watched, .. } = begun;
        let call = pending.call.id.clone();
        let mut resumption = Resumption::new(scope, pending, own.unwrap_or(Approval::Approve))
            .with_registry(tools)
            .cancelled_by(relay.cancellation().clone())
            .asked_through(approver);
        if is_watched {
            let watch = Watch { call, relay: Arc::downgrade(&relay) };
            resumption = resumption.observed_by(Arc::new(watch) as Arc<dyn Observer>);
        }
        executor.resume(resumption).await.ok()
    }
}
