//! The calls of MCP clients, made by the workers of an engine.

use super::EngineUrl;
use super::denial::{denial, reply};
use super::working::client;
use crate::exit::UsageError;
use crate::serve::Route;
use anyhow::{Context as _, Result};
use async_trait::async_trait;
use haft::core::{ErrorKind, Event, ReplyStatus};
use haft::durable::{CallCourse, Pool, Routes};
use haft::durable_restate::RestateExecutor;
use haft::http::Exchange;
use haft::tools_core::{
    Approval, Approver, BatchOutcome, CallOutcome, Events, Journal, Limits, ModeSwitch, Observer,
    PendingCall, PendingStore, Redactor, Resumption, ResumptionError, StoreError, ToldCall,
};
use haft::{Batch, CallScope, Policy, ToolCall, ToolExecutor};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// How long an engine that does not answer is asked again before a client is told so.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a call may come to wait again within one request of its client.
const MOST_ROUNDS: usize = 10;

const UNKNOWN: &str = "whether this call waits already cannot be told now, so nothing was done; repeat the very same call later";

/// Knows the engine that makes the calls of clients, and by which pools.
#[derive(Debug, Clone)]
pub(crate) struct ServedCluster {
    executor: RestateExecutor,
    /// Is held while a new call that waits is kept, so that of those that say the same one is the first.
    keeping: Arc<Mutex<()>>,
}

impl ServedCluster {
    /// Finds the engine at the address of its ingress.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub(crate) async fn find(engine: &EngineUrl, pool: &str, routes: &[Route]) -> Result<Self> {
        let named = |pool: &str| -> Result<Pool> {
            pool.parse()
                .map_err(|error| UsageError(format!("{error}; name it with `--pool` or `--route`")).into())
        };
        let mut all = Routes::to(named(pool)?);
        for Route { tools, pool } in routes {
            all = all.and(tools.clone(), named(pool)?);
        }
        let http = client(engine)?;
        let health = http::Request::get(format!("{engine}/restate/health")).body(bytes::Bytes::new())?;
        let answer = http.send(health, Exchange::default().first_byte_timeout(PATIENCE)).await;
        let silent = || {
            UsageError(format!(
                "the engine does not answer at `{engine}`; start it, or name the address of its ingress with `--restate`"
            ))
        };
        let status = answer.with_context(silent)?.status();
        if !status.is_success() {
            return Err(anyhow::anyhow!("it says {status}").context(silent()));
        }
        let executor = RestateExecutor::new(engine.url(), http, all)?.patience(PATIENCE);
        Ok(Self { executor, keeping: Arc::default() })
    }

    /// Makes the executor of one client's calls, which come to wait in this store beside the engine; what is denied here is in this
    /// journal, without the secrets of the redactor.
    pub(crate) fn executor(
        &self,
        store: Arc<dyn PendingStore>,
        (policy, limits): (Policy, Limits),
        mode: ModeSwitch,
        (journal, redactor): (Journal, Redactor),
    ) -> Arc<dyn ToolExecutor> {
        let Self { executor, keeping } = self.clone();
        Arc::new(ClientCalls { executor, keeping, store, policy, limits, mode, journal, redactor })
    }
}

/// Has the calls of one client made by workers.
///
/// A client that repeats a call goes on with the one that waits: the store says which that is. Whether a call may run is
/// decided by the policy of the worker; what is denied here is not sent.
struct ClientCalls {
    executor: RestateExecutor,
    keeping: Arc<Mutex<()>>,
    store: Arc<dyn PendingStore>,
    policy: Policy,
    limits: Limits,
    mode: ModeSwitch,
    /// Has what is denied here.
    journal: Journal,
    redactor: Redactor,
}

/// Is a call as the engine knows it: under an id that says what was called.
struct Sent<'a> {
    scope: CallScope,
    /// The call as the client has made it.
    own: &'a ToolCall,
    /// What the ids of all calls that say the same begin with.
    prefix: String,
}

