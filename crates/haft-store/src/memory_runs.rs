use crate::{DatabaseError, RunLease, RunStore, RunSummary, SaveError, StoredRun, TakeError, depth};
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::StoreError;
use haft_tools_core::now_ms;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps runs for as long as the process lives.
///
/// Cheap to clone; clones are the same store.
///
/// It stands in for a database where nothing has to outlive the process, such as in a test:
///
/// ```
/// use haft_store::{MemoryRuns, RunStatus, RunStore, StoredRun};
///
/// async fn ended(store: &dyn RunStore, name: &str) -> Result<(), Box<dyn std::error::Error>> {
///     let mut run = store.load(&name.parse()?).await?.ok_or("there is no such run")?;
///     run.status = RunStatus::Ended;
///     Ok(store.save(&mut run).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryRuns::new();
/// store.save(&mut StoredRun::new("run-1".parse()?)).await?;
/// ended(&store, "run-1").await?;
/// assert_eq!(store.list_runs().await?[0].status, RunStatus::Ended);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryRuns(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    runs: BTreeMap<RunId, StoredRun>,
    logs: BTreeMap<RunId, Vec<Value>>,
    taken: Taken,
}

/// Holds the runs that somebody goes on with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Taken(Arc<Mutex<BTreeSet<RunId>>>);

struct Held {
    taken: Taken,
    run: RunId,
}

impl MemoryRuns {
    /// Makes a store without any.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Nothing that is called under the lock panics half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    pub(crate) fn take(&self, run: &RunId) -> Result<RunLease, TakeError> {
        if self.lock().insert(run.clone()) {
            Ok(RunLease::new(Held { taken: self.clone(), run: run.clone() }))
        } else {
            Err(TakeError::Held { run: run.clone(), process: Some(std::process::id()) })
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<RunId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.taken.lock().remove(&self.run);
    }
}

#[async_trait]
impl RunStore for MemoryRuns {
    async fn append(&self, run: &mut StoredRun, entries: Vec<Value>) -> Result<(), SaveError> {
        for value in entries.iter().chain([&run.state, &run.host]) {
            let unwritable = |too_deep: depth::TooDeep| DatabaseError::Unwritable { source: too_deep.into() };
            let readable = depth::check(&value.to_string()).map_err(unwritable);
            readable.map_err(|error| StoreError::new("keep the run", error))?;
        }
        let mut kept = self.lock();
        let held = run.revision;
        match kept.runs.get(&run.run).map(|stored| stored.revision) {
            None if held > 0 => return Err(SaveError::Deleted { run: run.run.clone() }),
            Some(stored) if stored != held => {
                return Err(SaveError::Outdated { run: run.run.clone(), stored, held });
            }
            _ => {}
        }
        (run.revision, run.updated_at_ms) = (held + 1, now_ms());
        run.entries += entries.len() as u64;
        kept.runs.insert(run.run.clone(), run.clone());
        kept.logs.entry(run.run.clone()).or_default().extend(entries);
        Ok(())
    }

    async fn log(&self, run: &RunId) -> Result<Vec<Value>, StoreError> {
        Ok(self.lock().logs.get(run).cloned().unwrap_or_default())
    }

    async fn load(&self, run: &RunId) -> Result<Option<StoredRun>, StoreError> {
        Ok(self.lock().runs.get(run).cloned())
    }

    async fn list_runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        let mut list: Vec<RunSummary> = self.lock().runs.values().map(StoredRun::summary).collect();
        list.sort_by_key(|run| Reverse(run.updated_at_ms));
        Ok(list)
    }

    async fn delete(&self, run: &RunId) -> Result<bool, StoreError> {
        let mut kept = self.lock();
        kept.logs.remove(run);
        Ok(kept.runs.remove(run).is_some())
    }

    async fn take(&self, run: &RunId) -> Result<RunLease, TakeError> {
        self.lock().taken.take(run)
    }
}
