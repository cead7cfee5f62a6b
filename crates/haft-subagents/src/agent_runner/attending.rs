use async_trait::async_trait;
use haft_tools_core::{
    Batch, BatchOutcome, CallContext, CallOutcome, PendingCall, Resumption, ResumptionError, ToolExecutor,
};
use std::sync::Arc;

/// Executes the calls of a run, and has those asked about them who are asked about another call.
pub(super) struct Attending {
    executor: Arc<dyn ToolExecutor>,
    /// The call whose people are asked.
    attended_like: Option<CallContext>,
}

impl Attending {
    pub(super) fn new(executor: Arc<dyn ToolExecutor>, attended_like: Option<CallContext>) -> Self {
        Self { executor, attended_like }
    }
}

#[async_trait]
impl ToolExecutor for Attending {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        self.executor
            .execute_batch(match &self.attended_like {
                Some(call) => batch.attended_like(call),
                None => batch,
            })
            .await
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumptionError> {
        self.executor
            .resume(match &self.attended_like {
                Some(call) => resumption.attended_like(call),
                None => resumption,
            })
            .await
    }

    async fn give_up(&self, calls: &[PendingCall]) {
        self.executor.give_up(calls).await;
    }
}
