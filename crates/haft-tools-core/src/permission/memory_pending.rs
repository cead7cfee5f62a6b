use super::pending::{PendingCall, PendingId};
use super::pending_store::{Answered, Claim, PendingStore};
use super::store_error::StoreError;
use crate::{Approval, now_ms};
use async_trait::async_trait;
use haft_core::{Digest, RunId};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps pending calls for as long as the process lives, or until they have expired.
///
/// That a call was claimed is forgotten when it has expired, too: from then on it cannot be approved any more.
///
/// ```
/// use haft_tools_core::{LocalExecutor, MemoryPending, PendingStore as _, ToolRegistry};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pending = Arc::new(MemoryPending::new());
/// let executor = LocalExecutor::builder(ToolRegistry::new()).pending(pending.clone()).build();
/// assert!(pending.waiting().await?.is_empty());
/// # let _ = executor;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct MemoryPending(Mutex<BTreeMap<PendingId, Kept>>);

#[derive(Debug)]
struct Kept {
    digest: Digest,
    expires_at_ms: Option<u64>,
    /// The call while it waits; `None` once it was claimed.
    waiting: Option<(Box<PendingCall>, Option<Approval>)>,
}

impl Kept {
    fn of(pending: &PendingCall, waiting: Option<(Box<PendingCall>, Option<Approval>)>) -> Self {
        Self { digest: pending.digest, expires_at_ms: pending.expires_at_ms, waiting }
    }
}

impl MemoryPending {
    /// Makes a store without any.
    pub fn new() -> Self {
        Self::default()
    }

    fn waiting_where(&self, is_wanted: impl Fn(&PendingCall) -> bool) -> Vec<PendingCall> {
        let calls = self.lock();
        let waiting = calls.values().filter_map(|kept| kept.waiting.as_ref()).map(|(pending, _)| &**pending);
        let mut waiting: Vec<PendingCall> = waiting.filter(|pending| is_wanted(pending)).cloned().collect();
        waiting.sort_by_key(|pending| pending.asked_at_ms);
        waiting
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PendingId, Kept>> {
        // Nothing that is called under the lock panics half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl PendingStore for MemoryPending {
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError> {
        let kept = Kept::of(pending, Some((Box::new(pending.clone()), None)));
        let mut calls = self.lock();
        let now = now_ms();
        // Nothing can be done with an expired call any more but to deny it, for which it need not be kept.
        calls.retain(|_, kept| kept.expires_at_ms.is_none_or(|end| end > now));
        calls.entry(pending.id.clone()).or_insert(kept);
        Ok(())
    }

    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError> {
        let mut calls = self.lock();
        let Some(kept) = calls.get_mut(&pending.id) else {
            calls.insert(pending.id.clone(), Kept::of(pending, None));
            return Ok(Claim::Taken);
        };
        Ok(match kept.waiting.take() {
            None => Claim::TakenBefore,
            Some(_) if kept.digest == pending.digest => Claim::Taken,
            waiting => {
                kept.waiting = waiting;
                Claim::OtherDigest
            }
        })
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        Ok(self.waiting_where(|_| true))
    }

    async fn waits(&self, id: &PendingId) -> Result<bool, StoreError> {
        Ok(self.lock().get(id).is_some_and(|kept| kept.waiting.is_some()))
    }

    async fn waiting_of(&self, run: &RunId) -> Result<Vec<PendingCall>, StoreError> {
        Ok(self.waiting_where(|pending| pending.run == *run))
    }

    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError> {
        let mut calls = self.lock();
        let answer = calls.get_mut(id).and_then(|kept| kept.waiting.as_mut()).map(|(_, answer)| answer);
        Ok(answer.map(|answer| *answer = Some(approval.clone())).is_some())
    }

    async fn answer_first(
        &self,
        id: &PendingId,
        digest: &Digest,
        approval: &Approval,
    ) -> Result<Answered, StoreError> {
        let mut calls = self.lock();
        let Some(kept) = calls.get_mut(id) else { return Ok(Answered::Gone) };
        Ok(match &mut kept.waiting {
            None => Answered::Gone,
            Some(_) if kept.digest != *digest => Answered::OtherDigest,
            Some((_, Some(_))) => Answered::Before,
            Some((_, answer)) => {
                *answer = Some(approval.clone());
                Answered::Kept
            }
        })
    }

    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError> {
        let calls = self.lock();
        Ok(calls.get(id).and_then(|kept| kept.waiting.as_ref()).and_then(|(_, answer)| answer.clone()))
    }
}
