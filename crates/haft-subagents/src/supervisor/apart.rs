//! Runs that are driven while the run above them is not at work, and what is set aside for them once that is.

use super::budgets::left;
use haft_agent::{Budget, Purse, Reservation, Spent};
use haft_core::RunId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lists them.
#[derive(Debug, Clone, Default)]
pub(super) struct Apart(Arc<Mutex<HashMap<RunId, Paid>>>);

/// Is what such a run may spend, and who pays for it.
#[derive(Debug)]
struct Paid {
    budget: Budget,
    /// What is set aside for it by the run above, and what of its spending that had paid when it was set aside.
    by: Option<(Reservation, Spent)>,
}

/// Lists a run as driven apart until it is settled or dropped.
#[derive(Debug)]
pub(super) struct DrivenApart {
    apart: Apart,
    run: RunId,
}

impl Apart {
    /// Says that a run is driven that may spend so much in all.
    pub(super) fn enter(&self, run: &RunId, budget: Budget) -> DrivenApart {
        self.lock().insert(run.clone(), Paid { budget, by: None });
        DrivenApart { apart: self.clone(), run: run.clone() }
    }

    /// Tells whether a run is driven for which nobody pays yet.
    pub(super) fn is_unpaid(&self, run: &RunId) -> bool {
        self.lock().get(run).is_some_and(|paid| paid.by.is_none())
    }

    /// Sets aside what a run may spend beside what it had spent when it was driven; gives whether nobody did before.
    ///
    /// What it had spent is to be charged by whoever calls this.
    pub(super) fn pay(&self, run: &RunId, purse: &Purse, spent: Spent) -> bool {
        match self.lock().get_mut(run) {
            Some(paid) if paid.by.is_none() => {
                paid.by = Some((purse.reserve_at_most(&left(&paid.budget, &spent)), spent));
                true
            }
            _ => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Paid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DrivenApart {
    /// Says what the run has spent in all; gives whether the run above has paid for it.
    pub(super) fn settle(self, spent: Spent) -> bool {
        let paid = self.apart.lock().remove(&self.run).and_then(|paid| paid.by);
        let Some((mut reservation, before)) = paid else { return false };
        reservation.record(spent.without(&before));
        true
    }
}

impl Drop for DrivenApart {
    fn drop(&mut self) {
        self.apart.lock().remove(&self.run);
    }
}
