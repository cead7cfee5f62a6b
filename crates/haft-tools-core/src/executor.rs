mod approve;
mod attended;
mod control;
mod course;
mod decide;
mod frame;
mod live;
mod local;
mod nested;
mod prepare;
mod read;
mod record;
mod resolve;
mod run;
mod schedule;
mod shape;
mod span;
mod validate;

pub(crate) use approve::ask_person;
pub(crate) use attended::Attended;
pub(crate) use frame::{Frame, StoppedClocks};
pub use live::Cancel;
pub(crate) use live::LiveCalls;
pub use local::{LocalExecutor, LocalExecutorBuilder};
pub(crate) use nested::call_nested;
pub use schedule::Strategy;
pub(crate) use shape::shape_news;
pub use span::SpanContent;

use crate::{
    Answer, Approval, Approver, CallContext, CallScope, Observer, PendingCall, PendingId, Steering,
    StoreError, ToolRegistry,
};
use async_trait::async_trait;
use haft_core::{CallId, ErrorKind, Repair, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Executes the calls of a model, in this process or elsewhere.
///
/// ```
/// # use haft_core::ToolCall;
/// # use haft_tools_core::{Accesses, Batch, CallContext, CallScope, LocalExecutor, ToolExecutor as _, ToolRegistry, tool_fn};
/// # use serde_json::json;
/// use haft_tools_core::{AllowAll, ToolExecutor};
///
/// /// Makes one call by whatever executor there is.
/// async fn greeting(executor: &dyn ToolExecutor, batch: Batch) -> Option<String> {
///     let replies = executor.execute_batch(batch).await.into_replies().ok()?;
///     replies.first().map(|reply| reply.output.to_text())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {}
/// # let greet = tool_fn("greet", "Greets.", Accesses::none(), |_: Input, _: CallContext| async {
/// #     Ok::<_, haft_core::ToolError>("Good morning.")
/// # })?;
/// # let registry = ToolRegistry::new().with(greet)?;
/// # let call = ToolCall::new("c1".parse()?, "greet", json!({}));
/// # let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
/// let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
/// assert_eq!(greeting(&executor, batch).await.as_deref(), Some("Good morning."));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ToolExecutor: Send + Sync + 'static {
    /// Executes the calls of one model message; each gets exactly one outcome, in the order of the calls.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels and abandons every call that is running. Cancel the batch's token instead to get a
    /// reply for each call.
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome;

    /// Goes on with a call that waited for a person: once at most, whoever tries.
    ///
    /// What was approved must be what would run: if the tool, the input, the accesses or the scope are no longer those
    /// of the pending call's digest, the call is asked about again. The host sees to it that the tools are over the same
    /// things as those that the call was made with.
    ///
    /// # Errors
    ///
    /// When the call was gone on with before, when its approval came too late, and when it is not the one that was kept;
    /// nothing is run then. One that came too late can still be denied.
    ///
    /// # Cancel safety
    ///
    /// As for [`ToolExecutor::execute_batch`]; the right to go on with the call may be used up.
    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumeRefused>;

    /// Takes it that nobody goes on with these calls any more, because their run has ended: nobody is asked about them from
    /// now on. Nothing by default, for executors that keep no such calls.
    ///
    /// # Cancel safety
    ///
    /// Some of the calls may have been given up.
    async fn give_up(&self, calls: &[PendingCall]) {
        let _ = calls;
    }
}

/// Holds the calls of one model message, on whose behalf they are made, and the means to steer and cancel them.
///
/// ```
/// use haft_core::ToolCall;
/// use haft_tools_core::{Batch, CallScope};
/// use tokio_util::sync::CancellationToken;
///
/// let calls = vec![ToolCall::new("c1".parse()?, "glob", serde_json::json!({ "pattern": "*.rs" }))];
/// let stop = CancellationToken::new();
/// let batch = Batch::new(CallScope::new("run-1".parse()?), calls).cancelled_by(stop.child_token());
/// assert_eq!(batch.calls()[0].name, "glob");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Batch {
    pub(crate) scope: CallScope,
    pub(crate) calls: Vec<ToolCall>,
    /// What was changed in the input of each, if they were held back before.
    pub(crate) held: Option<Vec<Vec<Repair>>>,
    pub(crate) cancellation: Option<CancellationToken>,
    pub(crate) steering: Option<Arc<dyn Steering>>,
    pub(crate) registry: Option<ToolRegistry>,
    pub(crate) caller: Option<CallContext>,
    pub(crate) attended: Option<Arc<Attended>>,
}

