//! Runs that are driven while the run above them is not at work, and who pays for them once that is.

use super::budgets::left;
use haft_agent::{Budget, Purse, Reservation, Spent};
use haft_core::RunId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lists them.
#[derive(Debug, Clone, Default)]
pub(super) struct Apart(Arc<Mutex<HashMap<RunId, Paid>>>);

/// Is what such a run may spend, and who pays for it.
#[derive(Debug, Default)]
struct Paid {
    /// What it may spend in all, and had spent when that was said; nothing before it has a share.
    share: Option<(Budget, Spent)>,
    by: Option<Purse>,
    set_aside: Option<Reservation>,
}

/// Lists a run as driven apart until it is dropped.
#[derive(Debug)]
pub(super) struct DrivenApart {
    apart: Apart,
    run: RunId,
}

impl Apart {
    /// Says that a run is driven.
    pub(super) fn enter(&self, run: &RunId) -> DrivenApart {
        self.lock().insert(run.clone(), Paid::default());
        DrivenApart { apart: self.clone(), run: run.clone() }
    }

    /// Has a run paid for by this purse, unless it is paid for already or not driven apart: what it may spend is set aside.
    pub(super) fn pay(&self, run: &RunId, purse: &Purse) {
        if let Some(paid) = self.lock().get_mut(run).filter(|paid| paid.by.is_none()) {
            paid.by = Some(purse.clone());
            paid.set_aside();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Paid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Paid {
    fn set_aside(&mut self) {
        if let (Some((budget, spent)), Some(purse)) = (&self.share, &self.by) {
            self.set_aside = Some(purse.reserve_at_most(&left(budget, spent)));
        }
    }
}

impl DrivenApart {
    /// Who pays for the run, if that is known by now.
    pub(super) fn payer(&self) -> Option<Purse> {
        self.apart.lock().get(&self.run)?.by.clone()
    }

    /// Says what the run may spend in all, of a share that whoever pays knows nothing of, and what it has spent before.
    pub(super) fn share(&self, budget: Budget, spent: Spent) {
        if let Some(paid) = self.apart.lock().get_mut(&self.run) {
            paid.share = Some((budget, spent));
            paid.set_aside();
        }
    }

    /// Says what the run has spent in all.
    pub(super) fn settle(&self, spent: Spent) {
        if let Some(paid) = self.apart.lock().get_mut(&self.run) {
            if let Some(purse) = &paid.by {
                purse.count(&self.run, spent);
            }
            (paid.share, paid.set_aside) = (None, None);
        }
    }
}

impl Drop for DrivenApart {
    fn drop(&mut self) {
        self.apart.lock().remove(&self.run);
    }
}
