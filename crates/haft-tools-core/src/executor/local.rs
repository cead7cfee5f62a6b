use super::asking;
use super::attended::Attended;
use super::control::Control;
use super::course::{Ahead, Course};
use super::frame::Frame;
use super::read::scope_below;
use super::record::Record;
use super::strategy::{self, Strategy};
use super::{
    Batch, BatchOutcome, CallOutcome, Cancel, Resumption, ResumptionError, SpanContent, ToolExecutor,
};
use crate::admission::{Admission, Widths};
use crate::registry::Entry;
use crate::{
    Approval, Approver, CallContext, CallScope, Claim, DenyAll, Events, Grants, Journal, Layer, Limits,
    MemoryPending, ModeSwitch, OutputStore, PendingCall, PendingStore, Policy, Redactor, Selector,
    ToolLimits, ToolRegistry,
};
use async_trait::async_trait;
use haft_core::{Repair, ToolCall};
use serde_json::Value;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use tokio_util::sync::CancellationToken;

/// Executes calls in this process.
///
/// Cheap to clone; clones are the same executor. Must be used within a tokio runtime with its timer enabled.
///
/// ```
/// use haft_tools_core::{Limits, LocalExecutor, Policy, Rule, Strategy, ToolRegistry};
/// use std::time::Duration;
///
/// let executor = LocalExecutor::builder(ToolRegistry::new())
///     .policy(Policy::new().allow(Rule::tools("read_*".parse()?)))
///     .limits(Limits { timeout: Duration::from_secs(30), ..Limits::default() })
///     .strategy(Strategy::ByAccess)
///     .build();
/// assert_eq!(executor.registry().names().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LocalExecutor(Arc<Shared>);

/// Configures a [`LocalExecutor`]; without any setting everything is asked and nobody is there to answer.
///
/// ```
/// use haft_tools_core::{AllowAll, LocalExecutor, Mode, ModeSwitch, Strategy, ToolRegistry, Widths};
///
/// let mode = ModeSwitch::new(Mode::Plan);
/// let executor = LocalExecutor::builder(ToolRegistry::new())
///     .approver(AllowAll)
///     .mode(&mode)
///     .strategy(Strategy::Sequential)
///     .widths(&Widths { execute: 1, ..Widths::default() })
///     .build();
/// // From now on files may be changed.
/// mode.set(Mode::AcceptEdits);
/// # let _ = executor;
/// ```
#[must_use = "a builder does nothing until it builds"]
pub struct LocalExecutorBuilder {
    shared: Shared,
    tool_limits: Vec<(Selector, ToolLimits)>,
    widths: Widths,
    tree: Option<Arc<Admission>>,
}

pub(super) struct Shared {
    pub(super) registry: ToolRegistry,
    pub(super) policy: Policy,
    pub(super) mode: ModeSwitch,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) grants: Grants,
    pub(super) pending: Arc<dyn PendingStore>,
    pub(super) strategy: Strategy,
    pub(super) limits: Limits,
    /// The same for tools that bound their replies themselves.
    bounded: Limits,
    /// The limits of the tools that have limits of their own, and the same for those of them that bound their replies.
    tool_limits: Vec<(Selector, [Limits; 2])>,
    pub(super) layers: Vec<Arc<dyn Layer>>,
    pub(super) span_content: SpanContent,
    pub(super) events: Events,
    pub(super) journal: Journal,
    pub(super) outputs: Option<Arc<dyn OutputStore>>,
    pub(super) redactor: Redactor,
    pub(super) admission: Arc<Admission>,
}

