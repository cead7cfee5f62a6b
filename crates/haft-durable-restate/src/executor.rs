use crate::Error;
use crate::following::Following;
use crate::ingress::Ingress;
use crate::soon::Soon;
use crate::wire::{DECIDE, Ended, RUN, Verdict};
use async_trait::async_trait;
use haft_core::{ErrorKind, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use haft_durable::{
    CallCourse, CallRequest, DecisionError, Pool, RoundDecision, RoundKey, Routes, ScopeError, in_order,
};
use haft_http::HttpClient;
use haft_tools_core::{
    Approval, Batch, BatchOutcome, CallOutcome, CallScope, Events, HeldCall, PendingCall, PendingId,
    Resumption, ResumptionError, StoreError, ToolExecutor, ToolRegistry,
};
use restate_sdk::ingress::{Client, ClientError, RequestTarget};
use restate_sdk::serde::Json;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Has calls made by the workers of an engine.
///
/// A batch is made as everywhere: a call waits for the earlier ones that it conflicts with, by what the tools of the batch's
/// registry, or of [its own](Self::registry), declare here; without one they are made one after the other. Whatever is left to
/// a person comes to wait, also where a batch has an approver: it is answered with
/// [`resume`](ToolExecutor::resume), by this executor or by one in any other process, before or after this one has ended.
///
/// Asking for the same call again, after a client died, gives the reply of the first time, or goes on waiting for it. Calls are
/// told apart by their run, their turn and the ids that models give them; one that has the name of another call is refused.
///
/// ```
/// use haft_durable::Routes;
/// use haft_durable_restate::RestateExecutor;
/// use haft_http::{AddressPolicy, HttpClient};
///
/// let http = HttpClient::new(AddressPolicy::public().loopback())?;
/// let routes = Routes::to("tools".parse()?).and("browse_*".parse()?, "browsers".parse()?);
/// let executor = RestateExecutor::new(&"http://127.0.0.1:8080".parse()?, http, routes)?;
/// # let _ = executor;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RestateExecutor {
    client: Client<Ingress>,
    routes: Routes,
    registry: Option<ToolRegistry>,
    patience: Duration,
    soon: Arc<Soon>,
    events: Events,
}

/// Is what the engine said to an answer, and the pool and the round that it was about.
struct Decided {
    pool: Pool,
    round: RoundKey,
    /// Why it does not count, if it does not.
    refused: Option<DecisionError>,
}

/// How long is waited after an engine did not answer, for the first time and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

impl RestateExecutor {
    /// Asks the engine at this address, of its ingress, by these routes.
    ///
    /// # Errors
    ///
    /// When the address is none.
    pub fn new(engine: &Url, http: HttpClient, routes: Routes) -> Result<Self, Error> {
        let address = || engine.to_string();
        let uri = engine.as_str().parse::<http::Uri>();
        let uri = uri.map_err(|source| Error::Address { address: address(), source: Box::new(source) })?;
        let client = Client::new(uri, Ingress(http));
        let client =
            client.map_err(|source| Error::Address { address: address(), source: Box::new(source) })?;
        Ok(Self {
            client,
            routes,
            registry: None,
            patience: Duration::from_mins(5),
            soon: Arc::default(),
            events: Events::default(),
        })
    }

    /// Proves with each request who asks, as an engine behind a gateway may want.
    ///
    /// # Errors
    ///
    /// When the token cannot stand in a header.
    pub fn bearer(mut self, token: &str) -> Result<Self, Error> {
        let client = self.client.with_restate_auth_token(token);
        self.client = client.map_err(|source| Error::Token { source: Box::new(source) })?;
        Ok(self)
    }

