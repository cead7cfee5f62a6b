//! What the runs that a process which ended has left may spend together, where the run above them is not at work.

use super::budgets::left;
use super::house::House;
use crate::{ChildRecord, ChildStatus};
use haft_agent::{Account, Purse, RunState, Spent};
use haft_core::{BudgetKind, RunId};
use haft_tools_core::StoreError;

impl House {
    /// Finds what a run has left for those it has started: by what is kept of it, if it has itself been started by another one,
    /// and otherwise by what it had left when it asked for the last of those that have not begun.
    ///
    /// Where all have begun, what was set aside for each is all that each has.
    pub(super) async fn left_for_children(
        &self,
        tree: &[ChildRecord],
        parent: &RunId,
    ) -> Result<Option<Purse>, StoreError> {
        let mut children = Vec::new();
        for record in tree.iter().filter(|record| record.parent == *parent) {
            children.push(self.note_spent(record).await?);
        }
        let last = children.iter().rfind(|record| is_new(record));
        let kept = self.kept_purse(parent).await?;
        let is_kept = kept.is_some();
        let Some(purse) = kept.or_else(|| last.map(|last| Purse::new(Account::new(last.budget)))) else {
            return Ok(None);
        };
        for record in &children {
            match last {
                Some(last) if !is_kept => purse.charge(spent_since(record, last.started_at_ms)),
                _ => purse.count(&record.run, record.spent),
            }
            if self.live.is_driven(&record.run) {
                purse.charge(set_aside(record));
            }
        }
        Ok(Some(purse))
    }

    async fn kept_purse(&self, run: &RunId) -> Result<Option<Purse>, StoreError> {
        let kept = self.store.state(run).await?;
        Ok(kept.and_then(|(head, log)| RunState::restore(head, log).ok()).map(|state| Purse::of(&state)))
    }
}

/// Whether a run has not begun, so that nothing was set aside for it and its budget is what there was.
fn is_new(record: &ChildRecord) -> bool {
    record.status == ChildStatus::Queued && record.spent == Spent::default()
}

/// What a run may have spent since then; what it spent before counts, too, where that cannot be told apart.
fn spent_since(record: &ChildRecord, since_ms: u64) -> Spent {
    match record.ended_at_ms {
        Some(ended) if ended < since_ms => Spent::default(),
        _ => record.spent,
    }
}

/// What is set aside for a run that is at work.
fn set_aside(record: &ChildRecord) -> Spent {
    let left = left(&record.budget, &record.spent);
    let of = |kind| left.limit(kind).unwrap_or_default();
    let mut spent = Spent::default();
    spent.turns = of(BudgetKind::Turns);
    spent.calls = of(BudgetKind::Calls);
    spent.tokens = of(BudgetKind::Tokens);
    spent.cost_nanos = of(BudgetKind::Cost);
    spent
}
