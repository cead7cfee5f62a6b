//! What a call goes through between the protocol and the executor: whom it is asked about through, how it is carried over
//! several requests, and what it is answered with.

mod answers;
mod approval_form;
mod approver;
mod begun;
mod elsewhere;
#[cfg(test)]
pub(super) mod fixture;
mod parked;
mod question_form;
mod random;
mod refusal;
mod relay;
mod rounds;
mod running;
mod spent;
mod task;
#[cfg(test)]
mod tests;
mod watch;

pub(crate) use answers::read_answer;
pub(crate) use parked::ParkedLimits;
pub(crate) use random::random;
pub(crate) use refusal::refusal;
pub(crate) use rounds::{RoundEnd, Rounds};
pub(crate) use spent::SpentNonces;
pub(crate) use task::{Task, TaskLimits, TaskStatus, Tasks};

use super::catalog::{Resolved, Shelf};
use super::line::{CallRequest, Calls, Fault, Line, Served};
use super::round::{Binding, Seal, Spent};
use super::toolbox::{CallingClient, Toolset};
use approver::{ClientApprover, Given};
use async_trait::async_trait;
use begun::Begun;
use elsewhere::{Attending, GoOn};
use haft_core::{CallId, ErrorKind, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use haft_tools_core::{Approver, Batch, CallOutcome, Observer, PendingCall, ToolRegistry};
use parked::Parked;
use random::random_name;
use relay::Relay;
use rounds::{APPROVAL, Asking, MOST_ROUNDS, Opened, Stopped, asked_too_often};
use running::{Running, Work};
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use watch::Watch;

/// The method that calls come by.
const METHOD: &str = "tools/call";

/// Finds the tool behind a served name, or answers in its place.
#[async_trait]
pub(crate) trait Names: Send + Sync + 'static {
    /// Gives the name in the toolset's registry and the input for it, or the reply of what stands for no tool.
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    async fn resolve(
        &self,
        toolset: &Arc<Toolset>,
        id: &CallId,
        served: &str,
        input: Value,
    ) -> Result<(String, Value), Box<ToolReply>>;
}

#[async_trait]
impl Names for Shelf {
    async fn resolve(
        &self,
        toolset: &Arc<Toolset>,
        id: &CallId,
        served: &str,
        input: Value,
    ) -> Result<(String, Value), Box<ToolReply>> {
        match self.of(toolset).resolve(id, served, input).await {
            Resolved::Call { name, input } => Ok((name, input)),
            Resolved::Reply(reply) => Err(reply),
        }
    }
}

/// Serves calls: each goes through the toolset's executor, and asks the person before its client.
pub(crate) struct ServedCalls {
    rounds: Rounds,
    names: Arc<dyn Names>,
    parked: Arc<Parked>,
    tasks: Arc<Tasks>,
}

impl ServedCalls {
    /// Serves calls whose states are sealed by this, each of which counts once; those that wait between rounds are bounded.
    pub(crate) fn new(
        seal: Arc<dyn Seal>,
        spent: Arc<dyn Spent>,
        names: Arc<dyn Names>,
        limits: ParkedLimits,
    ) -> Self {
        Self {
            rounds: Rounds::new(seal, spent),
            names,
            parked: Arc::new(Parked::within(limits)),
            tasks: Arc::default(),
        }
    }

    /// Bounds the calls that go on as tasks.
    pub(crate) fn with_tasks(mut self, limits: TaskLimits) -> Self {
        self.tasks = Arc::new(Tasks::within(limits));
        self
    }

    /// The calls that go on as tasks.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Cancels the calls that no request waits for, and waits until they have ended.
    pub(crate) async fn stop(&self) {
        tokio::join!(self.parked.stop(), self.tasks.stop());
    }

