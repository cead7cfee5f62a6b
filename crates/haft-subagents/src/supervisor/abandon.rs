//! Ends the runs below one that nobody waits for any more.

use super::house::House;
use super::orders::unreadable;
use crate::{ChildRecord, ChildResult};
use haft_core::{RunId, ToolError};
use haft_tools_core::{CallScope, PendingCall, StoreError};
use std::collections::HashSet;

impl House {
    /// Cancels all runs below a run.
    pub(super) async fn abandon_below(&self, root: &RunId, run: &RunId) -> Result<(), StoreError> {
        let tree = self.store.tree(root).await?;
        let mut above = HashSet::from([run.clone()]);
        // Parents are kept before those that they start.
        for record in &tree {
            if above.contains(&record.parent) {
                above.insert(record.run.clone());
                self.cancel_one(record, &tree).await?;
            }
        }
        Ok(())
    }

    /// Cancels a run and all that are below it.
    pub(crate) async fn give_up_run(&self, record: &ChildRecord) -> Result<(), ToolError> {
        let given_up = async {
            let tree = self.store.tree(&record.root).await?;
            self.cancel_one(record, &tree).await?;
            self.abandon_below(&record.root, &record.run).await
        };
        given_up.await.map_err(|error| unreadable(&error))
    }

    /// Cancels the runs that a call waited for, which does not go on.
    pub(crate) async fn give_up(&self, waited: &PendingCall, scope: &CallScope) {
        let Ok(mut children) = self.children_of(scope).await else { return };
        children.retain(|record| record.call == waited.call.id && !record.background);
        for record in children.iter().filter(|record| !record.pending().is_empty()) {
            // What cannot be kept now is found to be given up when it is next looked at.
            let _ = self.give_up_run(record).await;
        }
    }

    /// Has a run end that is driven, and ends one that is not.
    async fn cancel_one(&self, record: &ChildRecord, tree: &[ChildRecord]) -> Result<(), StoreError> {
        if self.live.cancel(&record.run) {
            return Ok(());
        }
        self.note_spent(record).await?;
        let above =
            |record: &ChildRecord| self.scope_above(&CallScope::new(record.root.clone()), tree, record);
        self.end(record, false, ChildResult::cancelled(), above).await?;
        Ok(())
    }
}
