//! What a call costs beside a workflow of the same steps that knows nothing of calls.
//!
//! It is measured on a quiet machine: `cargo test --release -p haft-durable-restate --test it -- --ignored --nocapture cost::`.

use crate::agents::{agent, says, script};
use crate::engine::{Engine, http};
use crate::processes::WorkerProcess;
use crate::tools::{Ledger, performer};
use bytes::Bytes;
use futures_util::StreamExt as _;
use haft_core::{ReplyStatus, ToolCall};
use haft_durable_restate::{RestateExecutor, RunRequest, RunStanding, Worker};
use haft_http::{Exchange, HttpClient};
use haft_tools_core::{Batch, CallOutcome, CallScope, ToolExecutor as _};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use restate_sdk::ingress::{Client, RequestExecutor, RequestTarget};
use restate_sdk::prelude::{
    ContextClient as _, ContextPromises as _, ContextSideEffects as _, HandlerError, HandlerResult, Json,
    RunFuture as _, WorkflowContext,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Does what the workflow of a call does: a step, a promise, and the end.
struct Bare;

#[restate_sdk::workflow(name = "bare", client_visibility = "pub(crate)")]
impl Bare {
    #[restate_sdk::handler]
    async fn run(&self, ctx: WorkflowContext<'_>, input: Json<Value>) -> HandlerResult<Json<Value>> {
        let step = ctx.run(move || async move { Ok::<_, HandlerError>(Json(input.into_inner())) });
        let outcome = step.name("round 0").await?;
        ctx.resolve_promise("outcome/0", Json(json!({ "pending": null })));
        Ok(outcome)
    }
}

#[derive(Clone)]
struct Http(HttpClient);

impl RequestExecutor for Http {
    type Error = haft_http::Error;

    async fn execute(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, haft_http::Error> {
        let (head, body) = self.0.send(request, Exchange::default()).await?.into_parts();
        Ok(http::Response::from_parts(head, body.bytes().await?))
    }
}

/// Is both of them on one server.
struct Both {
    executor: RestateExecutor,
    client: Client<Http>,
    made: AtomicU64,
    _workers: JoinSet<()>,
    _directory: TempDir,
    engine: Engine,
}

impl Both {
    async fn start() -> Self {
        let (engine, directory) = (Engine::start().await, TempDir::new().unwrap());
        let mut workers = JoinSet::new();
        let listeners = [(); 2].map(|()| std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap());
        let [call, bare] = listeners.map(|listener| {
            listener.set_nonblocking(true).unwrap();
            TcpListener::from_std(listener).unwrap()
        });
        let ports = [&call, &bare].map(|listener| listener.local_addr().unwrap().port());
        let ledger = Ledger::at(directory.path());
        let worker = Worker::new("tools".parse().unwrap(), performer(&ledger, None))
            .and("lead".parse().unwrap(), agent("lead", &ledger));
        workers.spawn(async move { worker.serve(call, std::future::pending()).await.unwrap() });
        workers.spawn(serve_bare(bare));
        for port in ports {
            engine.knows(port).await;
        }
        let client = Client::new(engine.ingress().as_str().parse().unwrap(), Http(http())).unwrap();
        let executor = engine.executor("tools");
        let made = AtomicU64::new(0);
        Self { executor, client, made, _workers: workers, _directory: directory, engine }
    }

    async fn call(&self) {
        let scope =
            CallScope::new(format!("r{}", self.made.fetch_add(1, Ordering::Relaxed)).parse().unwrap());
        let call = ToolCall::new("c".parse().unwrap(), "nothing", json!({ "to": "nobody" }));
        let outcome = self.executor.execute_batch(Batch::new(scope, vec![call])).await;
        let replies = outcome.into_replies().unwrap();
        assert_eq!((replies[0].status, replies[0].output.to_text()), (ReplyStatus::Ok, "nothing".to_owned()));
    }

    async fn bare(&self) {
        let key = self.made.fetch_add(1, Ordering::Relaxed).to_string();
        let target = RequestTarget::workflow("bare", key, "run");
        let request = self.client.request::<_, Json<Value>>(target, Json(json!({ "to": "nobody" })));
        let sent = request.send().await.unwrap();
        sent.invocation_handle().attach().await.unwrap();
    }
}

async fn serve_bare(listener: TcpListener) {
    let endpoint = HyperEndpoint::new(Endpoint::builder().bind(Bare).bind(BareFan).build());
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let connection = http2::Builder::new(TokioExecutor::default())
            .serve_connection(TokioIo::new(stream), endpoint.clone());
        connections.spawn(async move { drop(connection.await) });
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "is a measurement, and needs the server that `cargo xtask durable` installs"]
async fn a_call_costs_little_more_than_a_bare_workflow_of_the_same_steps() {
    let both = Both::start().await;
    both.call().await;
    both.bare().await;
    let (mut calls, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        // By turns, so that whatever else the machine does meets both.
        let start = Instant::now();
        both.call().await;
        calls.push(start.elapsed());
        let start = Instant::now();
        both.bare().await;
        bare.push(start.elapsed());
    }
    let (one_call, one_bare) = (median(calls), median(bare));
    let (mut calls, mut bare) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..10 {
        let start = Instant::now();
        futures_16(&both, Both::call).await;
        calls += start.elapsed();
        let start = Instant::now();
        futures_16(&both, Both::bare).await;
        bare += start.elapsed();
    }
    let cost = one_call.as_secs_f64() / one_bare.as_secs_f64();
    let throughput = bare.as_secs_f64() / calls.as_secs_f64();
    println!(
        "a call {one_call:?}, a bare workflow {one_bare:?}, which is {cost:.2} times as much; 16 at once: 640 calls in \
         {calls:?}, 640 bare workflows in {bare:?}, which is {throughput:.2} of the throughput"
    );
    drop(both.engine);
    assert!(cost <= 1.3 && throughput >= 0.8, "{cost:.2} times the time, {throughput:.2} of the throughput");
}

/// Calls so many bare workflows at once, and waits for all.
struct BareFan;

#[restate_sdk::workflow(name = "bare-fan", client_visibility = "pub(crate)")]
impl BareFan {
    #[restate_sdk::handler]
    async fn run(&self, ctx: WorkflowContext<'_>, count: Json<u32>) -> HandlerResult<Json<u32>> {
        let calls: Vec<_> = (0..count.into_inner())
            .map(|number| {
                let key = format!("{}/{number}", ctx.key());
                let target = RequestTarget::workflow("bare", key, "run");
                ctx.request::<_, Json<Value>>(target, Json(json!({ "to": "nobody" }))).call()
            })
            .collect();
        let mut done = 0;
        for call in calls {
            call.await?;
            done += 1;
        }
        Ok(Json(done))
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "is a measurement, and needs the server that `cargo xtask durable` installs"]
async fn a_thousand_calls_of_one_turn_are_made_at_once() {
    let both = Both::start().await;
    let run = |name: &str, calls: usize| {
        let calls: Vec<Value> = (0..calls)
            .map(|number| json!({ "id": format!("c{number}"), "name": "nothing", "input": { "to": "nobody" } }))
            .collect();
        let task = script(&[json!({ "calls": calls }), says("Done.")]);
        RunRequest::new(&CallScope::new(name.parse().unwrap()), task).unwrap()
    };
    let runs = both.executor.runs("lead".parse().unwrap());
    let timed = async |request: RunRequest| {
        let start = Instant::now();
        let RunStanding::Ended(state) = runs.begin(&request).await.unwrap().standing().await.unwrap() else {
            panic!("it waits")
        };
        assert_eq!(state.last_text(), "Done.");
        start.elapsed()
    };
    let bare = async |key: &str| {
        let start = Instant::now();
        let target = RequestTarget::workflow("bare-fan", key, "run");
        let sent = both.client.request::<_, Json<u32>>(target, Json(1000_u32)).send().await.unwrap();
        assert_eq!(sent.invocation_handle().attach().await.unwrap().into_body().into_inner(), 1000);
        start.elapsed()
    };
    timed(run("warm", 100)).await;
    bare("warm").await;
    let (mut fanned, mut floor) = (Vec::new(), Vec::new());
    for round in 0..5 {
        fanned.push(timed(run(&format!("fan-{round}"), 1000)).await);
        floor.push(bare(&format!("fan-{round}")).await);
    }
    let (fanned, floor) = (median(fanned), median(floor));
    println!(
        "a run with 1,000 calls in one turn {fanned:?}; a bare workflow that calls 1,000 others {floor:?}"
    );
    drop(both.engine);
    assert!(fanned <= Duration::from_millis(1500), "{fanned:?}, and {floor:?} for bare workflows");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "is a measurement, and needs the server that `cargo xtask durable` installs"]
async fn ten_thousand_calls_that_wait_take_no_memory_of_a_worker() {
    let directory = TempDir::new().unwrap();
    let (engine, worker) = tokio::join!(Engine::start(), WorkerProcess::start(directory.path()));
    engine.knows(worker.port).await;
    let executor = engine.executor("tools");
    let (mut asked, mut memory) = (0_u32, Vec::new());
    for until in [1_000_u32, 5_000, 10_000] {
        let asks = (asked..until).map(|number| {
            let scope = CallScope::new(format!("r{number}").parse().unwrap());
            let call = ToolCall::new("c".parse().unwrap(), "sign", json!({ "to": "nobody" }));
            let executor = executor.clone();
            async move {
                let outcomes = executor.execute_batch(Batch::new(scope, vec![call])).await.into_outcomes();
                assert!(matches!(&*outcomes, [CallOutcome::Pending(_)]), "{outcomes:?}");
            }
        });
        futures_util::stream::iter(asks).buffer_unordered(32).collect::<Vec<()>>().await;
        asked = until;
        memory.push((asked, worker.memory() / 1024));
    }
    println!("calls that wait, and KiB of the worker: {memory:?}");
    // A call that held a stream and a task would take some KiB of its own.
    assert!(memory[2].1.saturating_sub(memory[0].1) < 9_000, "{memory:?}");
}

/// Makes 64 of something, 16 at once.
async fn futures_16<'a, F: Future<Output = ()>>(both: &'a Both, make: impl Fn(&'a Both) -> F) {
    let make = &make;
    let lane = || async move {
        for _ in 0..4 {
            make(both).await;
        }
    };
    futures_util::future::join_all((0..16).map(|_| lane())).await;
}
