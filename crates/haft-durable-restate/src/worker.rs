use crate::call_workflow::CallWorkflow;
use crate::dispatch;
use crate::runs::{DurableAgent, RunWorkflow, STANDING, STATE};
use crate::serving;
use crate::updates::Updates;
use crate::wire::{DECIDE, HEAR, LISTEN, OUTCOME, RUN, STOP, WAITS};
use crate::{Error, RestateExecutor};
use haft_durable::{Performer, Pool};
use restate_sdk::endpoint::{Builder, Endpoint, HandlerOptions, ServiceOptions};
use std::fmt;
use std::time::Duration;
use tokio::net::TcpListener;

/// Makes the calls of one or more pools, or drives the runs of their agents, as the engine tells it to.
///
/// Any number of workers make the calls of a pool; the engine reaches them by one address, such as that of a proxy, of which it
/// is [told](crate::register). All workers behind one address have the same tools and say the same of which
/// [may be made again](haft_durable::Redo).
///
/// ```
/// use haft_durable::Performer;
/// use haft_durable_restate::Worker;
/// use haft_tools_core::{LocalExecutor, ToolRegistry};
/// use std::time::Duration;
///
/// let tools = || Performer::new(LocalExecutor::builder(ToolRegistry::new()));
/// let worker = Worker::new("tools".parse()?, tools())
///     .and("browsers".parse()?, tools())
///     .kept_for(Duration::from_secs(3 * 24 * 3600));
/// # let _ = worker;
/// # Ok::<(), haft_durable::PoolError>(())
/// ```
#[must_use = "a worker does nothing until it serves"]
pub struct Worker {
    pools: Vec<(Pool, Work)>,
    kept_for: Duration,
    longest_round: Duration,
    drain_within: Duration,
    identity_key: Option<String>,
    updates: Option<Updates>,
}

/// Is what a worker does for a pool: makes calls, by a [`Performer`], or drives runs, of a [`DurableAgent`].
///
/// Which of them it is may come from settings:
///
/// ```
/// # use haft_durable::{Performer, Routes};
/// use haft_durable_restate::{DurableAgent, Work, Worker};
/// # use haft_model::{ScriptedModel, Session};
/// # use haft_tools_core::{LocalExecutor, ToolRegistry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (tools, setting) = (ToolRegistry::new(), "runs");
/// # let model = ScriptedModel::new(Session::parse(r#"{"text": "Nothing to do."}"#, "idle.jsonl")?);
/// # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let work: Work = match setting {
///     "runs" => DurableAgent::new(model, tools, Routes::to("tools".parse()?)).into(),
///     _ => Performer::new(LocalExecutor::builder(tools)).into(),
/// };
/// let stop = std::future::ready(());
/// assert!(Worker::new("travel".parse()?, work).serve(listener, stop).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Work(Kind);

#[derive(Debug)]
enum Kind {
    Calls(Performer),
    Runs(Box<DurableAgent>),
}

impl From<Performer> for Work {
    fn from(performer: Performer) -> Self {
        Self(Kind::Calls(performer))
    }
}

impl From<DurableAgent> for Work {
    fn from(agent: DurableAgent) -> Self {
        Self(Kind::Runs(Box::new(agent)))
    }
}

impl Worker {
    /// Does the work of a pool.
    pub fn new(pool: Pool, work: impl Into<Work>) -> Self {
        Self {
            pools: vec![(pool, work.into())],
            kept_for: Duration::from_hours(14 * 24),
            longest_round: Duration::from_hours(24),
            drain_within: Duration::from_secs(30),
            identity_key: None,
            updates: None,
        }
    }

    /// Also does the work of another pool.
    pub fn and(mut self, pool: Pool, work: impl Into<Work>) -> Self {
        self.pools.push((pool, work.into()));
        self
    }

    /// For how long the engine keeps a call after its end: as long as its reply can be fetched again, and whoever asks for it
    /// again gets that reply; 14 days by default.
    ///
    /// It should be longer than any client goes on asking for its calls. A call that waits is kept for as long as it waits.
    pub fn kept_for(mut self, time: Duration) -> Self {
        self.kept_for = time;
        self
    }

    /// How long a round may take before the engine has it given up and performed again; 24 h by default.
    ///
    /// It must be longer than the executor's limits let any tool run. That a person takes longer does not matter.
    pub fn longest_round(mut self, time: Duration) -> Self {
        self.longest_round = time;
        self
    }