    /// The rounds of requests that are no calls.
    pub(crate) fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// Serves a call whose questions are requests of their own while it is open.
    ///
    /// Whether it may run is asked when the executor has left it to wait: a call that waits within the executor would hold
    /// back those of others that conflict with it, for as long as a person thinks.
    async fn call_in_session(
        &self,
        toolset: &Toolset,
        call: Call,
        given: Option<Given>,
        line: Arc<dyn Line>,
    ) -> Served {
        let relay = Relay::new(line, Answers::new());
        let running = start(toolset, call.clone(), relay, given);
        to_the_end(toolset, call, running).await
    }

    /// Serves one round of a call.
    async fn call_in_rounds(
        &self,
        toolset: &Arc<Toolset>,
        request: Request,
        line: Arc<dyn Line>,
    ) -> Result<Served, Fault> {
        let Request { served, sent, call, state, answers, given: elsewhere } = request;
        let principal = line.caller().principal.clone();
        let binding = Binding {
            principal: &principal,
            run: toolset.scope.run(),
            method: METHOD,
            tool: &served,
            input: &sent,
        };
        let mut opened = match self.rounds.open(state.as_deref(), answers, &binding) {
            Ok(opened) => opened,
            Err(Stopped::Fault(fault)) => return Err(fault),
            Err(Stopped::Told(message)) => return Ok(failed(&served, message)),
        };
        let given = std::mem::take(&mut opened.given);
        let again =
            line.caller().can.tasks.then(|| Again { toolset: Arc::clone(toolset), call: call.clone() });
        let running = if let Some(parked) = opened.parked.take() {
            if let Some(running) = self.parked.take(&parked, &principal) {
                running.relay.go_on(Arc::clone(&line), given);
                running
            } else if opened.approval.is_none() && may_begin_anew(&(toolset.tools)(), &call.tool) {
                start(toolset, call, Relay::new(Arc::clone(&line), given), None)
            } else {
                return Ok(failed(&served, INTERRUPTED));
            }
        } else {
            let has_session = line.caller().session.is_some();
            let answer = opened.approval_answer.take();
            let approval = answer.and_then(|raw| approval_form::read(&raw, has_session));
            let asked = opened.approval.take();
            let answered = asked.map(|(id, digest)| Given { id, digest, approval }).or(elsewhere);
            start(toolset, call, Relay::new(Arc::clone(&line), given), answered)
        };
        Ok(self.go_on(running, again, &opened, &binding, line).await)
    }

    /// Goes on with a call until it is done or asks, or is a task.
    async fn go_on(
        &self,
        running: Running,
        mut again: Option<Again>,
        opened: &Opened,
        binding: &Binding<'_>,
        line: Arc<dyn Line>,
    ) -> Served {
        let Running { relay, approver, mut work } = running;
        let gone = line.cancellation();
        let mut long = pin!(tokio::time::sleep(self.tasks.after()));
        let (outcome, asks) = loop {
            tokio::select! {
                biased;
                outcome = &mut work => break (outcome, None),
                () = gone.cancelled(), if !relay.cancellation().is_cancelled() => relay.cancellation().cancel(),
                () = relay.is_asked() => {
                    if relay.missing().is_none()
                        && !relay.cancellation().is_cancelled()
                        && let Some(asks) = relay.end_round()
                    {
                        break (None, Some(asks));
                    }
                }
                () = &mut long, if again.is_some() => {
                    let Some(again) = again.take() else { continue };
                    let running = Running { relay: Arc::clone(&relay), approver: Arc::clone(&approver), work };
                    work = match self.tasks.put(binding.principal, running, again) {
                        Ok(name) => return Served::Task(name),
                        Err(running) => running.work,
                    };
                }
            }
        };
        let (asking, running) = match (asks, outcome) {
            (Some(asks), _) => {
                let asking = Asking {
                    asks,
                    approval: approver.used(),
                    answers: relay.answered(),
                    parked: Some(random_name()),
                };
                (asking, Some(Running { relay, approver, work: work.apart() }))
            }
            (None, Some(CallOutcome::Pending(pending))) if relay.missing().is_none() => {
                let Some(asked) = approver.asks() else { return Served::Waits(pending) };
                let asks = vec![approver.ask_for(&pending, asked, APPROVAL.to_owned())];
                let approval = Some((pending.id, pending.digest));
                (Asking { asks, approval, answers: relay.answered(), parked: None }, None)
            }
            (None, outcome) => return served(&relay, outcome),
        };
        let parked = asking.parked.clone();
        let (asks, state) = match self.rounds.next(opened.number(), asking, binding) {
            Ok(next) => next,
            Err(message) if running.is_some() => {
                return failed(binding.tool, format!("{message}; {CANCELLED}"));
            }
            Err(message) => return failed(binding.tool, message),
        };
        if let (Some(name), Some(running)) = (parked, running)
            && self.parked.put(name, binding.principal, running).is_err()
        {
            return failed(binding.tool, format!("too many calls wait for answers already; {CANCELLED}"));
        }
        Served::Asks { asks, state }
    }
}

