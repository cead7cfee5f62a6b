//! The server that the engine connects to.

use crate::Error;
use crate::suspending::{Incoming, Outgoing, Stream};
use crate::wire::RUN;
use bytes::Bytes;
use http_body_util::{Either, Empty};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::endpoint::{Endpoint, HandleOptions};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// How often a connection on which nothing happens is looked after, so that calls of an engine that is gone are dropped.
const LOOK_AFTER: Duration = Duration::from_secs(20);

/// How long is waited for the other side then.
const ANSWERS_WITHIN: Duration = Duration::from_secs(20);

/// How many calls one connection may carry; what runs at once is bounded by the executor.
const STREAMS: u32 = 10_000;

/// How long is waited after a connection could not be taken, as where there are too many.
const PAUSE: Duration = Duration::from_millis(50);

/// How long connections may take to end on which nothing runs any more.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// Runs tasks that end with the server.
#[derive(Clone)]
struct Tasks {
    tracker: TaskTracker,
    dropped: CancellationToken,
}

impl<F: Future<Output: Send> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, task: F) {
        let dropped = self.dropped.clone();
        self.tracker.spawn(async move {
            tokio::select! {
                _ = task => {}
                () = dropped.cancelled() => {}
            }
        });
    }
}

/// Serves until it is told to stop, and then for as long as calls run and may.
pub(crate) async fn serve(
    endpoint: Endpoint,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
    drain_within: Duration,
) -> Result<(), Error> {
    let tasks = Tasks { tracker: TaskTracker::new(), dropped: CancellationToken::new() };
    // Whatever ends this function ends the tasks.
    let _ends: DropGuard = tasks.dropped.clone().drop_guard();
    let graceful = GracefulShutdown::new();
    let (drains, running) = (Arc::new(AtomicBool::new(false)), TaskTracker::new());
    let mut stop = pin!(stop);
    loop {
        let connection = tokio::select! {
            () = &mut stop => break,
            connection = listener.accept() => connection,
        };
        let stream = match connection {
            Ok((stream, _)) => stream,
            Err(error) if is_passing(&error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            Err(source) => return Err(Error::Serve { source }),
        };
        // Each is a small answer that somebody waits for.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection delays what is small");
        }
        let (endpoint, drains, running) = (endpoint.clone(), Arc::clone(&drains), running.clone());
        let service = service_fn(move |request: Request<hyper::body::Incoming>| {
            // It counts before it is looked whether calls are still begun, so that it is waited for or not begun.
            let runs = running.token();
            let answer = if drains.load(Ordering::SeqCst) && begins(&request) {
                elsewhere()
            } else {
                let stream = Stream::new(&drains);
                let request = request.map(|body| Incoming::new(body, &stream));
                let response = endpoint.handle_with_options(request, HandleOptions::default());
                response.map(|body| Either::Left(Outgoing::new(body, stream, runs)))
            };
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let connection = http2::Builder::new(tasks.clone())
            .timer(TokioTimer::new())
            .keep_alive_interval(LOOK_AFTER)
            .keep_alive_timeout(ANSWERS_WITHIN)
            .max_concurrent_streams(STREAMS)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        hyper::rt::Executor::execute(&tasks, async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection of the engine ended");
            }
        });
    }
    // Runs are taken up by other workers where they next wait for calls.
    drains.store(true, Ordering::SeqCst);
    drop(listener);
    running.close();
    if tokio::time::timeout(drain_within, running.wait()).await.is_err() {
        tracing::warn!("calls that still run are dropped");
    }
    // An engine that is told so while it begins a call drops the connection with all that runs on it, so nothing may by now.
    if tokio::time::timeout(ENDS_WITHIN, graceful.shutdown()).await.is_err() {
        tracing::debug!("a connection of the engine does not end");
    }
    tasks.dropped.cancel();
    tasks.tracker.close();
    tasks.tracker.wait().await;
    Ok(())
}

/// Tells whether a request has a worker begin, or go on with, a call or a run; the others look at one and are short.
fn begins<B>(request: &Request<B>) -> bool {
    request.uri().path().rsplit('/').next() == Some(RUN)
}

/// Has the engine ask again, until this worker has ended or whatever stands before the workers chooses another.
fn elsewhere<B>() -> Response<Either<B, Empty<Bytes>>> {
    let mut answer = Response::new(Either::Right(Empty::new()));
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    answer
}

/// Tells whether later connections may be taken.
fn is_passing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, OutOfMemory};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | OutOfMemory)
        // Too many open files, of the process and of the system.
        || matches!(error.raw_os_error(), Some(23 | 24))
}
