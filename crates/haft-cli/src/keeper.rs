use crate::kept_state::KeptState;
use crate::task::Task;
use crate::work::Work;
use anyhow::{Context as _, Result};
use async_trait::async_trait;
use haft::CallScope;
use haft::agent::{Phase, RunState, StateKeeper};
use haft::core::RunId;
use haft::store::{RunLease, RunStatus, StoredRun};
use serde_json::Value;
use std::error::Error;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Keeps a run as it goes, so that another process can go on with it.
///
/// What does no more than think is not kept: it begins to be when it first has something to do. A run that ends without
/// having waited for anybody leaves nothing behind, unless more can be said to it: then it is kept as soon as its model has
/// said something.
pub(crate) struct Keeper {
    pub(crate) state: Arc<KeptState>,
    run: RunId,
    /// Whether more can be said to the run when it has ended.
    can_be_prompted: bool,
    kept: Mutex<Kept>,
}

struct Kept {
    run: StoredRun,
    /// The right to go on with the run; there is none before it was kept.
    lease: Option<RunLease>,
    has_waited: bool,
    /// Whether it leaves nothing behind, once those have ended that work below it.
    goes: bool,
}

/// Is what is written anew each time, and what is added to the log.
pub(crate) type InParts = (Value, Vec<Value>);

/// Divides a run into its head and the entries of its log that are not kept yet.
pub(crate) fn in_parts(state: &RunState, entries: usize) -> Result<InParts> {
    let log = state.log_from(entries).map(serde_json::to_value).collect::<Result<_, _>>()?;
    Ok((serde_json::to_value(state.head())?, log))
}

impl Keeper {
    /// Begins a run that is not kept yet.
    pub(crate) fn new(state: Arc<KeptState>, run: RunId, task: &Task) -> Result<Arc<Self>> {
        let mut stored = StoredRun::new(run);
        stored.host = serde_json::to_value(task)?;
        Ok(Self::with(state, stored, task, None))
    }

    /// Goes on with a run that was kept.
    pub(crate) fn of(state: Arc<KeptState>, run: StoredRun, task: &Task, lease: RunLease) -> Arc<Self> {
        Self::with(state, run, task, Some(lease))
    }

    fn with(state: Arc<KeptState>, run: StoredRun, task: &Task, lease: Option<RunLease>) -> Arc<Self> {
        let (name, has_waited) = (run.run.clone(), run.status == RunStatus::Waiting);
        let can_be_prompted = task.can_be_prompted();
        Arc::new(Self {
            state,
            run: name,
            can_be_prompted,
            kept: Mutex::new(Kept { run, lease, has_waited, goes: false }),
        })
    }

    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    /// Keeps where the run stands, unless it has ended without ever having been worth keeping.
    pub(crate) async fn keep(&self, work: &Work) -> Result<()> {
        let status = if work.waiting().is_empty() { RunStatus::Ended } else { RunStatus::Waiting };
        let has_begun = matches!(work, Work::Agent(run) if run.state.turns() > 0);
        self.save(status, has_begun, |entries| work.kept_from(entries)).await
    }

    /// Keeps under which options the run goes on from now on.
    pub(crate) async fn retask(&self, task: &Task) -> Result<()> {
        let mut kept = self.kept.lock().await;
        kept.run.host = serde_json::to_value(task)?;
        // What is not kept yet will be with this.
        if kept.lease.is_some() && kept.run.revision > 0 {
            self.state.store()?.append(&mut kept.run, Vec::new()).await?;
        }
        Ok(())
    }

    /// Lets go of a run that has ended without having been worth keeping, with all that was kept below it.
    pub(crate) async fn let_go(&self) -> Result<()> {
        let mut kept = self.kept.lock().await;
        if kept.goes {
            self.state.store()?.delete(&self.run).await?;
            (kept.lease, kept.goes) = (None, false);
        }
        Ok(())
    }

    /// Keeps what the work gives, which is told how many entries of its log are kept already.
    ///
    /// A run has begun once its model has said something.
    async fn save(
        &self,
        status: RunStatus,
        has_begun: bool,
        work: impl FnOnce(usize) -> Result<InParts>,
    ) -> Result<()> {
        let mut kept = self.kept.lock().await;
        let stays = self.can_be_prompted && has_begun;
        let is_worth_it = match status {
            RunStatus::Ended => stays,
            // Whoever has asked for it can ask again, as long as its model has said nothing.
            RunStatus::Running => has_begun,
            _ => true,
        };
        if kept.lease.is_none() && !is_worth_it {
            return Ok(());
        }
        let saved = async {
            let store = self.state.store()?;
            if kept.lease.is_none() {
                kept.lease = Some(store.take(&self.run).await?);
            }
            kept.has_waited |= status == RunStatus::Waiting;
            kept.goes = status == RunStatus::Ended && !kept.has_waited && !stays;
            let (state, entries) = work(usize::try_from(kept.run.entries)?)?;
            (kept.run.state, kept.run.status) = (state, status);
            store.append(&mut kept.run, entries).await?;
            Ok(())
        };
        let saved: Result<()> = saved.await;
        // What is kept must not fall behind, or it would be done again; who waits must be found again.
        if saved.is_ok() || kept.run.revision > 0 || status == RunStatus::Waiting {
            return saved;
        }
        kept.lease = None;
        if let Err(error) =
            saved.context("this run is not kept: if it is interrupted, it has to be started anew")
        {
            self.state.say(error.as_ref());
        }
        Ok(())
    }
}

#[async_trait]
impl StateKeeper for Keeper {
    async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        let status = match state.phase() {
            Phase::Ended { .. } => RunStatus::Ended,
            Phase::Waiting { executing, .. } if executing.is_empty() && state.approved().is_none() => {
                RunStatus::Waiting
            }
            _ => RunStatus::Running,
        };
        Ok(self.save(status, state.turns() > 0, |entries| in_parts(state, entries)).await?)
    }
}
