use super::Attended;
use crate::{
    Approval, Approver, CallContext, CallScope, Observer, PendingCall, PendingId, StoreError, ToolRegistry,
};
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Holds a person's late answer to a pending call.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// # use haft_tools_core::{LocalExecutor, ToolExecutor as _};
/// use haft_tools_core::{Approval, CallOutcome, CallScope, PendingCall, Resumption, approver_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = house::registry()?;
/// # let batch = house::batch()?;
/// let later = approver_fn(|_: &PendingCall| Approval::Later);
/// let executor = LocalExecutor::builder(registry).approver(later).build();
/// let mut outcomes = executor.execute_batch(batch).await.into_outcomes();
/// let Some(CallOutcome::Pending(pending)) = outcomes.pop() else { return Err("it waits".into()) };
///
/// // Tomorrow, or in another process, a person says yes.
/// let scope = CallScope::new("run-1".parse()?);
/// let resumed = executor.resume(Resumption::new(scope, *pending, Approval::Approve)).await?;
/// assert!(matches!(resumed, CallOutcome::Replied(reply) if reply.status.is_ok()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Resumption {
    pub(crate) scope: CallScope,
    pub(crate) pending: PendingCall,
    pub(crate) approval: Approval,
    pub(crate) cancellation: Option<CancellationToken>,
    pub(crate) registry: Option<ToolRegistry>,
    pub(crate) caller: Option<CallContext>,
    pub(crate) attended: Option<Arc<Attended>>,
}

impl Resumption {
    /// Answers the pending call in the scope in which it was made.
    pub fn new(scope: CallScope, pending: PendingCall, approval: Approval) -> Self {
        Self { scope, pending, approval, cancellation: None, registry: None, caller: None, attended: None }
    }

    /// Cancels the call when the token is cancelled.
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancellation = Some(token);
        self
    }

    /// Says which call makes this one, as [`Batch::made_by`](crate::Batch::made_by) does.
    pub fn made_by(mut self, call: &CallContext) -> Self {
        self.caller = Some(call.clone());
        self
    }

    /// Finds the tool in this registry, and not in the executor's.
    pub fn with_registry(mut self, registry: ToolRegistry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Asks this approver about the call, as [`Batch::asked_through`](crate::Batch::asked_through) does.
    pub fn asked_through(mut self, approver: Arc<dyn Approver>) -> Self {
        Attended::ask(&mut self.attended, approver);
        self
    }

    /// Has the call attended to by those who attend to another, as [`Batch::attended_like`](crate::Batch::attended_like) does.
    pub fn attended_like(mut self, call: &CallContext) -> Self {
        self.attended = Attended::like(self.attended, call);
        self
    }

    /// Tells this observer what happens to the call, as [`Batch::observed_by`](crate::Batch::observed_by) does.
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        Attended::tell(&mut self.attended, observer);
        self
    }
}

impl fmt::Debug for Resumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resumption")
            .field("scope", &self.scope)
            .field("pending", &self.pending)
            .field("approval", &self.approval)
            .finish_non_exhaustive()
    }
}

/// Says why a pending call is not gone on with; nothing was run.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{Approval, CallScope, Resumption, ResumptionError, ToolExecutor as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (executor, pending) = house::waiting().await?;
/// let scope = CallScope::new("run-1".parse()?);
/// let again = Resumption::new(scope.clone(), (*pending).clone(), Approval::Approve);
/// executor.resume(Resumption::new(scope, *pending, Approval::Approve)).await?;
/// let refused = executor.resume(again).await.unwrap_err();
/// assert!(matches!(refused, ResumptionError::ResumedBefore { .. }), "each call goes on once at most");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumptionError {
    /// It was gone on with before.
    #[error(
        "the pending call `{id}` was resumed before, and a call runs once at most; look at what it has done, and have it \
         called again if that is still needed"
    )]
    ResumedBefore {
        /// The pending call.
        id: PendingId,
    },
    /// The time in which an approval counts is over.
    #[error("the pending call `{id}` has expired; deny it, and have it asked again")]
    Expired {
        /// The pending call.
        id: PendingId,
    },
    /// It is not the one that was kept.
    #[error(
        "the pending call `{id}` is not the one that was asked about: its digest is another; \
             answer the one that is kept"
    )]
    OtherDigest {
        /// The pending call.
        id: PendingId,
    },
    /// It has begun with its input, and waits for calls below it, so another input comes too late.
    #[error(
        "the pending call `{id}` has begun with its arguments, so it cannot be given others; go on with it, or deny it and \
             have it called anew"
    )]
    Begun {
        /// The pending call.
        id: PendingId,
    },
    /// It cannot be told whether it was gone on with before.
    #[error("it cannot be told whether the pending call `{id}` was resumed before")]
    Unclaimed {
        /// The pending call.
        id: PendingId,
        /// Why.
        source: StoreError,
    },
}
