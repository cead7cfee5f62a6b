use crate::{ChildMemory, ChildMeter, ChildRun};
use async_trait::async_trait;
use haft_agent::{RunState, StateKeeper};
use haft_tools_core::CallScope;
use serde_json::to_value;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Keeps where a run stands, and takes note of what it has spent.
pub(super) struct Keeper {
    memory: ChildMemory,
    meter: ChildMeter,
    /// How many entries of the log are kept.
    entries: AtomicUsize,
}

impl Keeper {
    pub(super) fn new(child: &ChildRun, kept: Option<&RunState>) -> Self {
        let entries = kept.map_or(0, |state| state.head().entries());
        Self { memory: child.memory.clone(), meter: child.meter.clone(), entries: entries.into() }
    }
}

#[async_trait]
impl StateKeeper for Keeper {
    async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.meter.record(*state.spent());
        let from = self.entries.load(Ordering::Acquire);
        let entries = state.log_from(from).map(to_value).collect::<Result<_, _>>()?;
        self.memory.keep(to_value(state.head())?, from, entries).await?;
        self.entries.store(state.head().entries(), Ordering::Release);
        Ok(())
    }
}
