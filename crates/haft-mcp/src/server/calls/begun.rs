use super::super::line::Line as _;
use super::may_begin_anew;
use super::relay::Relay;
use super::watch::Watch;
use haft_core::{ErrorKind, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use haft_tools_core::{
    Approval, Approver, CallOutcome, CallScope, Observer, PendingCall, PendingStore, Resumption,
    ResumptionError, StoreError, ToolExecutor, ToolRegistry,
};
use std::error::Error;
use std::sync::Arc;

/// Is what is needed to go on with a call that a client repeats, where it has begun and waits for calls that it has made.
pub(super) struct Begun {
    pub(super) scope: CallScope,
    pub(super) tools: ToolRegistry,
    pub(super) pending: Arc<dyn PendingStore>,
    pub(super) relay: Arc<Relay>,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) is_watched: bool,
}

impl Begun {
    /// Goes on with the very same call where it waits; gives `None` where it has not begun.
    ///
    /// One whose arguments were mended is not found, since nobody knows any more how the client wrote them. Where the store
    /// does not say whether the call has begun, only one is begun that may be done twice.
    pub(super) async fn go_on(self, call: &ToolCall, executor: &dyn ToolExecutor) -> Option<CallOutcome> {
        let (pending, answer) = match self.find(call).await {
            Ok(found) => found?,
            Err(error) => {
                log(call, &error);
                let is_harmless = may_begin_anew(&self.tools, &call.name);
                return (!is_harmless).then(|| failed(call, ErrorKind::Unavailable, UNKNOWN));
            }
        };
        let Some(answer) = answer else { return Some(CallOutcome::Pending(Box::new(pending))) };
        Some(self.resume(pending, answer, executor).await.unwrap_or_else(|refused| {
            log(call, &refused);
            let (kind, text) = match refused {
                ResumptionError::ResumedBefore { .. } => (ErrorKind::Failed, ELSEWHERE),
                ResumptionError::Unclaimed { .. } => (ErrorKind::Unavailable, UNKNOWN),
                _ => (ErrorKind::Failed, STUCK),
            };
            failed(call, kind, text)
        }))
    }

    /// Finds the call as it waits, and what it is gone on with, if something that it waits for was answered.
    async fn find(&self, call: &ToolCall) -> Result<Option<(PendingCall, Option<Approval>)>, StoreError> {
        let waiting = self.pending.waiting_of(self.scope.run()).await?;
        let is_it = |waiting: &PendingCall| waiting.waits_below() && self.is_same(call, waiting);
        let Some(pending) = waiting.into_iter().find(is_it) else { return Ok(None) };
        let answer = self.pending.answer_below(&pending).await.unwrap_or_else(|error| {
            // It waits as far as anybody knows.
            log(call, &error);
            None
        });
        Ok(Some((pending, answer)))
    }

    fn is_same(&self, call: &ToolCall, pending: &PendingCall) -> bool {
        (&pending.call.name, &pending.call.input) == (&call.name, &call.input)
            && pending.agent.as_deref() == self.scope.agent()
            && pending.above.len() == self.scope.chain().skip(1).count()
    }

    async fn resume(
        self,
        pending: PendingCall,
        answer: Approval,
        executor: &dyn ToolExecutor,
    ) -> Result<CallOutcome, ResumptionError> {
        let Self { scope, tools, relay, approver, is_watched, .. } = self;
        let call = pending.call.id.clone();
        let mut resumption = Resumption::new(scope, pending, answer)
            .with_registry(tools)
            .cancelled_by(relay.cancellation().clone())
            .asked_through(approver);
        if is_watched {
            let watch = Watch { call, relay: Arc::downgrade(&relay) };
            resumption = resumption.observed_by(Arc::new(watch) as Arc<dyn Observer>);
        }
        executor.resume(resumption).await
    }
}

const UNKNOWN: &str = "whether this call waits already cannot be told now, so nothing was done; repeat the very same call later";

const ELSEWHERE: &str = "another request goes on with this call already and is told how it ends; \
     look at what it has done before you call it again";

const STUCK: &str =
    "this call has begun and cannot be gone on with; look at what it has done before you repeat it";

fn failed(call: &ToolCall, kind: ErrorKind, text: &str) -> CallOutcome {
    let (status, output) = (ReplyStatus::Error(kind), ToolOutput::text(text));
    CallOutcome::Replied(ToolReply::new(call.id.clone(), call.name.clone(), status, output))
}

fn log(call: &ToolCall, error: &(dyn Error + 'static)) {
    tracing::error!(call = %call.id, tool = call.name, error, "a call that a client repeats cannot be gone on with");
}
