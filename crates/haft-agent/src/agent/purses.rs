use crate::{Account, Purse};
use haft_core::RunId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Finds the purse of a run again: what a run starts can outlive the time in which it is driven, and is counted when it
/// goes on.
///
/// Each agent has its own. Where several [`Agent`](crate::Agent)s drive the same run one after the other, they are given
/// [the same](crate::Agent::purses), so that none of them gives out what another one has set aside. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Purses(Arc<Mutex<HashMap<RunId, Purse>>>);

impl Purses {
    pub(super) fn of(&self, run: &RunId, account: &Account) -> Purse {
        let mut purses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        purses.retain(|_, purse| purse.is_in_use());
        let purse = purses.entry(run.clone()).or_insert_with(|| Purse::new(*account));
        purse.follow(account);
        purse.clone()
    }
}
