use async_trait::async_trait;
use haft_tools_core::{
    Batch, BatchOutcome, CallOutcome, ResumeRefused, Resumption, ToolExecutor, ToolRegistry,
};
use std::sync::Arc;

/// Executes calls of some of an executor's tools: of others it knows nothing.
pub(super) struct Narrowed {
    executor: Arc<dyn ToolExecutor>,
    tools: ToolRegistry,
}

impl Narrowed {
    pub(super) fn new(executor: Arc<dyn ToolExecutor>, tools: ToolRegistry) -> Self {
        Self { executor, tools }
    }
}

#[async_trait]
impl ToolExecutor for Narrowed {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        self.executor.execute_batch(batch.with_registry(self.tools.clone())).await
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumeRefused> {
        self.executor.resume(resumption.with_registry(self.tools.clone())).await
    }
}
