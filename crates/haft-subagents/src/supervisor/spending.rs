//! Finds what runs have spent whose process ended before that was noted.

use super::house::House;
use crate::{ChildRecord, ChildStatus};
use haft_agent::RunState;
use haft_tools_core::StoreError;

impl House {
    /// Notes what a run has spent that a process which ended has left at work: only what is kept of the run itself tells it.
    pub(super) async fn note_spent(&self, record: &ChildRecord) -> Result<ChildRecord, StoreError> {
        if record.status != ChildStatus::Running {
            return Ok(record.clone());
        }
        let kept = self.store.state(&record.run).await?;
        // Of a state that its runner keeps in a form of its own nothing is known.
        let Some(state) = kept.and_then(|(head, log)| RunState::restore(head, log).ok()) else {
            return Ok(record.clone());
        };
        self.update(&record.run, |record| record.spent += state.spent().without(&record.spent)).await
    }
}
