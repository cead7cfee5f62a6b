use super::approve::{self, Approved};
use super::decide::{Authorized, Decided, decide};
use super::prepare::prepare;
use super::record::Record;
use super::resolve::resolve;
use super::run::{cancelled_before_start, run};
use super::schedule::{Strategy, schedule};
use super::shape::shape;
use super::validate::validate;
use super::{Batch, BatchOutcome, CallOutcome, Refusal, Resumption, ToolExecutor};
use crate::registry::Entry;
use crate::{
    Approval, Approver, CallContext, CallScope, DenyAll, Events, Limits, PendingCall, Policy, Prepared,
    ToolRegistry,
};
use async_trait::async_trait;
use haft_core::{Decision, ErrorKind, Repair, ReplyStatus, ToolCall, ToolOutput, ToolReply};
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

struct Shared {
    registry: ToolRegistry,
    policy: Policy,
    approver: Arc<dyn Approver>,
    strategy: Strategy,
    limits: Limits,
    events: Events,
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

    /// Overlaps the calls of a batch by this strategy; sequential by default.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.0.strategy = strategy;
        self
    }

    /// Bounds what calls may take.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
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
        let repeated = repeated_ids(&calls);
        let surroundings = Surroundings {
            shared: &self.0,
            scope: &Arc::new(scope),
            cancellation: &cancellation,
            nesting: 0,
        };
        let numbered = calls.into_iter().enumerate().collect();
        let strategy = self.0.strategy;
        let outcomes = schedule(strategy, self.0.limits.width, numbered, |(place, call)| {
            surroundings.execute(call, repeated.contains(&place))
        });
        BatchOutcome::new(outcomes.await)
    }

    async fn resume(&self, resumption: Resumption) -> CallOutcome {
        let Resumption { scope, pending, approval, cancellation } = resumption;
        let surroundings = Surroundings {
            shared: &self.0,
            scope: &Arc::new(scope),
            cancellation: &cancellation,
            nesting: 0,
        };
        surroundings.resume(pending, approval).await
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

/// Where a call is made: by which executor, on whose behalf, how deep, and how it is cancelled.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    shared: &'a Arc<Shared>,
    scope: &'a Arc<CallScope>,
    cancellation: &'a CancellationToken,
    nesting: u32,
}

/// Why a call went no further: it was refused, or it waits.
enum Halt {
    Refused(Refusal),
    Waits(Box<PendingCall>),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// What has been answered about a call before it is decided.
enum Answer {
    /// Nothing: ask if the policy says so.
    None,
    /// A person gave this answer to this pending call.
    Given(Approval, Box<PendingCall>),
    /// A person wrote this very input, which is as good as approving it.
    Wrote,
}

impl Surroundings<'_> {
    /// Takes a call through all stages.
    async fn execute(self, mut call: ToolCall, repeated: bool) -> CallOutcome {
        let record = Record::start(&self.shared.events, self.scope, &call);
        let mut repairs = Vec::new();
        let result = if repeated {
            Err(Refusal::new(ReplyStatus::Error(ErrorKind::InvalidInput), repeated_id(&call)).into())
        } else {
            self.attempt(&mut call, &mut repairs, Answer::None, &record).await
        };
        self.conclude(&call, repairs, record, result)
    }

    /// Takes a call that waited through all stages, with the answer it waited for.
    async fn resume(self, pending: PendingCall, approval: Approval) -> CallOutcome {
        let (mut call, mut repairs) = (pending.call.clone(), pending.repairs.clone());
        let record = Record::resume(&self.shared.events, self.scope, &call);
        let answer = Answer::Given(approval, Box::new(pending));
        let result = self.attempt(&mut call, &mut repairs, answer, &record).await;
        self.conclude(&call, repairs, record, result)
    }

    async fn attempt(
        self,
        call: &mut ToolCall,
        repairs: &mut Vec<Repair>,
        mut answer: Answer,
        record: &Record<'_>,
    ) -> Result<ToolOutput, Halt> {
        if self.cancellation.is_cancelled() {
            return Err(cancelled_before_start().into());
        }
        if let Answer::Given(approval @ Approval::Deny { reason }, _) = &answer {
            record.answered(approval);
            return Err(approve::not_approved(reason).into());
        }
        let entry = resolve(&self.shared.registry, call)?;
        loop {
            repairs.extend(validate(entry, call)?);
            let prepared = prepare(entry, call, self.scope)?;
            let decided = decide(&self.shared.policy, entry, prepared, |decision, reason| {
                record.decided(decision, reason);
            })?;
            let approved = match (decided, answer) {
                (
                    Decided::Allowed(authorized),
                    Answer::None | Answer::Wrote | Answer::Given(Approval::Approve, _),
                ) => Approved::Run(authorized),
                (Decided::Asked(prepared), Answer::Wrote) => {
                    record.decided(Decision::Allow, &|| "approved with other arguments".to_owned());
                    Approved::Run(Authorized::by_approval(prepared))
                }
                (decided, Answer::Given(approval, pending)) => {
                    let prepared = decided.into_prepared();
                    if approve::digest(entry, call, &prepared, self.scope) == pending.digest {
                        record.answered(&approval);
                        approve::apply(approval, prepared, *pending)?
                    } else {
                        self.ask(call, repairs, entry, prepared, record).await?
                    }
                }
                (Decided::Asked(prepared), Answer::None) => {
                    self.ask(call, repairs, entry, prepared, record).await?
                }
            };
            match approved {
                Approved::Run(authorized) => return self.perform(authorized, call, entry).await,
                Approved::Waits(pending) => return Err(Halt::Waits(pending)),
                Approved::Again(input) => {
                    *repairs = vec![approve::edited(&call.input, &input)];
                    call.input = input;
                    answer = Answer::Wrote;
                }
            }
        }
    }

