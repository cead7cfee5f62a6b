//! A model and an executor that cost next to nothing.

use async_trait::async_trait;
use haft_core::{ReplyStatus, StopReason, ToolOutput, ToolReply, Usage};
use haft_model::{Delta, DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest};
use haft_tools_core::{
    Batch, BatchOutcome, CallOutcome, CallScope, Resumption, ResumptionError, ToolExecutor,
};
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_util::sync::CancellationToken;

pub(crate) type Fault = Box<dyn std::error::Error>;

pub(crate) fn scope() -> Result<CallScope, Fault> {
    Ok(CallScope::new("run-1".parse()?))
}

/// Makes a call in each turn but the last, with other arguments each time.
pub(crate) struct Busy {
    capabilities: ModelCapabilities,
    turns: u32,
    taken: AtomicU32,
}

impl Busy {
    pub(crate) fn new(turns: u32) -> Self {
        Self { capabilities: ModelCapabilities::new("busy"), turns, taken: AtomicU32::new(0) }
    }
}

#[async_trait]
impl Model for Busy {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(&self, _: ModelRequest, _: CancellationToken) -> Result<DeltaStream, ModelError> {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
        let usage = Delta::Usage(Usage { input: 1_000, output: 50, ..Usage::default() });
        let rest = if taken >= self.turns {
            vec![usage, Delta::Stop(StopReason::EndTurn)]
        } else {
            let fragment = format!(r#"{{"path":"src/lib.rs","offset":{taken}}}"#);
            let id = format!("c{taken}").parse().map_err(|_| ModelError::Truncated)?;
            vec![
                Delta::ToolCallStart { index: 0, id, name: "read_file".to_owned() },
                Delta::ToolCallArguments { index: 0, fragment },
                usage,
                Delta::Stop(StopReason::ToolCalls),
            ]
        };
        Ok(DeltaStream::from_deltas(rest))
    }
}

/// Answers each call at once.
pub(crate) struct Answers;

#[async_trait]
impl ToolExecutor for Answers {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        let answered = batch.calls().iter().map(|call| {
            let output = ToolOutput::text("fn main() {}\n".repeat(20));
            let reply = ToolReply::new(call.id.clone(), call.name.clone(), ReplyStatus::Ok, output);
            CallOutcome::Replied(reply)
        });
        BatchOutcome::new(answered.collect())
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumptionError> {
        // Nothing waits.
        let _ = resumption;
        std::future::pending().await
    }
}