type Answers = std::collections::BTreeMap<String, Value>;

/// Is a call with its tool found.
#[derive(Clone)]
struct Call {
    id: CallId,
    tool: String,
    /// Shared with what the call may be begun anew with.
    input: Arc<Value>,
    is_watched: bool,
}

/// Is what a call is begun anew with, once it was answered whether it may run.
struct Again {
    toolset: Arc<Toolset>,
    call: Call,
}

/// Is what a round of a call brings.
#[derive(Clone)]
struct Request {
    /// The name and the input as they were sent.
    served: String,
    sent: Arc<Value>,
    call: Call,
    state: Option<String>,
    answers: Answers,
    /// What somebody else than the client has answered while the request was open.
    given: Option<Given>,
}

#[async_trait]
impl Calls for ServedCalls {
    async fn call(
        &self,
        toolset: &Arc<Toolset>,
        call: CallRequest,
        line: Arc<dyn Line>,
    ) -> Result<Served, Fault> {
        let CallRequest { tool: served, input, answers, state, is_watched } = call;
        let in_rounds = line.asks_in_rounds();
        // Only what comes in rounds is bound to what was sent.
        let sent = Arc::new(if in_rounds { input.clone() } else { Value::Null });
        let id = call_id();
        let (tool, input) = match self.names.resolve(toolset, &id, &served, input).await {
            Ok(resolved) => resolved,
            Err(reply) => return Ok(Served::Reply(reply)),
        };
        let call = Call { id, tool, input: Arc::new(input), is_watched };
        let mut request = Request { served, sent, call, state, answers, given: None };
        let mut attending = Attending::default();
        loop {
            // A round goes on where the one before it was, which the same request does once.
            let may_repeat = toolset.attended.is_some() && request.state.is_none();
            let again = may_repeat.then(|| Request { answers: Answers::new(), ..request.clone() });
            let served = if in_rounds {
                self.call_in_rounds(toolset, request, Arc::clone(&line)).await?
            } else {
                self.call_in_session(toolset, request.call, request.given, Arc::clone(&line)).await
            };
            let Served::Waits(pending) = served else { return Ok(served) };
            let Some(again) = again else { return Ok(Served::Waits(pending)) };
            let Some(GoOn { given }) = attending.wait(toolset, &pending, line.cancellation()).await else {
                return Ok(Served::Waits(pending));
            };
            request = Request { given, ..again };
        }
    }
}

