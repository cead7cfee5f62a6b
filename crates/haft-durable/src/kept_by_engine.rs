use async_trait::async_trait;
use haft_tools_core::{Approval, Claim, PendingCall, PendingId, PendingStore, StoreError};

/// Leaves pending calls to a durable engine: for the executor of a worker, which keeps none itself.
///
/// That a call goes on once at most is then the engine's to see to, since a round may be performed on another worker than the
/// one before, and again on the same one. Nothing is listed here.
///
/// ```
/// # use haft_core::{Digest, ToolError};
/// use haft_core::ToolCall;
/// use haft_durable::KeptByEngine;
/// use haft_tools_core::{
///     Approval, Batch, CallOutcome, CallScope, LocalExecutor, PendingStore as _, ToolExecutor as _, approver_fn,
/// };
/// # use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
/// use std::sync::Arc;
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mail = tool_fn("send_mail", "Sends.", Accesses::none(), |_: Nothing, _: CallContext| async {
/// #     Ok::<_, ToolError>("sent")
/// # })?;
/// # let tools = ToolRegistry::new().with(mail)?;
/// let worker = LocalExecutor::builder(tools)
///     .approver(approver_fn(|_| Approval::Later))
///     .pending(Arc::new(KeptByEngine))
///     .build();
/// let call = ToolCall::new("c1".parse()?, "send_mail", serde_json::json!({}));
/// let outcome = worker.execute_batch(Batch::new(CallScope::new("run-1".parse()?), vec![call])).await;
/// assert!(matches!(outcome.outcomes(), [CallOutcome::Pending(_)]));
/// assert_eq!(KeptByEngine.waiting().await?, []);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct KeptByEngine;

#[async_trait]
impl PendingStore for KeptByEngine {
    async fn put(&self, _pending: &PendingCall) -> Result<(), StoreError> {
        Ok(())
    }

    async fn claim(&self, _pending: &PendingCall) -> Result<Claim, StoreError> {
        Ok(Claim::Taken)
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        Ok(Vec::new())
    }

    async fn answer(&self, _id: &PendingId, _approval: &Approval) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn answer_to(&self, _id: &PendingId) -> Result<Option<Approval>, StoreError> {
        Ok(None)
    }
}