impl Batch {
    /// Makes a batch that runs to its end.
    pub fn new(scope: CallScope, calls: Vec<ToolCall>) -> Self {
        Self {
            scope,
            calls,
            held: None,
            cancellation: None,
            steering: None,
            registry: None,
            caller: None,
            attended: None,
        }
    }

    /// Makes a batch of calls that were held back by others, now that these are answered.
    pub fn of_held(scope: CallScope, calls: impl IntoIterator<Item = HeldCall>) -> Self {
        let (calls, held) = calls.into_iter().map(|held| (held.call, held.repairs)).unzip();
        Self { held: Some(held), ..Self::new(scope, calls) }
    }

    /// Cancels the batch when the token is cancelled.
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancellation = Some(token);
        self
    }

    /// Asks before each call starts how the batch goes on.
    pub fn steered_by(mut self, steering: impl Steering) -> Self {
        self.steering = Some(Arc::new(steering));
        self
    }

    /// Finds the tools in this registry, such as the snapshot that the model was shown, and not in the executor's.
    pub fn with_registry(mut self, registry: ToolRegistry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Says which call makes these: that of a tool which runs an agent of its own.
    ///
    /// That call holds no room while it waits for these, its clock stands still while a person is asked about one of them,
    /// they are ordered in its place instead of behind it, and they are cancelled with it unless they have a token of
    /// their own. An executor in another tree than the one that runs the call shares no order with it.
    pub fn made_by(mut self, call: &CallContext) -> Self {
        self.caller = Some(call.clone());
        self
    }

    /// Asks this approver about these calls and about what they ask, and not the executor's.
    ///
    /// So one executor can serve several people, each of whom is asked about their own calls. It holds also for the calls
    /// that these make, unless their batch brings another.
    pub fn asked_through(mut self, approver: Arc<dyn Approver>) -> Self {
        Attended::ask(&mut self.attended, approver);
        self
    }

    /// Tells this observer what happens to these calls and to those that they make, beside the executor's
    /// [events](crate::Events).
    ///
    /// It sees the same events with the same numbers, without secrets; of other calls it sees none.
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        Attended::tell(&mut self.attended, observer);
        self
    }

    /// Has these calls attended to by those who attend to a call: whoever is [asked](Self::asked_through) about that one, and
    /// [told](Self::observed_by) of it, unless the batch has its own.
    ///
    /// For calls that are made because of it and do not belong to it, such as those of a run in the background; calls that
    /// are [made by](Self::made_by) a call are attended to so anyway. It does not matter whether the call has ended.
    pub fn attended_like(mut self, call: &CallContext) -> Self {
        self.attended = Attended::like(self.attended, call);
        self
    }

    /// The calls, in order.
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("scope", &self.scope)
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

/// Holds a person's late answer to a pending call.
///
/// ```
/// # use haft_core::ToolCall;
/// # use haft_tools_core::{Accesses, Batch, CallContext, CallScope, LocalExecutor, ToolExecutor as _, ToolRegistry, tool_fn};
/// # use serde_json::json;
/// use haft_tools_core::{Approval, CallOutcome, PendingCall, Resumption, approver_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {}
/// # let greet = tool_fn("greet", "Greets.", Accesses::none(), |_: Input, _: CallContext| async {
/// #     Ok::<_, haft_core::ToolError>("Good morning.")
/// # })?;
/// # let registry = ToolRegistry::new().with(greet)?;
/// # let call = ToolCall::new("c1".parse()?, "greet", json!({}));
/// # let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
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

    /// Says which call makes this one, as [`Batch::made_by`] does.
    pub fn made_by(mut self, call: &CallContext) -> Self {
        self.caller = Some(call.clone());
        self
    }

    /// Finds the tool in this registry, and not in the executor's.
    pub fn with_registry(mut self, registry: ToolRegistry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Asks this approver about the call, as [`Batch::asked_through`] does.
    pub fn asked_through(mut self, approver: Arc<dyn Approver>) -> Self {
        Attended::ask(&mut self.attended, approver);
        self
    }

    /// Has the call attended to by those who attend to another, as [`Batch::attended_like`] does.
    pub fn attended_like(mut self, call: &CallContext) -> Self {
        self.attended = Attended::like(self.attended, call);
        self
    }

    /// Tells this observer what happens to the call, as [`Batch::observed_by`] does.
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

/// Says what became of one call.
///
/// ```
/// # use haft_core::ToolCall;
/// # use haft_tools_core::{Accesses, Batch, CallContext, CallScope, LocalExecutor, ToolExecutor as _, ToolRegistry, tool_fn};
/// # use serde_json::json;
/// use haft_tools_core::{AllowAll, CallOutcome};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {}
/// # let greet = tool_fn("greet", "Greets.", Accesses::none(), |_: Input, _: CallContext| async {
/// #     Ok::<_, haft_core::ToolError>("Good morning.")
/// # })?;
/// # let registry = ToolRegistry::new().with(greet)?;
/// # let call = ToolCall::new("c1".parse()?, "greet", json!({}));
/// # let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
/// let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
/// for outcome in executor.execute_batch(batch).await.into_outcomes() {
///     match outcome {
///         CallOutcome::Replied(reply) => assert!(reply.status.is_ok()),
///         CallOutcome::Pending(call) => println!("{} waits for a person", call.call.id),
///         CallOutcome::Held(held) => println!("{} waits for {:?}", held.call.id, held.behind),
///         _ => println!("something newer"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every outcome is a reply, and it should not cost a box"
)]
pub enum CallOutcome {
    /// It was answered.
    Replied(ToolReply),
    /// It waits for a person.
    Pending(Box<PendingCall>),
    /// It conflicts with calls before it that wait for a person, and waits for them.
    Held(Box<HeldCall>),
}