    /// How long calls that run may take to end once the worker is told to stop; 30 s by default.
    ///
    /// Those that take longer are dropped, and are performed on another worker or answered as lost.
    pub fn drain_within(mut self, time: Duration) -> Self {
        self.drain_within = time;
        self
    }

    /// Takes requests only of the engine that signs them with this key, such as `publickeyv1_…`, which it says when it starts.
    ///
    /// Without it, whoever reaches the worker can have it make calls: then only the engine may reach it.
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.identity_key = Some(key.into());
        self
    }

    /// Tells whoever listens to a running call what that tells of itself, through the engine that this executor asks: how far it
    /// has got, and the end of its output so far. Without it nobody is told before a call has ended.
    ///
    /// What is told is the newest alone, up to 4 KiB of text, at most four times a second in the first ten seconds of a
    /// call, and then ever more rarely, down to once a minute. Whoever comes to listen later is told within ten seconds more. What the
    /// engine does not take is lost. The engine keeps it as
    /// long as [the call](Self::kept_for). For a call that tells nothing, or that nobody listens to, nothing is kept.
    ///
    /// ```
    /// use haft_durable::{Performer, Routes};
    /// use haft_durable_restate::{RestateExecutor, Worker};
    /// use haft_http::{AddressPolicy, HttpClient};
    /// use haft_tools_core::{LocalExecutor, ToolRegistry};
    ///
    /// let http = HttpClient::new(AddressPolicy::public().loopback())?;
    /// let engine = RestateExecutor::new(&"http://127.0.0.1:8080".parse()?, http, Routes::to("tools".parse()?))?;
    /// let performer = Performer::new(LocalExecutor::builder(ToolRegistry::new()));
    /// let worker = Worker::new("tools".parse()?, performer).updates_through(&engine);
    /// # let _ = worker;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn updates_through(mut self, engine: &RestateExecutor) -> Self {
        self.updates = Some(Updates::through(engine.client().clone()));
        self
    }

    /// Makes calls for whoever connects, until it is told to stop; then takes no more, and waits for those that run.
    ///
    /// # Errors
    ///
    /// When the [key](Self::identity_key) is none, or connections cannot be taken.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the calls that run, which are then performed again or answered as lost.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let drain_within = self.drain_within;
        serving::serve(self.endpoint()?, listener, stop, drain_within).await
    }

    fn endpoint(self) -> Result<Endpoint, Error> {
        let mut builder = Builder::new();
        if let Some(key) = &self.identity_key {
            builder = builder
                .identity_key(key)
                .map_err(|source| Error::IdentityKey { source: Box::new(source) })?;
        }
        for (pool, work) in self.pools {
            let asked: &[&str] = match work.0 {
                Kind::Calls(_) => &[OUTCOME, WAITS, DECIDE, HEAR, LISTEN, STOP],
                Kind::Runs(_) => &[STANDING, STATE, STOP],
            };
            let run = HandlerOptions::new().workflow_retention(self.kept_for);
            // What a run keeps for those who look is not sent along each time that it goes on.
            let run = if matches!(work.0, Kind::Runs(_)) { run.enable_lazy_state(true) } else { run };
            let options = ServiceOptions::new()
                .inactivity_timeout(self.longest_round)
                .abort_timeout(self.longest_round)
                .handler(RUN, run);
            let options = asked.iter().fold(options, |options, handler| {
                // What these take is over once it is answered.
                options.handler(*handler, HandlerOptions::new().journal_retention(Duration::ZERO))
            });
            let service = match work.0 {
                Kind::Calls(performer) => dispatch::of_calls(
                    &pool,
                    CallWorkflow::new(pool.clone(), performer, self.updates.clone()),
                ),
                Kind::Runs(agent) => dispatch::of_runs(&pool, RunWorkflow::new(*agent)),
            };
            builder = builder.bind(service.options(options));
        }
        Ok(builder.build())
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("pools", &self.pools)
            .field("kept_for", &self.kept_for)
            .field("longest_round", &self.longest_round)
            .field("drain_within", &self.drain_within)
            .field("is_signed", &self.identity_key.is_some())
            .field("tells", &self.updates.is_some())
            .finish()
    }
}