    /// The tools by which calls are ordered and routed, where a batch brings none.
    pub fn registry(mut self, registry: ToolRegistry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// How long an engine that does not answer is asked again before calls are answered as unavailable; 5 min by default.
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Tells these observers and readers when a call starts, waits and ends, and how far it has got, if its worker
    /// [says so](crate::Worker::updates_through).
    pub fn events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    async fn execute(
        &self,
        batch: &Batch,
        scope: &CallScope,
        held: HeldCall,
        stop: CancellationToken,
    ) -> CallOutcome {
        let call = held.call.clone();
        let request = match CallRequest::of_held(scope, held) {
            Ok(request) => request,
            Err(error) => return unsent(&call, &error),
        };
        let registry = batch.registry().or(self.registry.as_ref());
        let pool = self.routes.pool_in(registry, &call.name).clone();
        let digest = request.digest();
        let round = RoundKey::new(request.key().clone(), 0);
        let target = RequestTarget::workflow(pool.as_str(), request.key().to_string(), RUN);
        let sent = self
            .insist(|| self.client.request::<_, Json<Ended>>(target.clone(), Json(request.clone())).send());
        match sent.await {
            Ok(sent) => {
                let tell = |kind| batch.tell(&self.events, &call.id, || kind);
                let following = Following {
                    executor: self,
                    pool,
                    round,
                    workflow: sent.invocation_handle(),
                    stop,
                    listener: batch.is_observed(&self.events).then_some(&tell),
                };
                following.outcome(&call, Some(digest)).await
            }
            Err(error) => unavailable(&call, &error),
        }
    }

    pub(crate) fn soon(&self) -> &Soon {
        &self.soon
    }

    pub(crate) fn client(&self) -> &Client<Ingress> {
        &self.client
    }

    /// Asks until the engine answers, or patience is over.
    pub(crate) async fn insist<T, F>(&self, ask: impl Fn() -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let (mut silent_since, mut pause) = (None, PAUSES[0]);
        loop {
            let error = match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if is_held(&error) {
                // The engine was there all the time, and has nothing to say yet.
                (silent_since, pause) = (None, PAUSES[0]);
                continue;
            }
            let since = *silent_since.get_or_insert_with(Instant::now);
            if !is_passing(&error) || since.elapsed() >= self.patience {
                return Err(error);
            }
            tracing::debug!(%error, "the engine is asked again");
            tokio::time::sleep(pause).await;
            pause = PAUSES[1].min(pause * 2);
        }
    }

    /// Answers a call that waits, and does not wait for what becomes of it; whoever asks for the call goes on with it.
    ///
    /// An approval that [waits](Approval::waits) answers nothing. A call that nobody answered in time has ended as denied by
    /// itself, so a denial of it counts.
    ///
    /// # Errors
    ///
    /// When the answer does not count: the call waits no more, or not in this round or for this, or an approval came too late.
    /// When the engine does not answer, in which case it may count.
    ///
    /// # Cancel safety
    ///
    /// The answer counts or does not.
    pub async fn decide(&self, pending: &PendingCall, approval: Approval) -> Result<(), ResumptionError> {
        if approval.waits() {
            return Ok(());
        }
        let Decided { refused, .. } = self.decided(pending, approval).await?;
        refused.map_or(Ok(()), |why| Err(why.about(&pending.id)))
    }

    /// Has an answer count, if it can.
    async fn decided(&self, pending: &PendingCall, approval: Approval) -> Result<Decided, ResumptionError> {
        let id = pending.id.clone();
        if pending.is_expired() && !approval.denies() {
            return Err(ResumptionError::Expired { id });
        }
        let Some((pool, round)) = CallCourse::parse_id(&id) else { return Err(unknown(id)) };
        let decision = RoundDecision::new(round.clone(), pending.digest, approval, unique());
        let asked = |error: ClientError| unclaimed(id.clone(), error);
        let refused = match self.verdict(&pool, &decision).await.map_err(asked)? {
            Verdict::Counts => None,
            Verdict::Refused { why } => Some(why),
        };
        Ok(Decided { pool, round, refused })
    }

    async fn verdict(&self, pool: &Pool, decision: &RoundDecision) -> Result<Verdict, ClientError> {
        let key = decision.round.call().to_string();
        let target = RequestTarget::workflow(pool.as_str(), key, DECIDE);
        let verdict = self.insist(|| async {
            let request = self.client.request::<_, Json<Verdict>>(target.clone(), Json(decision.clone()));
            request.call().await?.into_body()
        });
        Ok(verdict.await?.into_inner())
    }
}

#[async_trait]
impl ToolExecutor for RestateExecutor {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        let (batch, scope) = (&batch, &batch.scope());
        let run = |held: HeldCall, stop| self.execute(batch, scope, held, stop);
        in_order(batch, self.registry.as_ref(), &self.events, run).await
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumptionError> {
        let (pending, approval) = (resumption.pending(), resumption.approval());
        if approval.waits() {
            return Ok(CallOutcome::Pending(Box::new(pending.clone())));
        }
        let Decided { pool, round, refused } = self.decided(pending, approval.clone()).await?;
        // Whoever denies one whose time is over is told what became of it.
        let is_told_anyway = approval.denies()
            && pending.is_expired()
            && matches!(refused, Some(DecisionError::Over | DecisionError::Decided));
        if let Some(why) = refused.filter(|_| !is_told_anyway) {
            return Err(why.about(&pending.id));
        }
        let asked = |error: ClientError| unclaimed(pending.id.clone(), error);
        let workflow = self.insist(|| async {
            self.client.lookup_workflow(pool.as_str(), round.call().to_string(), None).await
        });
        let workflow = workflow.await.map_err(asked)?;
        let next = RoundKey::new(round.call().clone(), round.round().saturating_add(1));
        let stop = resumption.cancellation().cloned().unwrap_or_default();
        let is_observed = resumption.is_observed(&self.events);
        let tell = |kind| resumption.tell(&self.events, || kind);
        let listener = is_observed.then_some(&tell as _);
        let following = Following { executor: self, pool, round: next, workflow, stop, listener };
        let outcome = following.outcome(&pending.call, None).await;
        resumption.tell_end(&self.events, &outcome);
        Ok(outcome)
    }