/// Holds a call that was held back by others; it is taken up again with [`Batch::of_held`] when these are answered.
///
/// ```
/// use haft_core::ToolCall;
/// use haft_tools_core::{CallOutcome, HeldCall};
/// use serde_json::json;
///
/// let mut held = HeldCall::new(ToolCall::new("c2".parse()?, "read_file", json!({ "path": "a.txt" })));
/// held.behind = vec!["c1".parse()?];
/// assert_eq!(CallOutcome::Held(Box::new(held)).call_id().as_str(), "c2");
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeldCall {
    /// The call, with its input as it was repaired.
    pub call: ToolCall,
    /// What was changed in the input the model wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// The calls it waits for.
    pub behind: Vec<CallId>,
}

impl HeldCall {
    /// Makes one that waits for no other call, for a call that is to be taken up again.
    pub fn new(call: ToolCall) -> Self {
        Self { call, repairs: Vec::new(), behind: Vec::new() }
    }
}

/// Says why a pending call is not gone on with; nothing was run.
///
/// ```
/// # use haft_core::ToolCall;
/// # use haft_tools_core::{Accesses, Batch, CallContext, CallScope, LocalExecutor, ToolExecutor as _, ToolRegistry, tool_fn};
/// # use serde_json::json;
/// use haft_tools_core::{Approval, CallOutcome, PendingCall, ResumeRefused, Resumption, approver_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {}
/// # let greet = tool_fn("greet", "Greets.", Accesses::none(), |_: Input, _: CallContext| async {
/// #     Ok::<_, haft_core::ToolError>("Good morning.")
/// # })?;
/// # let registry = ToolRegistry::new().with(greet)?;
/// # let call = ToolCall::new("c1".parse()?, "greet", json!({}));
/// # let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
/// # let later = approver_fn(|_: &PendingCall| Approval::Later);
/// # let executor = LocalExecutor::builder(registry).approver(later).build();
/// # let mut outcomes = executor.execute_batch(batch).await.into_outcomes();
/// # let Some(CallOutcome::Pending(pending)) = outcomes.pop() else { return Err("it waits".into()) };
/// let scope = CallScope::new("run-1".parse()?);
/// let again = Resumption::new(scope.clone(), (*pending).clone(), Approval::Approve);
/// executor.resume(Resumption::new(scope, *pending, Approval::Approve)).await?;
/// let refused = executor.resume(again).await.unwrap_err();
/// assert!(matches!(refused, ResumeRefused::ResumedBefore { .. }), "each call goes on once at most");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeRefused {
    /// It was gone on with before.
    #[error(
        "the pending call `{id}` was resumed before, and a call runs once at most; look what it has done, and have \
             it called again if that is still needed"
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

impl CallOutcome {
    /// The call it is about.
    pub fn call_id(&self) -> &CallId {
        match self {
            Self::Replied(reply) => &reply.call_id,
            Self::Pending(pending) => &pending.call.id,
            Self::Held(held) => &held.call.id,
        }
    }

    /// Answers a call that was being executed when its process ended: nobody knows what became of it, so it is not repeated.
    pub fn lost(call: &ToolCall) -> Self {
        let output = ToolOutput::text(
            "the program ended while this call was due, so whether it had its effect is not known; look before you repeat \
             it",
        );
        let status = ReplyStatus::Error(ErrorKind::Failed);
        Self::Replied(ToolReply::new(call.id.clone(), call.name.clone(), status, output))
    }
}

