use super::course::{Course, Surroundings};
use super::schedule::Strategy;
use super::{Batch, BatchOutcome, CallOutcome, Resumption, ToolExecutor};
use crate::admission::{Admission, Turn, Widths};
use crate::{Approver, CallScope, DenyAll, Events, Limits, Policy, ToolRegistry};
use async_trait::async_trait;
use futures_util::future::join_all;
use haft_core::ToolCall;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Executes calls in this process.
///
/// Cheap to clone; clones are the same executor. Must be used within a tokio runtime with its timer enabled.
#[derive(Clone)]
pub struct LocalExecutor(Arc<Shared>);

/// Configures a [`LocalExecutor`]; without any setting everything is asked and nobody is there to answer.
#[must_use = "a builder does nothing until it builds"]
pub struct LocalExecutorBuilder(Shared);

pub(super) struct Shared {
    pub(super) registry: ToolRegistry,
    pub(super) policy: Policy,
    pub(super) approver: Arc<dyn Approver>,
    strategy: Strategy,
    pub(super) limits: Limits,
    pub(super) events: Events,
    pub(super) admission: Arc<Admission>,
}

impl LocalExecutor {
    /// Starts to configure an executor of these tools.
    pub fn builder(registry: ToolRegistry) -> LocalExecutorBuilder {
        LocalExecutorBuilder(Shared {
            registry,
            policy: Policy::new(),
            approver: Arc::new(DenyAll),
            strategy: Strategy::default(),
            limits: Limits::default(),
            events: Events::default(),
            admission: Arc::new(Admission::new(&Widths::default())),
        })
    }

    /// The tools it executes.
    pub fn registry(&self) -> &ToolRegistry {
        &self.0.registry
    }
}

impl LocalExecutorBuilder {
    /// Decides calls by this policy; by default everything is asked.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.0.policy = policy;
        self
    }

    /// Asks this approver; by default everything that is asked is denied.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.0.approver = Arc::new(approver);
        self
    }

    /// Overlaps the calls of a batch by this strategy; by what they touch by default.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.0.strategy = strategy;
        self
    }

    /// Bounds what calls may take.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Bounds how many calls of each class run at once.
    ///
    /// Calls in a new set of bounds and in an order of their own: set it before [`Self::in_tree_of`], or not at all.
    pub fn widths(mut self, widths: &Widths) -> Self {
        self.0.admission = Arc::new(Admission::new(widths));
        self
    }

    /// Shares order and widths with another executor, as those of one tree of agents have to.
    ///
    /// Calls of both that touch the same things then wait for each other, and together they are no more at once than the
    /// other's widths say.
    pub fn in_tree_of(mut self, other: &LocalExecutor) -> Self {
        self.0.admission = Arc::clone(&other.0.admission);
        self
    }

    /// Tells these observers what happens.
    pub fn events(mut self, events: Events) -> Self {
        self.0.events = events;
        self
    }

    /// Makes the executor.
    pub fn build(self) -> LocalExecutor {
        LocalExecutor(Arc::new(self.0))
    }
}

#[async_trait]
impl ToolExecutor for LocalExecutor {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        let Batch { scope, calls, cancellation } = batch;
        let scope = Arc::new(scope);
        let around = self.around(&scope, &cancellation);
        let repeated = repeated_ids(&calls);
        let (ordered, width) = match self.0.strategy {
            Strategy::ByAccess => (true, usize::MAX),
            Strategy::Sequential => (true, 1),
            Strategy::Parallel => (false, usize::MAX),
            Strategy::Batched { size } => (false, size.get()),
        };
        let (count, numbered) = (calls.len(), calls.into_iter().enumerate());
        let mut courses = numbered.map(|(place, call)| {
            let course = Course::begin(around, call, repeated.contains(&place));
            if ordered { course.in_order(Turn::new(&self.0.admission)).finish() } else { course.finish() }
        });
        let mut outcomes = Vec::with_capacity(count);
        if width == 1 || count == 1 {
            for course in courses {
                outcomes.push(course.await);
            }
        } else {
            while outcomes.len() < count {
                // What is side by side takes its places, in the order of the model, before any of it starts.
                let side_by_side: Vec<_> = courses.by_ref().take(width).collect();
                outcomes.extend(join_all(side_by_side).await);
            }
        }
        BatchOutcome::new(outcomes)
    }

    async fn resume(&self, resumption: Resumption) -> CallOutcome {
        let Resumption { scope, pending, approval, cancellation } = resumption;
        let scope = Arc::new(scope);
        let course = Course::resume(self.around(&scope, &cancellation), pending, approval);
        course.in_order(Turn::new(&self.0.admission)).finish().await
    }
}

impl LocalExecutor {
    fn around<'a>(
        &'a self,
        scope: &'a Arc<CallScope>,
        cancellation: &'a CancellationToken,
    ) -> Surroundings<'a> {
        Surroundings { shared: &self.0, scope, cancellation, nesting: 0 }
    }
}

/// Lists the places of calls whose id an earlier call of the batch has: two replies could not be told apart.
fn repeated_ids(calls: &[ToolCall]) -> HashSet<usize> {
    if calls.len() < 2 {
        return HashSet::new();
    }
    let mut seen = HashSet::with_capacity(calls.len());
    calls.iter().enumerate().filter(|(_, call)| !seen.insert(&call.id)).map(|(place, _)| place).collect()
}

impl fmt::Debug for LocalExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for LocalExecutorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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
