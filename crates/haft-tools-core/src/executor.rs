mod asking;
mod attended;
mod control;
mod course;
mod decide;
mod frame;
mod live;
mod local;
mod nested;
mod outcome;
mod prepare;
mod read;
mod record;
mod resolve;
mod resumption;
mod run;
mod shape;
mod span;
mod strategy;
mod told_call;
mod validate;

pub(crate) use asking::ask_person;
pub(crate) use attended::Attended;
pub(crate) use frame::{Frame, StoppedClocks};
pub use live::Cancel;
pub(crate) use live::LiveCalls;
pub use local::{LocalExecutor, LocalExecutorBuilder};
pub(crate) use nested::call_nested;
pub use outcome::{BatchOutcome, CallOutcome, HeldCall, PendingCallsError};
pub use resumption::{Resumption, ResumptionError};
pub(crate) use shape::shape_news;
pub use span::SpanContent;
pub use strategy::Strategy;
pub use told_call::ToldCall;

use crate::{Approver, CallContext, CallScope, LayerAnswer, Observer, PendingCall, Steering, ToolRegistry};
use async_trait::async_trait;
use haft_core::{Repair, ReplyStatus, ToolCall, ToolOutput};
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Executes the calls of a model, in this process or elsewhere.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{AllowAll, Batch, LocalExecutor, ToolExecutor};
///
/// /// Makes one call by whatever executor there is.
/// async fn greeting(executor: &dyn ToolExecutor, batch: Batch) -> Option<String> {
///     let replies = executor.execute_batch(batch).await.into_replies().ok()?;
///     replies.first().map(|reply| reply.output.to_text())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = house::registry()?;
/// # let batch = house::batch()?;
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
    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumptionError>;

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

impl From<Refusal> for LayerAnswer {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.status, ToolOutput::text(refusal.message))
    }
}
