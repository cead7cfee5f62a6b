use async_trait::async_trait;
use haft_tools_core::{
    Batch, BatchOutcome, CallContext, CallOutcome, ResumeRefused, Resumption, ToolExecutor, ToolRegistry,
};
use std::sync::Arc;

/// Executes calls of some of an executor's tools: of others it knows nothing.
pub(super) struct Narrowed {
    executor: Arc<dyn ToolExecutor>,
    tools: ToolRegistry,
    /// The call whose people are asked.
    attended_like: Option<CallContext>,
}

impl Narrowed {
    pub(super) fn new(
        executor: Arc<dyn ToolExecutor>,
        tools: ToolRegistry,
        attended_like: Option<CallContext>,
    ) -> Self {
        Self { executor, tools, attended_like }
    }
}

#[async_trait]
impl ToolExecutor for Narrowed {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        let mut batch = batch.with_registry(self.tools.clone());
        if let Some(call) = &self.attended_like {
            batch = batch.attended_like(call);
        }
        self.executor.execute_batch(batch).await
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumeRefused> {
        let mut resumption = resumption.with_registry(self.tools.clone());
        if let Some(call) = &self.attended_like {
            resumption = resumption.attended_like(call);
        }
        self.executor.resume(resumption).await
    }
}
