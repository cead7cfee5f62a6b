use super::ChildStore;
use crate::ChildRecord;
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::StoreError;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps runs for as long as the process lives; the default.
///
/// ```
/// use haft_subagents::{ChildStore as _, MemoryChildren};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryChildren::new();
/// assert_eq!(store.tree(&"run-1".parse()?).await?, []);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct MemoryChildren(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// In the order in which they were first kept.
    order: Vec<RunId>,
    records: HashMap<RunId, ChildRecord>,
    states: HashMap<RunId, (Value, Vec<Value>)>,
}

impl MemoryChildren {
    /// Makes a store without any.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Nothing that is called under the lock panics half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ChildStore for MemoryChildren {
    async fn put(&self, record: &ChildRecord) -> Result<(), StoreError> {
        let mut kept = self.lock();
        if kept.records.insert(record.run.clone(), record.clone()).is_none() {
            kept.order.push(record.run.clone());
        }
        Ok(())
    }

    async fn get(&self, run: &RunId) -> Result<Option<ChildRecord>, StoreError> {
        Ok(self.lock().records.get(run).cloned())
    }

    async fn tree(&self, root: &RunId) -> Result<Vec<ChildRecord>, StoreError> {
        let kept = self.lock();
        let records = kept.order.iter().filter_map(|run| kept.records.get(run));
        Ok(records.filter(|record| record.root == *root).cloned().collect())
    }

    async fn keep(
        &self,
        run: &RunId,
        head: Value,
        from: usize,
        entries: Vec<Value>,
    ) -> Result<(), StoreError> {
        let mut kept = self.lock();
        let (kept_head, log) = kept.states.entry(run.clone()).or_default();
        if log.len() < from {
            let reason = format!("there are {} entries, and {from} were kept before", log.len());
            return Err(StoreError::new("keep where a run stands", reason));
        }
        *kept_head = head;
        log.truncate(from);
        log.extend(entries);
        Ok(())
    }

    async fn state(&self, run: &RunId) -> Result<Option<(Value, Vec<Value>)>, StoreError> {
        Ok(self.lock().states.get(run).cloned())
    }

    async fn forget(&self, root: &RunId) -> Result<(), StoreError> {
        let Kept { order, records, states } = &mut *self.lock();
        records.retain(|run, record| {
            let stays = record.root != *root;
            if !stays {
                states.remove(run);
            }
            stays
        });
        order.retain(|run| records.contains_key(run));
        Ok(())
    }
}
