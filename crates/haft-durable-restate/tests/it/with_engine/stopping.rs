use super::delegating::nameless;
use super::runs::{begun, ended, said as lines, waiting};
use super::{Bench, call, said, scope, until};
use crate::agents::{calls, says, script};
use haft_agent::RunEnd;
use haft_tools_core::{Batch, ToolExecutor as _};
use serde_json::json;
use std::path::Path;
use tokio_util::sync::CancellationToken;

fn is_alive(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_call_that_is_cancelled_ends_the_program_that_it_runs_on_its_worker() {
    let bench = Bench::start().await;
    let stop = CancellationToken::new();
    let batch = Batch::new(scope(), vec![call("c", "hang")]).cancelled_by(stop.clone());
    let executor = bench.executor.clone();
    let running = tokio::spawn(async move { executor.execute_batch(batch).await.into_outcomes().remove(0) });
    until("the program runs", || !bench.ledger.started().is_empty()).await;
    let program = bench.ledger.started()[0];
    assert!(is_alive(program));
    stop.cancel();
    assert!(said(&running.await.unwrap()).starts_with("cancelled: "));
    until("the program has ended", || !is_alive(program)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn whoever_asks_for_a_call_again_can_cancel_it() {
    let bench = Bench::start().await;
    let executor = bench.executor.clone();
    let batch = Batch::new(scope(), vec![call("c", "hang")]);
    let first = tokio::spawn(async move { executor.execute_batch(batch).await.into_outcomes().remove(0) });
    until("the program runs", || !bench.ledger.started().is_empty()).await;
    let stop = CancellationToken::new();
    let again = Batch::new(scope(), vec![call("c", "hang")]).cancelled_by(stop.clone());
    let other = bench.engine.executor("tools");
    // It asks for the call before it is told to stop.
    let (again, ()) = tokio::join!(other.execute_batch(again), async { stop.cancel() });
    assert!(said(&again.outcomes()[0]).starts_with("cancelled: "));
    assert!(said(&first.await.unwrap()).starts_with("cancelled: "));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_that_the_engine_itself_cancels_while_its_calls_go_on_ends_as_cancelled() {
    let bench = Bench::start().await;
    let hang = |id: &str| calls(&[(id, "hang", json!({ "to": id }))]);
    let task = script(&[hang("below"), says("Not said.")]);
    let delegate = json!({ "tasks": [{ "agent": "helper", "task": task }] });
    let both = calls(&[("d", "delegate", delegate), ("c", "hang", json!({ "to": "above" }))]);
    let run = begun(&bench, "lead", "run-1", &script(&[both, says("Not said.")])).await;
    until("both programs run", || bench.ledger.started().len() == 2).await;
    // By now it is looked whether they wait: both calls, and the run below.
    bench.engine.is_asked("outcome", 2).await;
    bench.engine.is_asked("standing", 1).await;
    bench.engine.cancels("lead", "run-1").await;
    let state = ended(&run).await;
    assert_eq!(
        (state.end(), nameless(&lines(&state)[2]).as_str()),
        (Some(&RunEnd::Cancelled), "d cancelled:  cancelled:; c cancelled: stopped as told")
    );
    until("both programs have ended", || {
        bench.ledger.started().into_iter().all(|program| !is_alive(program))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_that_the_engine_itself_cancels_while_people_are_waited_for_ends_as_cancelled() {
    let bench = Bench::start().await;
    let sign = |id: &str| calls(&[(id, "sign", json!({ "to": id }))]);
    let task = script(&[sign("below"), says("Not said.")]);
    let delegate = json!({ "tasks": [{ "agent": "helper", "task": task }] });
    let both = calls(&[("d", "delegate", delegate), ("c", "sign", json!({ "to": "above" }))]);
    let run = begun(&bench, "lead", "run-1", &script(&[both, says("Not said.")])).await;
    assert_eq!(waiting(&run).await.len(), 2);
    bench.engine.cancels("lead", "run-1").await;
    let state = ended(&run).await;
    let not_run =
        "the call was cancelled while it waited for an approval; it was not run, so nothing was done";
    assert_eq!(
        (state.end(), nameless(&lines(&state)[2])),
        (Some(&RunEnd::Cancelled), format!("d cancelled:  cancelled:; c cancelled: {not_run}"))
    );
    assert_eq!(bench.ledger.begun(), []);
}
