use crate::kept_by_engine::KeptByEngine;
use crate::{CallCourse, CallRequest, EffectKey, Redo};
use haft_tools_core::{
    Approval, Batch, CallOutcome, CallScope, LocalExecutor, LocalExecutorBuilder, Observer, PendingCall,
    Resumption, ToolExecutor as _, approver_fn,
};
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Performs rounds of calls on a worker, with an executor of its own.
///
/// Whatever the policy leaves to a person comes to wait in the engine, so nobody is asked on the worker: its executor's
/// approver and store of pending calls are replaced. A running call that [asks](haft_tools_core::CallContext::ask) a question
/// finds nobody. What a call takes, and how many are made at once, is bounded by the executor as everywhere.
///
/// A call that would wait for [calls below it](haft_tools_core::CallContext::wait_for) is denied instead, and its tool is told:
/// an engine has no way yet to go on with those.
///
/// ```
/// use haft_core::ToolCall;
/// use haft_durable::{CallCourse, CallRequest, Next, Performer, Redo};
/// use haft_tools_core::{CallScope, LocalExecutor, ToolRegistry};
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let performer = Performer::new(LocalExecutor::builder(ToolRegistry::new())).redo(Redo::nothing());
/// let call = ToolCall::new("c1".parse()?, "ping", serde_json::json!({}));
/// let mut course = CallCourse::new(CallRequest::new(&CallScope::new("run-1".parse()?), call)?);
/// while let Next::Perform = course.next() {
///     course.performed(performer.perform(&course, CancellationToken::new()).await);
/// }
/// assert!(matches!(course.next(), Next::Ended(reply) if reply.status.to_string() == "error: unknown tool"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Performer {
    executor: LocalExecutor,
    redo: Redo,
    scoped: Arc<dyn Fn(CallScope) -> CallScope + Send + Sync>,
    observer: Option<Arc<dyn Observer>>,
}

impl Performer {
    /// Performs with an executor that is built here.
    pub fn new(executor: LocalExecutorBuilder) -> Self {
        let executor = executor
            .approver(approver_fn(|_: &PendingCall| Approval::Later))
            .pending(Arc::new(KeptByEngine))
            .build();
        Self { executor, redo: Redo::default(), scoped: Arc::new(|scope| scope), observer: None }
    }

    /// Says which tools may take effect again.
    pub fn redo(mut self, redo: Redo) -> Self {
        self.redo = redo;
        self
    }

    /// Adds to the scope of each call what cannot be sent, such as values that tools ask for, or a bound on what its agent may
    /// do. It must do so in the same way on each worker.
    pub fn scoped_by(mut self, add: impl Fn(CallScope) -> CallScope + Send + Sync + 'static) -> Self {
        self.scoped = Arc::new(add);
        self
    }

    /// Tells this observer what happens to calls, as [`Batch::observed_by`] does.
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The executor that performs.
    pub fn executor(&self) -> &LocalExecutor {
        &self.executor
    }

    /// Tells whether the round of a call may be performed when it may have been before.
    ///
    /// What runs nothing may always be: a name that no tool has, and an answer that denies.
    pub fn may_perform_again(&self, course: &CallCourse) -> bool {
        let runs = course.answered().is_none_or(|(_, approval)| !approval.denies());
        let tool = self.executor.registry().get(&course.request().call().name);
        !runs || tool.is_none_or(|tool| self.redo.may(tool))
    }

    /// Performs the round that is next: gives the reply, or the call as it waits for a person.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels and abandons the call. Cancel the token instead, and the call is answered.
    pub async fn perform(&self, course: &CallCourse, stop: CancellationToken) -> CallOutcome {
        let request = course.request();
        let scope = EffectKey::in_round((self.scoped)(request.scope()), course.round_key());
        let outcome = match course.answered() {
            None => self.begin(request, scope.clone(), stop).await,
            Some((pending, approval)) => {
                self.go_on(request, scope.clone(), pending.clone(), approval.clone(), stop).await
            }
        };
        match outcome {
            CallOutcome::Pending(pending) if pending.waits_below() => {
                let reason =
                    "it waits for calls of its own, and those cannot be approved where it runs".to_owned();
                let denied = Approval::Deny { reason };
                self.go_on(request, scope, *pending, denied, CancellationToken::new()).await
            }
            outcome => outcome,
        }
    }

    async fn begin(&self, request: &CallRequest, scope: CallScope, stop: CancellationToken) -> CallOutcome {
        let mut batch = Batch::of_held(scope, [request.held()]).cancelled_by(stop);
        if let Some(observer) = &self.observer {
            batch = batch.observed_by(Arc::clone(observer));
        }
        let outcome = self.executor.execute_batch(batch).await.into_outcomes().pop();
        outcome.unwrap_or_else(|| CallOutcome::lost(request.call()))
    }

    async fn go_on(
        &self,
        request: &CallRequest,
        scope: CallScope,
        pending: PendingCall,
        approval: Approval,
        stop: CancellationToken,
    ) -> CallOutcome {
        let mut resumption = Resumption::new(scope, pending, approval).cancelled_by(stop);
        if let Some(observer) = &self.observer {
            resumption = resumption.observed_by(Arc::clone(observer));
        }
        match self.executor.resume(resumption).await {
            Ok(outcome) => outcome,
            Err(refused) => {
                let error = &refused as &dyn std::error::Error;
                tracing::error!(call = %request.key(), error, "a call that was decided could not be gone on with");
                CallOutcome::lost(request.call())
            }
        }
    }
}

impl fmt::Debug for Performer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Performer")
            .field("executor", &self.executor)
            .field("redo", &self.redo)
            .finish_non_exhaustive()
    }
}