    /// Asks the approver, for as long as the call is not cancelled.
    async fn ask(
        self,
        call: &ToolCall,
        repairs: &[Repair],
        entry: &Entry,
        prepared: Prepared,
        record: &Record<'_>,
    ) -> Result<Approved, Refusal> {
        let Shared { policy, approver, limits, .. } = &**self.shared;
        let asking = async {
            let pending =
                approve::pending_call(policy, entry, call, repairs, &prepared, self.scope, limits.timeout)
                    .await?;
            record.asked(&pending);
            let approval = approve::ask(&**approver, &pending).await;
            Ok((approval, pending))
        };
        let (approval, pending) = tokio::select! {
            biased;
            () = self.cancellation.cancelled() => return Err(cancelled_before_start()),
            asked = asking => asked?,
        };
        record.answered(&approval);
        approve::apply(approval, prepared, pending)
    }

    /// Runs what was authorized.
    async fn perform(
        self,
        authorized: Authorized,
        call: &ToolCall,
        entry: &Entry,
    ) -> Result<ToolOutput, Halt> {
        let shared = self.shared;
        let nested = NestedCalls { shared: Arc::clone(shared), nesting: self.nesting + 1 };
        let cx = CallContext::new(
            call.id.clone(),
            Arc::clone(&entry.name),
            Arc::clone(self.scope),
            self.cancellation.child_token(),
            shared.events.clone(),
            Some(nested),
        );
        Ok(run(authorized, &cx, &shared.limits).await?)
    }

    /// Answers a call, or leaves it open for the answer of a person.
    fn conclude(
        self,
        call: &ToolCall,
        repairs: Vec<Repair>,
        record: Record<'_>,
        result: Result<ToolOutput, Halt>,
    ) -> CallOutcome {
        match result {
            Ok(output) => CallOutcome::Replied(self.reply(call, repairs, record, Ok(output))),
            Err(Halt::Refused(refusal)) => {
                CallOutcome::Replied(self.reply(call, repairs, record, Err(refusal)))
            }
            Err(Halt::Waits(pending)) => {
                record.wait();
                CallOutcome::Pending(pending)
            }
        }
    }

    /// Shapes what a call is answered with, whether it ran or not, and records it.
    fn reply(
        self,
        call: &ToolCall,
        repairs: Vec<Repair>,
        record: Record<'_>,
        answer: Result<ToolOutput, Refusal>,
    ) -> ToolReply {
        let (status, output) = match answer {
            Ok(output) => (ReplyStatus::Ok, output),
            Err(Refusal { status, message }) => (status, ToolOutput::text(message)),
        };
        let (output, truncation) = shape(output, self.shared.limits.output_bytes, &repairs);
        let mut reply = ToolReply::new(call.id.clone(), call.name.clone(), status, output);
        reply.truncation = truncation;
        reply.repairs = repairs;
        record.finish(reply)
    }
}

fn repeated_id(call: &ToolCall) -> String {
    format!("an earlier call of this message has the id `{}` too; give each call an id of its own", call.id)
}

/// Lets a running tool call others through the executor that runs it.
#[derive(Clone)]
pub(crate) struct NestedCalls {
    shared: Arc<Shared>,
    nesting: u32,
}

impl NestedCalls {
    pub(crate) async fn call(
        &self,
        call: ToolCall,
        scope: &Arc<CallScope>,
        cancellation: &CancellationToken,
    ) -> ToolReply {
        let limit = self.shared.limits.nesting;
        let surroundings = Surroundings { shared: &self.shared, scope, cancellation, nesting: self.nesting };
        let record = Record::start(&self.shared.events, scope, &call);
        let (mut inner, mut repairs) = (call.clone(), Vec::new());
        let result = if self.nesting > limit {
            let message =
                format!("calls made by tools may nest {limit} deep at most; make this call yourself");
            Err(Halt::Refused(Refusal::new(ReplyStatus::Denied, message)))
        } else {
            // The future of a call holds the future of the tool that makes it, so one of them has to be on the heap.
            Box::pin(surroundings.attempt(&mut inner, &mut repairs, Answer::None, &record)).await
        };
        let answer = result.map_err(|halt| match halt {
            Halt::Refused(refusal) => refusal,
            Halt::Waits(_) => Refusal::new(
                ReplyStatus::Denied,
                "this call needs an approval that comes later, which a call made by a tool cannot wait for; make it \
                 yourself",
            ),
        });
        surroundings.reply(&call, repairs, record, answer)
    }
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
