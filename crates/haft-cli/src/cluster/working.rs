use super::EngineUrl;
use crate::exit::{Exit, UsageError};
use crate::named_host::NamedHost;
use crate::worker::{WorkerBench, WorkerOptions, WorkerStage};
use anyhow::{Context as _, Result};
use haft::durable::{Performer, Pool, Redo, Routes};
use haft::durable_restate::{Error, RestateExecutor, Worker, register};
use haft::http::HttpClient;
use haft::shell::ScriptsApart;
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How long is waited before an engine is told again that did not answer.
const PAUSE: Duration = Duration::from_millis(300);

const DAY: u64 = 24 * 3600;

/// Makes calls until the process is told to stop, and then until those that run have ended.
///
/// A second signal does not wait for them.
pub(crate) async fn work(options: WorkerOptions) -> Result<Exit> {
    let pool: Pool =
        options.pool.parse().map_err(|error| UsageError(format!("{error}; name it with `--pool`")))?;
    let mut signals = Signals::listen()?;
    let listener = TcpListener::bind(options.listen).await.with_context(|| {
        UsageError(format!("cannot take calls at `{}`; name another address with `--listen`", options.listen))
    })?;
    let gathered = tokio::select! {
        gathered = WorkerBench::gather(&options) => gathered?,
        () = signals.next() => return ended(&options),
    };
    let served = serve(&options, pool, &gathered, listener, signals).await;
    // However it ended, and before that is said.
    gathered.bench.servers.stop().await;
    served?;
    ended(&options)
}

/// Serves until a signal, or until nothing can be served.
async fn serve(
    options: &WorkerOptions,
    pool: Pool,
    gathered: &WorkerBench,
    listener: TcpListener,
    mut signals: Signals,
) -> Result<()> {
    let here = format!("http://{}", listener.local_addr().context("cannot tell where this listens")?);
    let redo = match &options.redo {
        Some(tools) => Redo::by_hints().and(tools.clone()),
        None => Redo::by_hints(),
    };
    // Nobody knows which worker makes the next call of a client, so no script begins where another has ended.
    let performer =
        Performer::new(gathered.executor()?).redo(redo).scoped_by(|scope| scope.with_extension(ScriptsApart));
    let mut worker = Worker::new(pool.clone(), performer)
        .kept_for(Duration::from_secs(u64::from(options.keep) * DAY))
        .drain_within(Duration::from_secs(options.drain.into()));
    if let Some(key) = &options.identity_key {
        worker = worker.identity_key(key);
    }
    if let Some(engine) = &options.restate {
        let told = RestateExecutor::new(engine.url(), client(engine)?, Routes::to(pool.clone()))?;
        worker = worker.updates_through(&told);
    }
    let stop = CancellationToken::new();
    let mut serving = pin!(worker.serve(listener, stop.clone().cancelled_owned()));
    let address = match &options.address {
        Some(address) => address.clone(),
        None => here.parse().map_err(UsageError)?,
    };
    let registered = tokio::select! {
        biased;
        served = &mut serving => return served.map_err(unserved),
        told = told(options, &address) => told?,
        () = signals.next() => return Ok(()),
    };
    let ready = WorkerStage::Ready {
        address: here,
        pool: pool.to_string(),
        tools: gathered.bench.tools.iter().count(),
        signed: options.identity_key.is_some(),
        registered,
    };
    ready.say(options.json)?;
    let served = tokio::select! {
        served = &mut serving => served,
        () = signals.next() => {
            WorkerStage::Draining.say(options.json)?;
            stop.cancel();
            tokio::select! {
                served = &mut serving => served,
                () = signals.next() => Ok(()),
            }
        }
    };
    served.map_err(unserved)
}

fn ended(options: &WorkerOptions) -> Result<Exit> {
    WorkerStage::Ended.say(options.json)?;
    Ok(Exit::Done)
}

/// Says why nothing is served: a key is the person's to mend.
fn unserved(error: Error) -> anyhow::Error {
    let is_key = matches!(error, Error::IdentityKey { .. });
    let error = anyhow::Error::new(error);
    if is_key {
        let message = "the key of `--identity-key` is none; give the `publickeyv1_…` that the engine says when it starts";
        return error.context(UsageError(message.to_owned()));
    }
    error
}

/// Tells the engine where this is, if it is to be told, and gives where it was told that it is.
///
/// An engine and its workers are started in any order, so one that does not answer is asked again for a while.
async fn told(options: &WorkerOptions, address: &EngineUrl) -> Result<Option<String>> {
    let Some(admin) = &options.admin else { return Ok(None) };
    let http = client(admin)?;
    let (began, patience) = (Instant::now(), Duration::from_secs(options.admin_wait.into()));
    loop {
        match register(&http, admin.url(), address.url()).await {
            Ok(()) => return Ok(Some(address.to_string())),
            Err(Error::Unreachable { .. }) if began.elapsed() < patience => sleep(PAUSE).await,
            Err(error) => {
                let message = match &error {
                    Error::Unreachable { .. } => {
                        format!(
                            "the engine cannot be told of this worker at `{admin}`; start it, or name its admin interface \
                             with `--admin`"
                        )
                    }
                    _ => format!(
                        "the engine does not take this worker at `{address}`; give the address with `--address` at which it reaches the \
                         worker"
                    ),
                };
                return Err(anyhow::Error::new(error).context(UsageError(message)));
            }
        }
    }
}

/// Makes a client that reaches an engine which a person has named.
pub(super) fn client(engine: &EngineUrl) -> Result<HttpClient> {
    let host = engine.url().host().expect("an address without a host is refused when it is read");
    NamedHost::new(host.to_owned(), true).client()
}

/// Is what tells a process to stop.
struct Signals {
    term: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot wait for signals");
        let (term, interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
        Ok(Self { term, interrupt, hangup: listen(SignalKind::hangup())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