impl LocalExecutor {
    /// Starts to configure an executor of these tools.
    pub fn builder(registry: ToolRegistry) -> LocalExecutorBuilder {
        let shared = Shared {
            registry,
            policy: Policy::new(),
            mode: ModeSwitch::default(),
            approver: Arc::new(DenyAll),
            grants: Grants::default(),
            pending: Arc::new(MemoryPending::new()),
            strategy: Strategy::default(),
            limits: Limits::default(),
            bounded: Limits::default(),
            tool_limits: Vec::new(),
            layers: Vec::new(),
            span_content: SpanContent::default(),
            events: Events::default(),
            journal: Journal::default(),
            outputs: None,
            redactor: Redactor::new(),
            admission: Arc::new(Admission::new(&Widths::default())),
        };
        LocalExecutorBuilder { shared, tool_limits: Vec::new(), widths: Widths::default(), tree: None }
    }

    /// The tools it executes, unless a batch brings its own.
    pub fn registry(&self) -> &ToolRegistry {
        &self.0.registry
    }

    /// Where outputs are stored that a reply cannot hold whole, if they are.
    pub fn outputs(&self) -> Option<&Arc<dyn OutputStore>> {
        self.0.outputs.as_ref()
    }

    /// Where the calls are kept that wait for a person.
    pub fn pending(&self) -> &Arc<dyn PendingStore> {
        &self.0.pending
    }

    /// Tells whether the two share order and widths.
    pub fn is_in_tree_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.admission, &other.0.admission)
    }

    /// Cancels calls that are under way in this executor's tree, and tells how many; each gets its reply.
    ///
    /// Calls of a batch that have not begun are cancelled too. A call that is the only one of its batch is under way
    /// once it had to wait for something.
    ///
    /// ```
    /// # use haft_tools_core::{Cancel, LocalExecutor, ToolRegistry};
    /// let executor = LocalExecutor::builder(ToolRegistry::new()).build();
    /// assert_eq!(executor.cancel(&Cancel::Run("run-1".parse()?)), 0);
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    pub fn cancel(&self, which: &Cancel) -> usize {
        self.0.admission.live.cancel(which)
    }

    /// Waits until no task of a call is left in this executor's tree, abandoned ones included.
    ///
    /// Calls that begin meanwhile are waited for too.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn idle(&self) {
        let tasks = &self.0.admission.tasks;
        // A tracker that is not closed never says that it is empty.
        tasks.close();
        tasks.wait().await;
    }

    /// Counts the tasks of calls in this executor's tree that have not ended, abandoned ones included.
    pub fn task_count(&self) -> usize {
        self.0.admission.tasks.len()
    }
}

