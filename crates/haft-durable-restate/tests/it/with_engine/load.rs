use super::{Bench, scope, until};
use crate::processes::WorkerProcess;
use crate::proxy::Proxy;
use haft_core::ToolCall;
use haft_tools_core::{Batch, CallOutcome, ToolExecutor as _};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Makes so many calls, so many at once, and gives what became of them.
async fn many(bench: &Bench, tool: &'static str, calls: usize, at_once: usize) -> Vec<CallOutcome> {
    let width = Arc::new(Semaphore::new(at_once));
    let mut making = JoinSet::new();
    for number in 0..calls {
        let (executor, width) = (bench.executor.clone(), Arc::clone(&width));
        making.spawn(async move {
            let _room = width.acquire_owned().await.unwrap();
            let id = format!("c{number}").parse().unwrap();
            let call = ToolCall::new(id, tool, json!({ "to": number.to_string() }));
            executor.execute_batch(Batch::new(scope(), vec![call])).await.into_outcomes().remove(0)
        });
    }
    making.join_all().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_thousand_calls_have_a_thousand_effects_though_a_worker_is_killed_among_them() {
    let bench = Bench::start().await;
    let mut second = WorkerProcess::start(bench.directory.path()).await;
    let proxy = Proxy::start(vec![bench.worker.port, second.port]).await;
    bench.engine.knows(proxy.port).await;
    let (outcomes, ()) = tokio::join!(many(&bench, "pay", 1000, 32), async {
        until("a part is done", || bench.ledger.effects().len() > 300).await;
        second.kill();
    });
    let is_paid = |outcome: &CallOutcome| match outcome {
        CallOutcome::Replied(reply) => reply.status.is_ok(),
        _ => false,
    };
    let unpaid: Vec<_> = outcomes.iter().filter(|outcome| !is_paid(outcome)).collect();
    assert_eq!((unpaid, bench.ledger.effects().len()), (vec![], 1000));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn calls_that_wait_take_no_memory_of_the_worker() {
    let bench = Bench::start().await;
    let count = |outcomes: Vec<CallOutcome>| {
        outcomes.iter().filter(|outcome| matches!(outcome, CallOutcome::Pending(_))).count()
    };
    // The first ones make what a worker keeps for all.
    assert_eq!(count(many(&bench, "sign", 500, 32).await), 500);
    let before = bench.worker.memory();
    let scope = scope().with_turn(2);
    let mut making = JoinSet::new();
    let width = Arc::new(Semaphore::new(32));
    for number in 0..2000 {
        let (executor, width, scope) = (bench.executor.clone(), Arc::clone(&width), scope.clone());
        making.spawn(async move {
            let _room = width.acquire_owned().await.unwrap();
            let id = format!("c{number}").parse().unwrap();
            let call = ToolCall::new(id, "sign", json!({ "to": number.to_string() }));
            executor.execute_batch(Batch::new(scope, vec![call])).await.into_outcomes().remove(0)
        });
    }
    assert_eq!(count(making.join_all().await), 2000);
    let more = bench.worker.memory().saturating_sub(before);
    println!(
        "2000 more calls that wait: {} KiB more on the worker, which has {} KiB",
        more / 1024,
        before / 1024
    );
    // A call that held a stream and a task would take more than this for each.
    assert!(more < 2000 * 4096, "{more} bytes more");
}
