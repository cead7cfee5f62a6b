use super::{approved, scope};
use crate::engine::{Engine, http};
use crate::proxy::Proxy;
use futures_util::future::join_all;
use haft_core::{ToolCall, ToolError};
use haft_durable::{Performer, Redo, Routes};
use haft_durable_restate::{RestateExecutor, Worker};
use haft_tools_core::{
    Accesses, Batch, CallContext, CallOutcome, LocalExecutor, PendingCall, Policy, Rule, ToolExecutor as _,
    ToolRegistry, Widths, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Makes tools that say which worker they are on.
fn saying(worker: &str, names: &[&str]) -> ToolRegistry {
    names.iter().fold(ToolRegistry::new(), |registry, name| {
        let said = format!("{name} of {worker}");
        let tool = tool_fn(name, "Says where it is.", Accesses::none(), move |_: Nothing, _: CallContext| {
            let said = said.clone();
            async move { Ok::<_, ToolError>(said) }
        });
        registry.with(tool.unwrap()).unwrap()
    })
}

fn allowing(registry: ToolRegistry, names: &[&str]) -> Performer {
    let allow = |policy: Policy, name: &&str| policy.allow(Rule::tools(name.parse().unwrap()));
    let policy = names.iter().fold(Policy::new(), allow);
    Performer::new(LocalExecutor::builder(registry).policy(policy))
}

/// Serves, and gives the port.
async fn served(workers: &mut JoinSet<()>, worker: Worker) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    workers.spawn(async move { worker.serve(listener, std::future::pending()).await.unwrap() });
    port
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall::new(id.parse().unwrap(), name, json!({}))
}

async fn outcomes(executor: &RestateExecutor, calls: Vec<ToolCall>) -> Vec<CallOutcome> {
    executor.execute_batch(Batch::new(scope(), calls)).await.into_outcomes()
}

fn said(outcomes: &[CallOutcome]) -> Vec<String> {
    outcomes.iter().map(super::said).collect()
}

fn pending(outcome: CallOutcome) -> PendingCall {
    match outcome {
        CallOutcome::Pending(pending) => *pending,
        other => panic!("it does not wait: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn calls_go_to_the_pool_of_the_first_route_that_names_their_tool() {
    let (engine, mut workers) = (Engine::start().await, JoinSet::new());
    let all = ["browse_page", "browse_form", "count"];
    for pool in ["tools", "browsers"] {
        let worker = Worker::new(pool.parse().unwrap(), allowing(saying(pool, &all), &all));
        engine.knows(served(&mut workers, worker).await).await;
    }
    let routes = Routes::to("tools".parse().unwrap())
        .and("browse_form".parse().unwrap(), "tools".parse().unwrap())
        .and("browse_*".parse().unwrap(), "browsers".parse().unwrap());
    let executor =
        RestateExecutor::new(&engine.ingress(), http(), routes).unwrap().registry(saying("here", &all));
    let calls =
        vec![call("a", "browse_page"), call("b", "browse_form"), call("c", "count"), call("d", "unknown")];
    let said = said(&outcomes(&executor, calls).await);
    assert_eq!(said[..3], ["ok: browse_page of browsers", "ok: browse_form of tools", "ok: count of tools"]);
    assert!(said[3].starts_with("error: unknown tool: "), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn two_versions_of_a_tool_stand_side_by_side_and_what_waits_stays_with_its_own() {
    let (engine, mut workers) = (Engine::start().await, JoinSet::new());
    for pool in ["tools-1", "tools-2"] {
        let worker =
            Worker::new(pool.parse().unwrap(), allowing(saying(pool, &["count", "sign"]), &["count"]));
        engine.knows(served(&mut workers, worker).await).await;
    }
    let (first, second) = (engine.executor("tools-1"), engine.executor("tools-2"));
    let waits = pending(outcomes(&first, vec![call("w", "sign")]).await.remove(0));
    assert_eq!(said(&outcomes(&second, vec![call("a", "count")]).await), ["ok: count of tools-2"]);
    assert_eq!(said(&outcomes(&first, vec![call("b", "count")]).await), ["ok: count of tools-1"]);
    // Whoever answers need not know of the first version.
    let outcome = approved(&second, waits).await.unwrap();
    assert_eq!(super::said(&outcome), "ok: sign of tools-1");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn what_waits_stays_with_the_address_where_it_began_when_a_pool_gets_another() {
    let (engine, mut workers) = (Engine::start().await, JoinSet::new());
    let worker = |version: &str| {
        Worker::new("tools".parse().unwrap(), allowing(saying(version, &["count", "sign"]), &["count"]))
    };
    engine.knows(served(&mut workers, worker("version 1")).await).await;
    let executor = engine.executor("tools");
    let waits = pending(outcomes(&executor, vec![call("w", "sign")]).await.remove(0));
    engine.knows(served(&mut workers, worker("version 2")).await).await;
    assert_eq!(said(&outcomes(&executor, vec![call("a", "count")]).await), ["ok: count of version 2"]);
    assert_eq!(super::said(&approved(&executor, waits).await.unwrap()), "ok: sign of version 1");
}

/// Is how many calls run at once, on one worker.
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn so_many_calls_of_a_tool_run_at_once_on_each_worker() {
    let (engine, mut workers) = (Engine::start().await, JoinSet::new());
    let gate = Arc::new(Semaphore::new(0));
    let gauges = [(); 2].map(|()| Arc::new(Gauge { now: AtomicUsize::new(0), most: AtomicUsize::new(0) }));
    let mut ports = Vec::new();
    for gauge in &gauges {
        let (gauge, gate) = (Arc::clone(gauge), Arc::clone(&gate));
        let slow = tool_fn("slow", "Takes its time.", Accesses::none(), move |_: Nothing, _: CallContext| {
            let (gauge, gate) = (Arc::clone(&gauge), Arc::clone(&gate));
            async move {
                let now = gauge.now.fetch_add(1, Ordering::SeqCst) + 1;
                gauge.most.fetch_max(now, Ordering::SeqCst);
                gate.acquire().await.unwrap().forget();
                gauge.now.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, ToolError>("done".to_owned())
            }
        });
        let registry = ToolRegistry::new().with(slow.unwrap()).unwrap();
        let policy = Policy::new().allow(Rule::tools("slow".parse().unwrap()));
        let widths = Widths { tools: vec![("slow".parse().unwrap(), 2)], ..Widths::default() };
        let performer = Performer::new(LocalExecutor::builder(registry).policy(policy).widths(&widths));
        let worker = Worker::new("tools".parse().unwrap(), performer.redo(Redo::nothing()));
        ports.push(served(&mut workers, worker).await);
    }
    // Each connection to another worker; the engine has one for each of its partitions.
    let proxy = Proxy::start(ports).await;
    engine.knows(proxy.port).await;
    let executor = engine.executor("tools");
    let calls: Vec<ToolCall> = (0..24).map(|number| call(&format!("c{number}"), "slow")).collect();
    let making = tokio::spawn(join_all(calls.into_iter().map(move |call| {
        let executor = executor.clone();
        async move { outcomes(&executor, vec![call]).await.remove(0) }
    })));
    let running = || gauges.iter().map(|gauge| gauge.now.load(Ordering::SeqCst)).collect::<Vec<_>>();
    super::until("a worker has as many as it may", || running().contains(&2)).await;
    gate.add_permits(24);
    let made = making.await.unwrap();
    assert_eq!(said(&made), vec!["ok: done"; 24]);
    for gauge in &gauges {
        assert!(gauge.most.load(Ordering::SeqCst) <= 2, "{}", gauge.most.load(Ordering::SeqCst));
    }
}