impl LocalExecutorBuilder {
    /// Decides calls by this policy; by default everything is asked.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.shared.policy = policy;
        self
    }

    /// Decides calls in the mode that this switch is set to; [`Mode::Default`](crate::Mode::Default) by default.
    pub fn mode(mut self, mode: &ModeSwitch) -> Self {
        self.shared.mode = mode.clone();
        self
    }

    /// Asks this approver; by default everything that is asked is denied.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.shared.approver = Arc::new(approver);
        self
    }

    /// Remembers there what people have answered; by default for as long as the process lives.
    pub fn grants(mut self, grants: Grants) -> Self {
        self.shared.grants = grants;
        self
    }

    /// Keeps calls that wait for a person in this store, which sees to it that each goes on once at most; in memory by
    /// default.
    pub fn pending(mut self, store: Arc<dyn PendingStore>) -> Self {
        self.shared.pending = store;
        self
    }

    /// Overlaps the calls of a batch by this strategy; by what they touch by default.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.shared.strategy = strategy;
        self
    }

    /// Bounds what calls may take.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.shared.limits = limits;
        self
    }

    /// Bounds what calls of the chosen tools may take; the first selector that concerns a tool counts.
    pub fn tool_limits(mut self, tools: Selector, limits: ToolLimits) -> Self {
        self.tool_limits.push((tools, limits));
        self
    }

    /// Wraps the running of calls in a layer, within those that were added before.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.shared.layers.push(Arc::new(layer));
        self
    }

    /// Says whether the spans of calls hold their arguments and results; left out by default.
    pub fn span_content(mut self, content: SpanContent) -> Self {
        self.shared.span_content = content;
        self
    }

    /// Bounds how many calls of each class run at once.
    ///
    /// Without effect on an executor that is [in the tree of another](Self::in_tree_of): the other's widths hold.
    pub fn widths(mut self, widths: &Widths) -> Self {
        self.widths = widths.clone();
        self
    }

    /// Shares order and widths with another executor, as those of one tree of agents have to.
    ///
    /// Calls of both that touch the same things then wait for each other, and together they are no more at once than the
    /// other's widths say.
    pub fn in_tree_of(mut self, other: &LocalExecutor) -> Self {
        self.tree = Some(Arc::clone(&other.0.admission));
        self
    }

    /// Tells these observers what happens.
    pub fn events(mut self, events: Events) -> Self {
        self.shared.events = events;
        self
    }

    /// Records every call in this journal; a call whose beginning cannot be recorded does not run.
    pub fn journal(mut self, journal: Journal) -> Self {
        self.shared.journal = journal;
        self
    }

    /// Stores outputs that a reply cannot hold whole; by default what is cut from them is lost.
    ///
    /// The tool [`read_output`](crate::ReadOutput) over the same store lets the model read them.
    pub fn outputs(mut self, outputs: Arc<dyn OutputStore>) -> Self {
        self.shared.outputs = Some(outputs);
        self
    }

    /// Replaces the secrets that are registered with this redactor in replies, in what is stored of them, in the journal,
    /// in spans, and in all that is told by the executor's events, whoever causes it.
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.shared.redactor = redactor;
        self
    }

    /// Makes the executor.
    pub fn build(self) -> LocalExecutor {
        let Self { mut shared, tool_limits, widths, tree } = self;
        shared.admission = tree.unwrap_or_else(|| Arc::new(Admission::new(&widths)));
        shared.events.redacted_by(&shared.redactor);
        let all = &shared.limits;
        let within_all = |(tools, own): (Selector, ToolLimits)| {
            let own = own.within(all);
            (tools, [own.for_bounded(), own])
        };
        shared.tool_limits = tool_limits.into_iter().map(within_all).collect();
        shared.bounded = all.for_bounded();
        LocalExecutor(Arc::new(shared))
    }
}

#[async_trait]
impl ToolExecutor for LocalExecutor {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        let Batch { scope, mut calls, held, cancellation, steering, registry, caller, attended } = batch;
        let control = Control::new(token(cancellation, caller.as_ref()), steering);
        let frame = self.frame(scope, control, registry, caller, attended);
        if frame.caller.is_some() || calls.len() > 1 || held.is_some() {
            // On the heap, so that batches of one call stay small.
            return BatchOutcome::new(Box::pin(execute_several(&frame, calls, held)).await);
        }
        let gone = poll_fn(|task| {
            // On the stack, and not moved from there: most calls need not wait, and what they take is large.
            let gone = calls.pop().map(|call| {
                let mut ahead = Ahead::begin(&frame, call, strategy::turn_of_batch(&frame));
                match ahead.go(task) {
                    Ok(outcome) => Ok(vec![outcome]),
                    Err(left) => Err(ahead.wait(left)),
                }
            });
            Poll::Ready(gone)
        });
        BatchOutcome::new(match gone.await {
            None => Vec::new(),
            Some(Ok(outcomes)) => outcomes,
            Some(Err(waiting)) => vec![waiting.await],
        })
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumptionError> {
        let Resumption { scope, pending, approval, cancellation, registry, caller, attended } = resumption;
        if approval.waits() {
            return Ok(CallOutcome::Pending(Box::new(pending)));
        }
        if pending.is_expired() && !approval.denies() {
            return Err(ResumptionError::Expired { id: pending.id });
        }
        if matches!(approval, Approval::Edit { .. }) && pending.has_begun() {
            return Err(ResumptionError::Begun { id: pending.id });
        }
        match self.0.pending.claim(&pending).await {
            Ok(Claim::Taken) => {}
            Ok(Claim::TakenBefore) => return Err(ResumptionError::ResumedBefore { id: pending.id }),
            Ok(Claim::OtherDigest) => return Err(ResumptionError::OtherDigest { id: pending.id }),
            Err(source) => return Err(ResumptionError::Unclaimed { id: pending.id, source }),
        }
        let control = Control::new(token(cancellation, caller.as_ref()), None);
        let frame = self.frame(scope, control, registry, caller, attended);
        asking::remember_denial(&frame, &approval, &pending).await;
        let course = Course::from(Ahead::resume(&frame, pending, approval, strategy::turn(&frame)));
        Ok(match &frame.caller {
            Some(caller) => Box::pin(caller.room().lend_while(course)).await,
            None => course.await,
        })
    }

