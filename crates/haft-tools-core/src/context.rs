use crate::executor::NestedCalls;
use crate::{CallScope, Events};
use haft_core::{CallId, EventKind, Progress, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use tokio_util::sync::CancellationToken;

/// Gives a running tool its surroundings: who calls, when to stop, whom to tell, and how to call other tools.
///
/// Cheap to clone, so that a tool can hand it to what it starts. What is sent through it after the call was answered
/// goes nowhere.
#[derive(Clone)]
pub struct CallContext(Arc<Inner>);

struct Inner {
    call_id: CallId,
    tool: Arc<str>,
    scope: Arc<CallScope>,
    cancellation: CancellationToken,
    events: Events,
    nested: Option<NestedCalls>,
    /// Held while news is handed on, so that none comes after the end.
    finished: RwLock<bool>,
}

impl CallContext {
    pub(crate) fn new(
        call_id: CallId,
        tool: Arc<str>,
        scope: Arc<CallScope>,
        cancellation: CancellationToken,
        events: Events,
        nested: Option<NestedCalls>,
    ) -> Self {
        let finished = RwLock::new(false);
        Self(Arc::new(Inner { call_id, tool, scope, cancellation, events, nested, finished }))
    }

    /// Makes a context without an executor, for running one action in a test or a benchmark.
    ///
    /// Nobody observes it, nothing cancels it but its own token, and calls of other tools are denied.
    ///
    /// ```
    /// use haft_tools_core::{CallContext, CallScope};
    ///
    /// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
    /// assert_eq!(cx.call_id().as_str(), "c1");
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    pub fn detached(call_id: CallId, scope: CallScope) -> Self {
        let (token, events) = (CancellationToken::new(), Events::default());
        Self::new(call_id, "detached".into(), Arc::new(scope), token, events, None)
    }

    /// The call that is being run.
    pub fn call_id(&self) -> &CallId {
        &self.0.call_id
    }

    /// The name of the tool that is being run, as it stands in the registry.
    pub fn tool_name(&self) -> &str {
        &self.0.tool
    }

    /// On whose behalf the call is made.
    pub fn scope(&self) -> &CallScope {
        &self.0.scope
    }

    /// Is cancelled when the call should stop: by a person, with its run, or because its time is over.
    ///
    /// A tool that does not stop within the executor's grace is abandoned: its future is dropped.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.0.cancellation
    }

    /// Shows people what there is of the output so far; it never reaches the model.
    ///
    /// The closure is only called when somebody observes.
    pub fn update(&self, output: impl FnOnce() -> ToolOutput) {
        self.tell(|| EventKind::Updated { output: output() });
    }

    /// Tells people how far the call has got, as a text or as a fraction from 0.0 to 1.0.
    pub fn progress(&self, progress: impl Into<Progress>) {
        self.tell(|| EventKind::Progressed { progress: progress.into() });
    }

    /// Calls another tool through the same executor: it is validated, decided and recorded like any other call.
    ///
    /// Its accesses are decided on their own; that this call was permitted permits nothing to that one. Cancelling this
    /// call cancels that one. The nesting is bounded by the executor's limits. A call that would have to wait for a later
    /// approval is answered as denied.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the nested call.
    pub async fn call(&self, call: ToolCall) -> ToolReply {
        let Inner { nested, scope, cancellation, .. } = &*self.0;
        let Some(nested) = nested else {
            let refusal = ToolOutput::text("no other tools can be called here; go on without this call");
            return ToolReply::new(call.id, call.name, ReplyStatus::Denied, refusal);
        };
        nested.call(call, scope, cancellation).await
    }

    /// Marks the call as answered, so that late news of it goes nowhere.
    pub(crate) fn finish(&self) {
        *self.0.finished.write().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// Tells whether the call was answered.
    pub(crate) fn is_finished(&self) -> bool {
        *self.0.finished.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, kind: impl FnOnce() -> EventKind) {
        let Inner { events, scope, call_id, finished, .. } = &*self.0;
        let is_finished = || finished.read().unwrap_or_else(PoisonError::into_inner);
        if !events.is_observed() || *is_finished() {
            return;
        }
        // The tool's own code must not run while the end is held up.
        let kind = kind();
        let finished = is_finished();
        if !*finished {
            events.emit(scope, Some(call_id), || kind);
        }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("call_id", &self.0.call_id)
            .field("tool", &self.0.tool)
            .field("scope", &self.0.scope)
            .finish_non_exhaustive()
    }
}
