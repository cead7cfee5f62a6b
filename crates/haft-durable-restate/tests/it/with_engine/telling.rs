//! What clients are told while a call runs.

use super::{call, scope, slow, until};
use crate::engine::{Engine, http, url};
use crate::processes::WorkerProcess;
use crate::proxy::Proxy;
use crate::tools::Ledger;
use haft_core::{Event, EventKind, ToolError, ToolOutput};
use haft_durable::{Performer, Routes};
use haft_durable_restate::{RestateExecutor, Worker};
use haft_http::Exchange;
use haft_tools_core::{
    Accesses, Approval, Batch, CallContext, CallOutcome, Events, LocalExecutor, Policy, Resumption, Rule,
    ToolExecutor as _, ToolRegistry, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

/// Takes down what observers are told, in words.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    fn observer(&self) -> Arc<dyn haft_tools_core::Observer> {
        let sink = Arc::clone(&self.0);
        Arc::new(move |event: &Event| {
            assert_eq!(event.call.as_ref().map(ToString::to_string).as_deref(), Some("c"));
            sink.lock().unwrap().push(match &event.kind {
                EventKind::Started { name, .. } => format!("{name} starts"),
                EventKind::Progressed { progress } => {
                    format!("at {}", progress.message.as_deref().unwrap_or("nothing"))
                }
                EventKind::Updated { output } => format!("has {}", output.to_text()),
                EventKind::ApprovalRequested { .. } => "is asked about".to_owned(),
                EventKind::Finished { reply } => format!("ends with {}", reply.output.to_text()),
                other => format!("{other:?}"),
            });
        })
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn has(&self, what: &str) -> bool {
        self.0.lock().unwrap().iter().any(|said| said.contains(what))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Talk {
    to: String,
}

/// Makes a tool that says what it does, step by step, each of which it begins when it is let; `asks` is asked about.
fn talking(gate: &Arc<Semaphore>) -> Performer {
    let named = |name: &str| {
        let gate = Arc::clone(gate);
        let tool =
            tool_fn(name, "Says how far it is.", Accesses::none(), move |talk: Talk, cx: CallContext| {
                let gate = Arc::clone(&gate);
                async move {
                    let mut output = talk.to;
                    for step in 1..=3 {
                        gate.acquire().await.unwrap().forget();
                        output = format!("{output}, {step}");
                        cx.update(|| ToolOutput::text(output.clone()));
                        cx.progress(format!("step {step}"));
                    }
                    gate.acquire().await.unwrap().forget();
                    Ok::<_, ToolError>(output)
                }
            });
        tool.unwrap()
    };
    let registry = ToolRegistry::new().with(named("talks")).unwrap().with(named("asks")).unwrap();
    let policy = Policy::new().allow(Rule::tools("talks".parse().unwrap()));
    Performer::new(LocalExecutor::builder(registry).policy(policy))
}

/// Starts an engine with a worker that tells through it.
async fn started(gate: &Arc<Semaphore>) -> (Engine, RestateExecutor, JoinSet<()>) {
    let engine = Engine::start().await;
    let executor = engine.executor("talking");
    let workers = telling(&engine, gate, &executor).await;
    (engine, executor, workers)
}

/// Starts a worker that tells by way of this executor.
async fn telling(engine: &Engine, gate: &Arc<Semaphore>, through: &RestateExecutor) -> JoinSet<()> {
    let mut workers = JoinSet::new();
    let worker = Worker::new("talking".parse().unwrap(), talking(gate)).updates_through(through);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    workers.spawn(async move { worker.serve(listener, std::future::pending()).await.unwrap() });
    engine.knows(port).await;
    workers
}

fn making(executor: &RestateExecutor, batch: Batch) -> JoinHandle<CallOutcome> {
    let executor = executor.clone();
    tokio::spawn(async move { executor.execute_batch(batch).await.into_outcomes().remove(0) })
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn whoever_waits_for_a_call_is_told_how_far_it_has_got() {
    let gate = Arc::new(Semaphore::new(0));
    let (engine, executor, _workers) = started(&gate).await;
    let batch = || Batch::new(scope(), vec![call("c", "talks")]);
    let first = Heard::default();
    let running = making(&executor, batch().observed_by(first.observer()));
    for step in ["step 1", "step 2"] {
        gate.add_permits(1);
        until("the step is told", || first.has(step)).await;
    }
    // Somebody who comes later is told what is the newest.
    let later = Heard::default();
    let again = RestateExecutor::new(&engine.ingress(), http(), Routes::to("talking".parse().unwrap()));
    let again = again.unwrap().events(Events::new([later.observer()]));
    let repeated = making(&again, batch());
    until("the second client is told", || later.has("step 2")).await;
    // What anybody could send is not kept of rounds that there are not, and not without end.
    for (round, number) in [(7, 0), (u32::MAX, 0), (0, u32::MAX), (0, 2_000)] {
        let body = json!({ "round": round, "number": number, "news": {} }).to_string();
        let address = format!("{}restate/call/talking/r%2F1%2Fc/hear", engine.ingress());
        let request = http::Request::post(address).header("content-type", "application/json");
        let answer = http().send(request.body(body.into()).unwrap(), Exchange::default()).await.unwrap();
        let answer = answer.into_body().bytes().await.unwrap();
        assert_eq!(&answer[..], b"null", "{round} {number}");
    }
    let of_the_first = |name: &String| !name.starts_with("news/") || name.starts_with("news/0/");
    assert!(engine.promises("c").await.iter().all(of_the_first));
    gate.add_permits(2);
    let (outcome, other) = (running.await.unwrap(), repeated.await.unwrap());
    assert_eq!(super::said(&outcome), "ok: c, 1, 2, 3");
    assert_eq!(super::said(&other), super::said(&outcome));

    let told = first.all();
    assert_eq!(told[..2], ["talks starts", "has c, 1"]);
    assert_eq!(told.last().unwrap(), "ends with c, 1, 2, 3");
    assert_eq!(told.iter().filter(|said| said.starts_with("ends")).count(), 1);
    assert_eq!(later.all()[..2], ["talks starts", "has c, 1, 2"]);
    assert!(!later.has("step 1"), "{:?}", later.all());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_call_that_was_approved_tells_whoever_approved_it() {
    let gate = Arc::new(Semaphore::new(0));
    let (_engine, executor, _workers) = started(&gate).await;
    let heard = Heard::default();
    let batch = Batch::new(scope(), vec![call("c", "asks")]).observed_by(heard.observer());
    let CallOutcome::Pending(pending) = making(&executor, batch).await.unwrap() else { panic!("it goes on") };
    assert_eq!(heard.all(), ["asks starts", "is asked about"]);
    let after = Heard::default();
    let resumption =
        Resumption::new(pending.scope(), *pending, Approval::Approve).observed_by(after.observer());
    let approving = executor.clone();
    let running = tokio::spawn(async move { approving.resume(resumption).await.unwrap() });
    gate.add_permits(1);
    until("the step is told", || after.has("step 1")).await;
    // Somebody who asks for the call again is told as well, though they do not know that it was approved.
    let again = Heard::default();
    let batch = Batch::new(scope(), vec![call("c", "asks")]).observed_by(again.observer());
    let repeated = making(&executor, batch);
    until("whoever asks again is told", || again.has("step 1")).await;
    gate.add_permits(3);
    assert!(super::said(&repeated.await.unwrap()).starts_with("ok: c, 1"));
    assert!(super::said(&running.await.unwrap()).starts_with("ok: c, 1"));
    assert_eq!(after.all().last().unwrap(), "ends with c, 1, 2, 3");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn of_a_call_that_nobody_listens_to_nothing_is_kept() {
    let gate = Arc::new(Semaphore::new(0));
    let engine = Engine::start().await;
    let proxy = Proxy::start(vec![engine.ingress().port().unwrap()]).await;
    let through = RestateExecutor::new(&url(proxy.port), http(), Routes::to("talking".parse().unwrap()));
    let _workers = telling(&engine, &gate, &through.unwrap()).await;
    let executor = engine.executor("talking");
    let running = making(&executor, Batch::new(scope(), vec![call("c", "talks")]));
    gate.add_permits(3);
    until("the worker has something to tell", || proxy.is_used()).await;
    gate.add_permits(1);
    assert!(super::said(&running.await.unwrap()).starts_with("ok: "));
    let kept = engine.promises("c").await;
    assert!(kept.iter().any(|name| name == "outcome/0"), "{kept:?}");
    assert!(!kept.iter().any(|name| name.starts_with("news/")), "{kept:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_client_is_told_on_when_another_worker_goes_on_with_its_call() {
    let (engine, directory) = (Engine::start().await, TempDir::new().unwrap());
    let ledger = Ledger::at(directory.path());
    let mut worker = WorkerProcess::start_telling(directory.path(), &engine.ingress()).await;
    engine.knows(worker.port).await;
    let (executor, heard) = (engine.executor("tools"), Heard::default());
    let running =
        making(&executor, Batch::new(scope(), vec![slow("c", "pay")]).observed_by(heard.observer()));
    until("the first worker is heard", || heard.has(&format!("at begun by {}", worker.id()))).await;
    worker.kill();
    let other = WorkerProcess::start_telling_at(directory.path(), worker.port, &engine.ingress()).await;
    until("the second worker is heard", || heard.has(&format!("at begun by {}", other.id()))).await;
    ledger.let_go();
    assert_eq!(super::said(&running.await.unwrap()), "ok: paid");
    assert_eq!(ledger.effects(), ["r/1/c:0"]);
}
