use async_trait::async_trait;
use haft_tools_core::{Approval, Claim, PendingCall, PendingId, PendingStore, StoreError};

/// Leaves pending calls to a durable engine: for the executor of a worker, which keeps none itself.
///
/// That a call goes on once at most is then the engine's to see to, since a round may be performed on another worker than the
/// one before, and again on the same one. Nothing is listed here.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeptByEngine;

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