    async fn give_up(&self, calls: &[PendingCall]) {
        for call in calls {
            let Some((pool, round)) = CallCourse::parse_id(&call.id) else { continue };
            let reason = "the run that made it has ended".to_owned();
            let decision = RoundDecision::new(round, call.digest, Approval::Deny { reason }, unique());
            // One that was decided meanwhile has gone on, as it may.
            if let Err(error) = self.verdict(&pool, &decision).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(call = %call.id, error, "a call that waited could not be given up");
            }
        }
    }
}

/// Names a decision as no other is.
fn unique() -> String {
    format!("{:032x}", fastrand::u128(..))
}

impl fmt::Debug for RestateExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RestateExecutor")
            .field("routes", &self.routes)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

/// Tells whether an answer was only not there yet when it was waited for long enough.
fn is_held(error: &ClientError) -> bool {
    let ClientError::Transport { source } = error else { return false };
    matches!(source.downcast_ref(), Some(haft_http::Error::Silent { .. }))
}

/// Tells whether the engine may answer later: it is not there, or takes nothing at the moment.
pub(crate) fn is_passing(error: &ClientError) -> bool {
    match error {
        ClientError::Transport { source } => {
            use haft_http::Error::{Connect, Interrupted, Late, Silent};
            matches!(
                source.downcast_ref(),
                Some(Connect { .. } | Interrupted { .. } | Late { .. } | Silent { .. })
            )
        }
        ClientError::Status { status, .. } => matches!(status.as_u16(), 429 | 502 | 503 | 504),
        _ => false,
    }
}

/// Answers a call whose bounds cannot be sent.
pub(crate) fn unsent(call: &ToolCall, error: &ScopeError) -> CallOutcome {
    tracing::warn!(call = %call.id, %error, "a call cannot be sent to a worker");
    let text = "this call was not run: what this agent may do is bounded in a way that cannot be sent to where its tools are; \
                nothing was done, so go on without it and say so";
    refused(call, ReplyStatus::Denied, text)
}

/// Answers a call when the engine does not.
pub(crate) fn unavailable(call: &ToolCall, error: &ClientError) -> CallOutcome {
    tracing::error!(call = %call.id, error = error as &dyn std::error::Error, "the engine does not answer for a call");
    let text = "what makes this call does not answer, so whether it had its effect is not known, and it may have it yet; look \
                before you repeat it";
    refused(call, ReplyStatus::Error(ErrorKind::Unavailable), text)
}

/// Answers a call that has the name of another.
pub(crate) fn taken(call: &ToolCall) -> CallOutcome {
    let text = format!(
        "another call of this run has the id `{}` already, so this one was not run; make it again with an id of its own",
        call.id
    );
    refused(call, ReplyStatus::Error(ErrorKind::InvalidInput), text)
}

pub(crate) fn refused(call: &ToolCall, status: ReplyStatus, text: impl Into<String>) -> CallOutcome {
    let output = ToolOutput::text(text);
    CallOutcome::Replied(ToolReply::new(call.id.clone(), call.name.clone(), status, output))
}

/// Says that a pending call is none of an engine.
fn unknown(id: PendingId) -> ResumptionError {
    let source =
        StoreError::new("look for the call", "it was not made by an engine, or its name was changed");
    ResumptionError::Unclaimed { id, source }
}

fn unclaimed(id: PendingId, error: ClientError) -> ResumptionError {
    ResumptionError::Unclaimed { id, source: StoreError::new("ask the engine", error) }
}