impl ClientCalls {
    async fn execute(&self, batch: &Batch, call: &ToolCall) -> CallOutcome {
        let scope = batch.scope();
        let by = (&self.policy, &self.limits, self.mode.get());
        let record = || self.journal.call(&scope, call).redacted_by(&self.redactor);
        if let Some(denied) = denial(by, batch.registry(), &scope, call, record) {
            return told(batch, call, CallOutcome::Replied(denied));
        }
        let sent = Sent { prefix: prefix(&scope, call), scope, own: call };
        let mut known = match self.known(&sent).await {
            Ok(known) => known,
            // It may have begun already, and would be done twice.
            Err(error) => {
                crate::exit::note(&error);
                let status = ReplyStatus::Error(ErrorKind::Unavailable);
                return told(batch, call, refused(call, status, UNKNOWN));
            }
        };
        for _ in 0..MOST_ROUNDS {
            let id = known.as_ref().map_or_else(
                || format!("{}{}", sent.prefix, call.id).parse().unwrap_or_else(|_| call.id.clone()),
                |known| known.call.id.clone(),
            );
            let made = ToolCall::new(id, call.name.clone(), call.input.clone());
            let pending = match self.made(batch, &sent, made).await {
                CallOutcome::Pending(pending) => pending,
                outcome => {
                    // Requests of the client's at the same time go on with the same call, and each gets its reply.
                    if let Some(known) = &known {
                        self.takes(known).await;
                    }
                    return own(outcome, call);
                }
            };
            if known.is_some() {
                self.keep(known.as_ref(), &pending).await;
            } else if let Some(first) = self.first(&sent, &pending).await {
                known = Some(first);
                continue;
            }
            let Some(approval) = asked(batch, call, &pending).await else {
                return CallOutcome::Pending(pending);
            };
            if approval.waits() {
                return CallOutcome::Pending(pending);
            }
            // One that was asked about by a question has claimed it.
            self.takes(&pending).await;
            let resumption = Resumption::new(sent.scope.clone(), (*pending).clone(), approval);
            let resumption = match batch.cancellation() {
                Some(stop) => resumption.cancelled_by(stop.clone()),
                None => resumption,
            };
            let resumption = match batch.observer() {
                Some(observer) => resumption.observed_by(own_events(observer, call)),
                None => resumption,
            };
            match self.executor.resume(resumption).await {
                Ok(CallOutcome::Pending(next)) => {
                    self.keep(None, &next).await;
                    known = Some(*next);
                }
                Ok(outcome) => return own(outcome, call),
                Err(ResumptionError::Unclaimed { source, .. }) => return unavailable(call, &source),
                // Somebody else has decided, or it is too late: what became of it is the call's reply.
                Err(_) => {
                    self.keep(None, &pending).await;
                    known = Some(*pending);
                }
            }
        }
        refused(
            call,
            ReplyStatus::Denied,
            "it was asked about too often without an end; make it again if it is still needed",
        )
    }

    async fn made(&self, batch: &Batch, sent: &Sent<'_>, call: ToolCall) -> CallOutcome {
        let mut one = Batch::new(sent.scope.clone(), vec![call]);
        if let Some(tools) = batch.registry() {
            one = one.with_registry(tools.clone());
        }
        if let Some(stop) = batch.cancellation() {
            one = one.cancelled_by(stop.clone());
        }
        if let Some(observer) = batch.observer() {
            one = one.observed_by(own_events(observer, sent.own));
        }
        let outcome = self.executor.execute_batch(one).await.into_outcomes().pop();
        outcome.unwrap_or_else(|| CallOutcome::lost(sent.own))
    }

    /// Finds the call of this client that says the same and waits in the engine.
    async fn known(&self, sent: &Sent<'_>) -> Result<Option<PendingCall>, StoreError> {
        let waiting = self.store.waiting_of(sent.scope.run()).await?;
        let is_same = |pending: &PendingCall| {
            pending.call.id.as_str().starts_with(&sent.prefix)
                && pending.agent.as_deref() == sent.scope.agent()
                && CallCourse::parse_id(&pending.id).is_some()
        };
        Ok(waiting.into_iter().find(is_same))
    }

