//! What holds with a real server.

mod approvals;
mod conforming;
mod deaths;
mod delegating;
mod load;
mod pools;
mod runs;
mod signed;
mod stopping;
mod telling;
mod week;

use crate::engine::Engine;
use crate::processes::WorkerProcess;
use crate::tools::Ledger;
use haft_core::ToolCall;
use haft_durable_restate::RestateExecutor;
use haft_tools_core::{
    Approval, Batch, CallOutcome, CallScope, PendingCall, Resumption, ResumptionError, ToolExecutor as _,
};
use serde_json::json;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Is a server, a worker that it knows, and what its tools do.
struct Bench {
    engine: Engine,
    worker: WorkerProcess,
    executor: RestateExecutor,
    ledger: Ledger,
    directory: TempDir,
}

impl Bench {
    async fn start() -> Self {
        let directory = TempDir::new().unwrap();
        let (engine, worker) = tokio::join!(Engine::start(), WorkerProcess::start(directory.path()));
        engine.knows(worker.port).await;
        let (executor, ledger) = (engine.executor("tools"), Ledger::at(directory.path()));
        Self { engine, worker, executor, ledger, directory }
    }

    async fn asked(&self, id: &str) -> PendingCall {
        match made(&self.executor, call(id, "sign")).await {
            CallOutcome::Pending(pending) => *pending,
            other => panic!("it does not wait: {other:?}"),
        }
    }
}

fn scope() -> CallScope {
    CallScope::new("r".parse().unwrap()).with_turn(1)
}

fn call(id: &str, tool: &str) -> ToolCall {
    ToolCall::new(id.parse().unwrap(), tool, json!({ "to": id }))
}

/// A call that waits, once it has begun, until it is let go on.
fn slow(id: &str, tool: &str) -> ToolCall {
    ToolCall::new(id.parse().unwrap(), tool, json!({ "to": id, "waits": true }))
}

async fn made(executor: &RestateExecutor, call: ToolCall) -> CallOutcome {
    executor.execute_batch(Batch::new(scope(), vec![call])).await.into_outcomes().remove(0)
}

async fn approved(executor: &RestateExecutor, pending: PendingCall) -> Result<CallOutcome, ResumptionError> {
    executor.resume(Resumption::new(pending.scope(), pending, Approval::Approve)).await
}

fn said(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Replied(reply) => format!("{}: {}", reply.status, reply.output.to_text()),
        other => panic!("it is not answered: {other:?}"),
    }
}

/// Waits until something holds.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < crate::engine::PATIENCE, "it never holds that {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
