use super::WeakSupervisor;
use super::apart::Apart;
use super::live::Live;
use super::orders::unreadable;
use super::places::Places;
use super::telling::Given;
use crate::{AgentSpec, ChildRecord, ChildStore, Runner, SpawnLimits, ToldBy};
use haft_agent::{RunHandle, RunLimits};
use haft_core::{RunId, ToolError, ToolName};
use haft_tools_core::{
    CallContext, CallScope, Events, PendingCall, Seat, Seats, StoreError, listed, nearest, one_line,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Holds what runs are started with and what is known of them.
pub(crate) struct House {
    pub(crate) agents: BTreeMap<ToolName, Arc<AgentSpec>>,
    pub(crate) limits: SpawnLimits,
    pub(crate) store: Arc<dyn ChildStore>,
    pub(crate) events: Events,
    pub(crate) runner: OnceLock<Arc<dyn Runner>>,
    pub(crate) seats: Seats,
    pub(crate) live: Live,
    pub(super) apart: Apart,
    pub(super) places: Option<Places>,
    /// Whose house it is.
    pub(super) supervisor: WeakSupervisor,
    /// Reaches runs that have started others, by the agents that drove them last.
    pub(super) handles: Mutex<HashMap<RunId, RunHandle>>,
    pub(super) given: Given,
    /// Held while a record is read, changed and kept again.
    pub(super) writing: tokio::sync::Mutex<()>,
}

/// The run at the top of the tree that a scope is in.
pub(crate) fn root_of(scope: &CallScope) -> &RunId {
    scope.chain().last().unwrap_or(scope).run()
}

impl House {
    /// Reads what is kept of a run that is known to be there.
    pub(super) async fn known(&self, run: &RunId) -> Result<ChildRecord, StoreError> {
        let none = || StoreError::new("read the record of a run", format!("there is none of `{run}`"));
        self.store.get(run).await?.ok_or_else(none)
    }

    /// Changes what is kept of a run.
    pub(crate) async fn update(
        &self,
        run: &RunId,
        change: impl FnOnce(&mut ChildRecord),
    ) -> Result<ChildRecord, StoreError> {
        let _writing = self.writing.lock().await;
        let mut record = self.known(run).await?;
        let before = record.clone();
        change(&mut record);
        if record != before {
            self.store.put(&record).await?;
        }
        Ok(record)
    }

    /// Reads what is kept of the runs that a run has started.
    pub(crate) async fn children_of(&self, scope: &CallScope) -> Result<Vec<ChildRecord>, StoreError> {
        let mut children = self.store.tree(root_of(scope)).await?;
        children.retain(|record| record.parent == *scope.run());
        Ok(children)
    }

    /// As [`House::children_of`], for a model.
    pub(crate) async fn children(&self, scope: &CallScope) -> Result<Vec<ChildRecord>, ToolError> {
        self.children_of(scope).await.map_err(|error| unreadable(&error))
    }

    /// Reads what is kept of a run that is known to be there, for a model.
    pub(crate) async fn record(&self, run: &RunId) -> Result<ChildRecord, ToolError> {
        self.known(run).await.map_err(|error| unreadable(&error))
    }

    /// As [`House::update`], for a model.
    pub(crate) async fn change(
        &self,
        run: &RunId,
        change: impl FnOnce(&mut ChildRecord),
    ) -> Result<ChildRecord, ToolError> {
        self.update(run, change).await.map_err(|error| unreadable(&error))
    }

    /// Learns how a run is reached that may have started others.
    pub(super) fn reach(&self, handle: &RunHandle) {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        handles.retain(|_, handle| handle.transcript().is_ok());
        handles.insert(handle.run().clone(), handle.clone());
    }

    /// Reaches the run that has started another.
    pub(super) fn handle_of(&self, record: &ChildRecord) -> Option<RunHandle> {
        let handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        handles.get(&record.parent).cloned()
    }

    /// How deep the runs below a run may go.
    pub(crate) fn depth(&self, scope: &CallScope) -> u32 {
        RunLimits::of(scope).depth.map_or(self.limits.depth, |depth| depth.min(self.limits.depth))
    }

    /// Whether a run that waits for these calls can be gone on with by now.
    pub(super) async fn is_answered(&self, calls: &[PendingCall]) -> bool {
        match self.runner.get() {
            Some(runner) => runner.is_answered(calls).await,
            None => false,
        }
    }

    /// Notes that the run above is told in this way how these have ended.
    pub(crate) async fn tell(&self, records: &[ChildRecord], by: &ToldBy) {
        for seen in records.iter().filter(|record| record.has_ended() && !record.told) {
            let told = self.update(&seen.run, |record| {
                if record.has_ended() && !record.told {
                    (record.told, record.told_by) = (true, Some(by.clone()));
                }
            });
            // If that cannot be kept it is told twice.
            let _ = told.await;
        }
    }

    /// Waits for other runs: meanwhile the clocks of the call stand still, and its run takes no seat.
    pub(crate) async fn away<T>(&self, cx: &CallContext, wait: impl Future<Output = T>) -> T {
        let wait = cx.stand_still_while(wait);
        match cx.scope().extension::<Seat>() {
            Some(seat) => seat.lend_while(wait).await,
            None => wait.await,
        }
    }

    /// Finds the top of the tree that a run is in: itself, where nobody has started it.
    pub(super) async fn root_of(&self, run: &RunId) -> Result<RunId, StoreError> {
        Ok(self.store.get(run).await?.map_or_else(|| run.clone(), |record| record.root))
    }
}

/// Finds one of the runs that a run has started, by its name.
pub(crate) fn child<'a>(children: &'a [ChildRecord], name: &str) -> Result<&'a ChildRecord, ToolError> {
    if let Some(record) = children.iter().find(|record| record.run.as_str() == name) {
        return Ok(record);
    }
    let near = nearest(name, children.iter().map(|record| record.run.as_str()));
    let hint = match (near.is_empty(), children.is_empty()) {
        (false, _) => format!("did you mean {}?", listed(near, "or")),
        (true, false) => "`list_agents` shows them".to_owned(),
        (true, true) => "you have delegated to none yet".to_owned(),
    };
    let name = one_line(name, 64);
    Err(ToolError::not_found(format!("you have delegated to no agent `{name}`; {hint}")))
}