    /// Keeps a new call that waits, unless another request of its client's has come to wait with one that says the same: gives
    /// that, and ends this one.
    async fn first(&self, sent: &Sent<'_>, pending: &PendingCall) -> Option<PendingCall> {
        let keeping = self.keeping.lock().await;
        let known = self.known(sent).await.unwrap_or_else(|error| {
            crate::exit::note(&error);
            None
        });
        let known = known.filter(|known| known.id != pending.id);
        let Some(first) = known else {
            self.keep(None, pending).await;
            return None;
        };
        // Which one is first is settled; other clients do not wait for what the engine says.
        drop(keeping);
        let reason = format!("the very same call waits already as `{}`", first.id);
        if self.executor.decide(pending, Approval::Deny { reason }).await.is_ok() {
            return Some(first);
        }
        // One that was answered meanwhile, or cannot be ended, is a call of its own.
        self.keep(None, pending).await;
        None
    }

    /// Keeps a call for its client to find again, in place of an earlier round of it.
    async fn keep(&self, before: Option<&PendingCall>, pending: &PendingCall) {
        if before.is_some_and(|before| before.id == pending.id) {
            return;
        }
        if let Some(before) = before {
            self.takes(before).await;
        }
        // It waits in the engine in any case; the client would begin another.
        if let Err(error) = self.store.put(pending).await {
            crate::exit::note(&error);
        }
    }

    /// Takes a call that waits out of the store, unless somebody else has.
    async fn takes(&self, pending: &PendingCall) {
        if let Err(error) = self.store.claim(pending).await {
            crate::exit::note(&error);
        }
    }
}

#[async_trait]
impl ToolExecutor for ClientCalls {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        let mut outcomes = Vec::with_capacity(batch.calls().len());
        for call in batch.calls() {
            outcomes.push(self.execute(&batch, call).await);
        }
        BatchOutcome::new(outcomes)
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumptionError> {
        self.executor.resume(resumption).await
    }
}

/// Tells whoever observes the client's call of what becomes of the one that is made for it, as of its own.
fn own_events(observer: &Arc<dyn Observer>, call: &ToolCall) -> Arc<dyn Observer> {
    let (observer, own) = (Arc::clone(observer), call.id.clone());
    Arc::new(move |event: &Event| {
        let mut event = event.clone();
        event.call = Some(own.clone());
        observer.observe(&event);
    })
}

/// Tells whoever observes the client's call that it came to nothing here, without being sent.
fn told(batch: &Batch, call: &ToolCall, outcome: CallOutcome) -> CallOutcome {
    ToldCall::start(batch, &Events::default(), call).end(&outcome);
    outcome
}

/// Asks whoever is asked about the calls of a batch: about this one, whatever the engine calls it.
async fn asked(batch: &Batch, call: &ToolCall, pending: &PendingCall) -> Option<Approval> {
    let approver: &Arc<dyn Approver> = batch.approver()?;
    let mut shown = pending.clone();
    shown.call.id = call.id.clone();
    Some(approver.approve(&shown).await)
}

/// What the ids of calls begin with that say the same in the same modes: also where their arguments are mended on the way.
fn prefix(scope: &CallScope, call: &ToolCall) -> String {
    let modes: Vec<String> = scope.modes().map(|mode| mode.to_string()).collect();
    let said = haft::core::Digest::of(&json!((&call.name, &call.input, modes))).to_string();
    let mut prefix = String::new();
    for byte in &Sha256::digest(said)[..12] {
        // Writing to a string cannot fail.
        let _ = write!(prefix, "{byte:02x}");
    }
    prefix.push('-');
    prefix
}

/// Gives an outcome the id that the client's call has.
fn own(outcome: CallOutcome, call: &ToolCall) -> CallOutcome {
    match outcome {
        CallOutcome::Replied(mut reply) => {
            reply.call_id = call.id.clone();
            CallOutcome::Replied(reply)
        }
        outcome => outcome,
    }
}

fn unavailable(call: &ToolCall, error: &(dyn std::error::Error + 'static)) -> CallOutcome {
    crate::exit::note(error);
    let text = "what makes this call does not answer, so whether it was approved is not known; repeat the very same call later";
    refused(call, ReplyStatus::Error(ErrorKind::Unavailable), text)
}

fn refused(call: &ToolCall, status: ReplyStatus, text: &str) -> CallOutcome {
    CallOutcome::Replied(reply(call, status, text))
}
