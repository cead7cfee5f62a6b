use crate::kept_state::KeptState;
use crate::task::Task;
use crate::work::Work;
use anyhow::Result;
use haft::RunId;
use haft::store::{RunLease, RunStatus, RunStore as _, StoredRun};
use std::sync::Arc;

/// Keeps a run as soon as it waits for a person, and from then on, so that another process can go on with it.
pub(crate) struct Keeper {
    pub(crate) state: Arc<KeptState>,
    run: StoredRun,
    /// The right to go on with the run; there is none before it was kept.
    lease: Option<RunLease>,
}

impl Keeper {
    /// Begins a run that is not kept yet.
    pub(crate) fn new(state: Arc<KeptState>, run: RunId, task: &Task) -> Result<Self> {
        let mut run = StoredRun::new(run);
        run.host = serde_json::to_value(task)?;
        Ok(Self { state, run, lease: None })
    }

    /// Goes on with a run that was kept.
    pub(crate) fn of(state: Arc<KeptState>, run: StoredRun, lease: RunLease) -> Self {
        Self { state, run, lease: Some(lease) }
    }

    pub(crate) fn run(&self) -> &RunId {
        &self.run.run
    }

    /// Tells whether the run outlives the process.
    pub(crate) fn is_kept(&self) -> bool {
        self.lease.is_some()
    }

    /// Keeps where the run stands.
    pub(crate) async fn keep(&mut self, work: &Work) -> Result<()> {
        let store = self.state.store()?;
        if self.lease.is_none() {
            self.lease = Some(store.take(&self.run.run).await?);
        }
        self.run.state = work.state()?;
        self.run.status = if work.waiting().is_empty() { RunStatus::Ended } else { RunStatus::Waiting };
        store.save(&mut self.run).await?;
        Ok(())
    }
}
