use crate::kept_state::KeptState;
use crate::task::Task;
use anyhow::Result;
use async_trait::async_trait;
use haft::core::{Digest, RunId};
use haft::store::{RunStatus, StoredRun};
use haft::tools_core::{Answered, Approval, Claim, PendingCall, PendingId, PendingStore, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Keeps the calls of a client that wait, with what `haft approvals` says of where they work.
pub(super) struct WaitingCalls {
    pub(super) state: Arc<KeptState>,
    pub(super) run: RunId,
    pub(super) task: Task,
    pub(super) is_said: AtomicBool,
}

impl WaitingCalls {
    /// Keeps where the client's calls work, once.
    async fn say_where(&self) -> Result<()> {
        let store = self.state.store()?;
        if store.load(&self.run).await?.is_none() {
            let mut run = StoredRun::new(self.run.clone());
            // There is nothing to go on with: the client repeats the call.
            (run.host, run.status) = (serde_json::to_value(&self.task)?, RunStatus::Ended);
            store.save(&mut run).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl PendingStore for WaitingCalls {
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError> {
        if !self.is_said.swap(true, Ordering::Relaxed)
            && let Err(error) = self.say_where().await
        {
            // Another instance may have said it at the same time; without it the call waits as well.
            self.is_said.store(false, Ordering::Relaxed);
            self.state.say(error.as_ref());
        }
        self.state.put(pending).await
    }

    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError> {
        self.state.claim(pending).await
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        self.state.waiting().await
    }

    async fn waits(&self, id: &PendingId) -> Result<bool, StoreError> {
        self.state.waits(id).await
    }

    async fn waiting_of(&self, run: &RunId) -> Result<Vec<PendingCall>, StoreError> {
        self.state.waiting_of(run).await
    }

    async fn waiting_as(&self, digest: &Digest) -> Result<Option<(PendingId, Option<Approval>)>, StoreError> {
        self.state.waiting_as(digest).await
    }

    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError> {
        self.state.answer(id, approval).await
    }

    async fn answer_first(
        &self,
        id: &PendingId,
        digest: &Digest,
        approval: &Approval,
    ) -> Result<Answered, StoreError> {
        self.state.answer_first(id, digest, approval).await
    }

    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError> {
        self.state.answer_to(id).await
    }
}