/// Holds what became of the calls of a batch: one outcome each, in their order.
///
/// ```
/// # use haft_core::ToolCall;
/// # use haft_tools_core::{Accesses, Batch, CallContext, CallScope, LocalExecutor, ToolExecutor as _, ToolRegistry, tool_fn};
/// # use serde_json::json;
/// use haft_tools_core::AllowAll;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {}
/// # let greet = tool_fn("greet", "Greets.", Accesses::none(), |_: Input, _: CallContext| async {
/// #     Ok::<_, haft_core::ToolError>("Good morning.")
/// # })?;
/// # let registry = ToolRegistry::new().with(greet)?;
/// # let call = ToolCall::new("c1".parse()?, "greet", json!({}));
/// # let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
/// let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
/// let outcome = executor.execute_batch(batch).await;
/// match outcome.into_replies() {
///     Ok(replies) => assert_eq!(replies[0].output.to_text(), "Good morning."),
///     Err(pending) => println!("{pending}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BatchOutcome(Vec<CallOutcome>);

impl BatchOutcome {
    /// Collects the outcomes, which must be in the order of the calls.
    pub fn new(outcomes: Vec<CallOutcome>) -> Self {
        Self(outcomes)
    }

    /// Borrows the outcomes, in the order of the calls.
    pub fn outcomes(&self) -> &[CallOutcome] {
        &self.0
    }

    /// Takes the outcomes, in the order of the calls.
    pub fn into_outcomes(self) -> Vec<CallOutcome> {
        self.0
    }

    /// Takes the replies, in the order of the calls.
    ///
    /// # Errors
    ///
    /// When calls wait for a person; the error gives them, and all outcomes.
    pub fn into_replies(self) -> Result<Vec<ToolReply>, PendingCalls> {
        if !self.0.iter().all(|outcome| matches!(outcome, CallOutcome::Replied(_))) {
            return Err(PendingCalls(self));
        }
        let replies = self.0.into_iter().filter_map(|outcome| match outcome {
            CallOutcome::Replied(reply) => Some(reply),
            CallOutcome::Pending(_) | CallOutcome::Held(_) => None,
        });
        Ok(replies.collect())
    }
}

/// Says that calls of a batch wait for a person; nothing of the other calls' replies is lost.
///
/// ```
/// # use haft_core::ToolCall;
/// # use haft_tools_core::{Accesses, Batch, CallContext, CallScope, LocalExecutor, ToolExecutor as _, ToolRegistry, tool_fn};
/// # use serde_json::json;
/// use haft_tools_core::{Approval, PendingCall, approver_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {}
/// # let greet = tool_fn("greet", "Greets.", Accesses::none(), |_: Input, _: CallContext| async {
/// #     Ok::<_, haft_core::ToolError>("Good morning.")
/// # })?;
/// # let registry = ToolRegistry::new().with(greet)?;
/// # let call = ToolCall::new("c1".parse()?, "greet", json!({}));
/// # let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
/// let later = approver_fn(|_: &PendingCall| Approval::Later);
/// let executor = LocalExecutor::builder(registry).approver(later).build();
/// let pending = executor.execute_batch(batch).await.into_replies().unwrap_err();
/// let waiting: Vec<_> = pending.iter().map(|call| call.call.name.as_str()).collect();
/// assert_eq!(waiting, ["greet"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCalls(BatchOutcome);

impl PendingCalls {
    /// Iterates over the calls that wait.
    pub fn iter(&self) -> impl Iterator<Item = &PendingCall> {
        self.0.outcomes().iter().filter_map(|outcome| match outcome {
            CallOutcome::Pending(pending) => Some(&**pending),
            CallOutcome::Replied(_) | CallOutcome::Held(_) => None,
        })
    }

    /// Takes all outcomes, in the order of the calls.
    pub fn into_outcome(self) -> BatchOutcome {
        self.0
    }
}

impl fmt::Display for PendingCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaves = self.iter().flat_map(PendingCall::leaves);
        let names: Vec<&str> = leaves.map(|pending| pending.call.name.as_str()).collect();
        write!(f, "waiting for an approval of {}", names.join(", "))
    }
}

impl std::error::Error for PendingCalls {}

/// Says, in the words the model reads, why a call was not run.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: ReplyStatus,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(status: ReplyStatus, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.status, ToolOutput::text(refusal.message))
    }
}