/// Begins to execute a call.
fn start(toolset: &Toolset, call: Call, relay: Arc<Relay>, given: Option<Given>) -> Running {
    let Call { id, tool, input, is_watched } = call;
    let approver = ClientApprover::new(id.clone(), Arc::clone(&relay), Arc::clone(&toolset.pending), given);
    let approver = Arc::new(if toolset.attended.is_some() { approver.attended() } else { approver });
    let scope = toolset.scope.clone().with_extension(CallingClient(Arc::clone(&relay) as Arc<dyn Line>));
    let call = ToolCall::new(id.clone(), tool, Arc::unwrap_or_clone(input));
    let tools = (toolset.tools)();
    let begun = Begun {
        scope: scope.clone(),
        tools: tools.clone(),
        pending: Arc::clone(&toolset.pending),
        relay: Arc::clone(&relay),
        approver: Arc::clone(&approver) as Arc<dyn Approver>,
        is_watched,
    };
    let mut batch = Batch::new(scope, vec![call])
        .with_registry(tools)
        .cancelled_by(relay.cancellation().clone())
        .asked_through(Arc::clone(&approver) as Arc<dyn Approver>);
    if is_watched {
        let watch = Watch { call: id, relay: Arc::downgrade(&relay) };
        batch = batch.observed_by(Arc::new(watch) as Arc<dyn Observer>);
    }
    let executor = Arc::clone(&toolset.executor);
    let work = async move {
        match begun.go_on(&batch.calls()[0], &*executor).await {
            Some(outcome) => Some(outcome),
            None => executor.execute_batch(batch).await.into_outcomes().pop(),
        }
    };
    Running { relay, approver, work: Work::Here(Box::pin(work)) }
}

/// Goes on with a call that needs no other request: whether it may run is asked when the executor has left it to wait.
async fn to_the_end(toolset: &Toolset, call: Call, running: Running) -> Served {
    let Running { relay, mut approver, mut work } = running;
    for _ in 0..MOST_ROUNDS {
        let outcome = work.await;
        let Some(asked) = approver.asks() else { return served(&relay, outcome) };
        let Some(CallOutcome::Pending(pending)) = outcome else { return served(&relay, outcome) };
        let approval = tokio::select! {
            biased;
            () = relay.cancellation().cancelled() => {
                approver.withdraw(&pending).await;
                return cancelled(&call.tool);
            }
            approval = approver.ask_at_once(&pending, asked) => approval,
        };
        let PendingCall { id, digest, .. } = *pending;
        let given = Given { id, digest, approval: Some(approval) };
        Running { approver, work, .. } = start(toolset, call.clone(), Arc::clone(&relay), Some(given));
    }
    failed(&call.tool, asked_too_often())
}

/// Tells whether a call may be begun anew, of which nobody knows how far it got.
///
/// What a tool says of itself is not trusted for a permission; here each run is decided on its own.
fn may_begin_anew(tools: &ToolRegistry, tool: &str) -> bool {
    let hints = tools.get(tool).map(haft_core::ToolSpec::hints);
    hints.is_some_and(|hints| hints.read_only || hints.idempotent)
}

const INTERRUPTED: &str =
    "the call was interrupted while it waited for an answer; look at what it has done before you repeat it";

const CANCELLED: &str = "the call was cancelled, so look at what it has done before you repeat it";

fn call_id() -> CallId {
    let id = format!("call-{}", random_name());
    id.parse().unwrap_or_else(|_| unreachable!("a name of letters and digits is an id"))
}

/// Says what a call is answered with that has come to an end.
fn served(relay: &Relay, outcome: Option<CallOutcome>) -> Served {
    if let Some(ability) = relay.missing() {
        return Served::Needs(ability);
    }
    match outcome {
        Some(CallOutcome::Replied(reply)) => Served::Reply(Box::new(reply)),
        Some(CallOutcome::Pending(pending)) => Served::Waits(pending),
        _ => failed("tools/call", "the call broke; look at what it has done before you repeat it"),
    }
}

fn cancelled(tool: &str) -> Served {
    let output = ToolOutput::text("the call was cancelled before it began; nothing was done");
    Served::Reply(Box::new(ToolReply::new(call_id(), tool, ReplyStatus::Cancelled, output)))
}

fn failed(served: &str, message: impl Into<String>) -> Served {
    let (status, output) = (ReplyStatus::Error(ErrorKind::Failed), ToolOutput::text(message.into()));
    Served::Reply(Box::new(ToolReply::new(call_id(), served, status, output)))
}