    async fn give_up(&self, calls: &[PendingCall]) {
        for call in calls {
            for leaf in call.leaves() {
                self.0.withdraw(leaf).await;
            }
            if call.waits_below() {
                self.0.withdraw(call).await;
            }
        }
    }
}

impl Shared {
    /// Has nobody asked about a call any more; whoever has claimed it has gone on with it.
    async fn withdraw(&self, call: &PendingCall) {
        if let Err(error) = self.pending.claim(call).await {
            tracing::warn!(call = %call.id, %error, "a call that waited could not be given up");
        }
    }
}

/// Keeps the calls of a batch that are held back until its caller has them; dropped before, nobody can take them up, and
/// they end as those do that were running.
struct Kept<'a>(&'a Arc<Frame>);

impl Kept<'_> {
    fn hand_over(self) {
        std::mem::forget(self);
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        for (id, name) in self.0.take_held() {
            drop(Record::resume(self.0, ToolCall::new(id, name, Value::Null)));
        }
    }
}

/// Chooses what cancels a batch: its own token, or that of the calls its caller makes.
fn token(own: Option<CancellationToken>, caller: Option<&CallContext>) -> Option<CancellationToken> {
    own.or_else(|| caller.map(|caller| caller.calls_token().clone()))
}

/// Executes calls on behalf of who makes them.
async fn execute_several(
    frame: &Arc<Frame>,
    calls: Vec<ToolCall>,
    held: Option<Vec<Vec<Repair>>>,
) -> Vec<CallOutcome> {
    let kept = Kept(frame);
    let work = strategy::execute(frame, calls, held);
    let outcomes = match &frame.caller {
        Some(caller) => caller.room().lend_while(work).await,
        None => work.await,
    };
    kept.hand_over();
    outcomes
}

impl LocalExecutor {
    fn frame(
        &self,
        scope: CallScope,
        control: Control,
        registry: Option<ToolRegistry>,
        caller: Option<CallContext>,
        attended: Option<Arc<Attended>>,
    ) -> Arc<Frame> {
        let outer = caller.as_ref().and_then(CallContext::frame);
        let scope = scope_below(scope, caller.as_ref());
        let nesting = outer.map_or(0, |outer| outer.nesting + 1);
        let attended = Attended::within(attended, outer.and_then(|outer| outer.attended.as_ref()));
        let shared = Arc::clone(&self.0);
        let left = OnceLock::new();
        Arc::new(Frame { shared, registry, scope, control, caller, attended, nesting, may_wait: true, left })
    }
}

impl Shared {
    /// Finds the limits of a tool's calls.
    pub(super) fn limits_of(&self, entry: &Entry) -> &Limits {
        let own = self.tool_limits.iter().find(|(tools, _)| tools.concerns(&entry.spec));
        let [bounded, cut] = own.map_or([&self.bounded, &self.limits], |(_, limits)| limits.each_ref());
        if entry.bounds_replies { bounded } else { cut }
    }
}

impl fmt::Debug for LocalExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for LocalExecutorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(f)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalExecutor")
            .field("registry", &self.registry)
            .field("policy", &self.policy)
            .field("strategy", &self.strategy)
            .field("limits", &self.limits)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}
