use super::{Bench, call, made, said, scope, slow, until};
use crate::engine::Engine;
use crate::processes::WorkerProcess;
use crate::proxy::Proxy;
use crate::tools::Ledger;
use futures_util::future::join_all;
use haft_tools_core::{Approval, CallOutcome, Resumption, ToolExecutor as _};
use std::time::Duration;
use tempfile::TempDir;

/// Two workers behind one address, by which the server knows them.
async fn two_workers(bench: &Bench) -> (WorkerProcess, Proxy) {
    let second = WorkerProcess::start(bench.directory.path()).await;
    let proxy = Proxy::start(vec![bench.worker.port, second.port]).await;
    bench.engine.knows(proxy.port).await;
    (second, proxy)
}

/// Has the worker killed that performs a call, and gives who began it and what became of it.
async fn killed_in_mid_call(tool: &str) -> (Bench, Vec<(String, u32)>, String) {
    let mut bench = Bench::start().await;
    let (mut second, _proxy) = two_workers(&bench).await;
    let executor = bench.executor.clone();
    let call = slow("c", tool);
    let making = tokio::spawn(async move { said(&made(&executor, call).await) });
    until("the call has begun", || !bench.ledger.begun().is_empty()).await;
    let first = bench.ledger.begun()[0].1;
    if first == second.id() {
        second.kill();
    } else {
        bench.worker.kill();
    }
    bench.ledger.let_go();
    let said = making.await.unwrap();
    let begun = bench.ledger.begun();
    (bench, begun, said)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn another_worker_finishes_the_call_of_one_that_was_killed_with_one_effect() {
    let (bench, begun, said) = killed_in_mid_call("pay").await;
    let [(first_key, first), (second_key, second)] = begun.as_slice() else { panic!("{begun:?}") };
    assert_eq!((first_key.as_str(), second_key.as_str()), ("r/1/c:0", "r/1/c:0"));
    assert_ne!(first, second);
    assert_eq!((said.as_str(), bench.ledger.effects()), ("ok: paid", vec!["r/1/c:0".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_call_that_may_not_be_made_again_is_lost_with_its_worker() {
    let (bench, begun, said) = killed_in_mid_call("gamble").await;
    assert_eq!((begun.len(), bench.ledger.effects()), (1, vec![]));
    assert_eq!(
        said,
        "error: failed: the program ended while this call was due, so whether it had its effect is not known; look before you \
         repeat it"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_call_that_may_not_be_made_again_is_made_once() {
    let bench = Bench::start().await;
    assert_eq!(said(&made(&bench.executor, call("c", "gamble")).await), "ok: paid");
    assert_eq!(said(&made(&bench.executor, call("c", "gamble")).await), "ok: paid");
    assert_eq!((bench.ledger.begun().len(), bench.ledger.effects().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_worker_that_is_killed_while_its_call_waits_is_not_missed() {
    let mut bench = Bench::start().await;
    let (_second, _proxy) = two_workers(&bench).await;
    let pending = bench.asked("c").await;
    bench.worker.kill();
    let resumption = Resumption::new(scope(), pending, Approval::Approve);
    assert_eq!(said(&bench.executor.resume(resumption).await.unwrap()), "ok: paid");
    assert_eq!(bench.ledger.effects(), ["r/1/c:1"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_call_goes_on_for_a_client_that_did_not_begin_it() {
    let bench = Bench::start().await;
    let executor = bench.executor.clone();
    let first = tokio::spawn(async move { made(&executor, slow("c", "pay")).await });
    until("the call has begun", || !bench.ledger.begun().is_empty()).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let other = bench.engine.executor("tools");
    let second = tokio::spawn(async move { said(&made(&other, slow("c", "pay")).await) });
    bench.ledger.let_go();
    assert_eq!(second.await.unwrap(), "ok: paid");
    assert_eq!((bench.ledger.begun().len(), bench.ledger.effects().len()), (1, 1));
}

/// Tells whether it has its effect: an engine that dies before it has kept the reply has the call made again, and the tool
/// knows it by its key.
fn is_paid(said: &str) -> bool {
    matches!(said, "ok: paid" | "ok: paid before")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn the_engine_is_killed_while_a_call_waits_and_while_it_runs() {
    let mut bench = Bench::start().await;
    let pending = bench.asked("waits").await;
    let executor = bench.executor.clone();
    let running = tokio::spawn(async move { said(&made(&executor, slow("runs", "pay")).await) });
    until("the call has begun", || !bench.ledger.begun().is_empty()).await;
    bench.engine.kill();
    bench.ledger.let_go();
    bench.engine.start_again().await;
    let resumption = Resumption::new(scope(), pending, Approval::Approve);
    assert_eq!(said(&bench.executor.resume(resumption).await.unwrap()), "ok: paid");
    let running = running.await.unwrap();
    assert!(is_paid(&running), "{running}");
    assert_eq!(bench.ledger.effects(), ["r/1/runs:0", "r/1/waits:1"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_node_of_three_is_killed_and_what_waits_is_answered_through_another() {
    let directory = TempDir::new().unwrap();
    let (mut nodes, worker) = tokio::join!(Engine::cluster(3), WorkerProcess::start(directory.path()));
    nodes[0].knows(worker.port).await;
    let (first, last) = (&nodes[0].executor("tools"), &nodes[2].executor("tools"));
    let ids: Vec<String> = (0..100).map(|number| format!("c{number}")).collect();
    let asked = join_all(ids.iter().map(|id| made(first, call(id, "sign")))).await;
    nodes[0].kill();
    let answered = join_all(asked.into_iter().map(async |asked| {
        let CallOutcome::Pending(pending) = asked else { panic!("it does not wait: {asked:?}") };
        said(&last.resume(Resumption::new(scope(), *pending, Approval::Approve)).await.unwrap())
    }));
    for said in answered.await {
        assert!(is_paid(&said), "{said}");
    }
    assert_eq!(Ledger::at(directory.path()).effects().len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_worker_that_is_told_to_stop_ends_its_calls_first() {
    let bench = Bench::start().await;
    let executor = bench.executor.clone();
    let running = tokio::spawn(async move { made(&executor, slow("c", "gamble")).await });
    until("the call has begun", || !bench.ledger.begun().is_empty()).await;
    let Bench { worker, ledger, engine, executor: _, directory: _directory } = bench;
    let drained = tokio::spawn(worker.drain());
    ledger.let_go();
    drained.await.unwrap();
    let outcome: CallOutcome = running.await.unwrap();
    assert_eq!(said(&outcome), "ok: paid");
    drop(engine);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn what_is_asked_of_a_worker_that_is_told_to_stop_ends_none_of_its_calls() {
    let bench = Bench::start().await;
    let Bench { worker, ledger, engine, executor, directory } = bench;
    let making = |call| {
        let executor = executor.clone();
        tokio::spawn(async move { made(&executor, call).await })
    };
    // Before the client looks whether they wait, which it does while the worker is told to stop.
    let running: Vec<_> = (0..8).map(|number| making(slow(&format!("slow-{number}"), "gamble"))).collect();
    until("the calls have begun", || ledger.begun().len() == 8).await;
    let port = worker.port;
    let drained = tokio::spawn(worker.drain());
    let mut late = Vec::new();
    for number in 0..50 {
        late.push(making(call(&format!("late-{number}"), "nothing")));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    ledger.let_go();
    drained.await.unwrap();
    for outcome in running {
        assert_eq!(said(&outcome.await.unwrap()), "ok: paid");
    }
    let _next = WorkerProcess::start_at(directory.path(), port).await;
    for outcome in late {
        assert_eq!(said(&outcome.await.unwrap()), "ok: nothing");
    }
    drop(engine);
}
