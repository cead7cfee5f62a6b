use super::Agent;
use crate::{Purse, RunState};
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

impl Agent {
    /// The purse of a run that this agent is not driving at the moment: what draws on it until the run goes on is counted then.
    ///
    /// It is for work that goes on before the run does, such as that which a process has left behind. While somebody has it, or
    /// there is something to be counted, the run has the same one; what was drawn is lost with the process, unless whoever drew
    /// it [counts](Purse::count) it again. Where the agent is driving the run, this would set what is spent back to where the
    /// state stands: calls that it executes have the purse in their [scope](haft_tools_core::CallScope::extension).
    pub fn purse(&self, run: &RunId, state: &RunState) -> Purse {
        self.purses.of(run, state)
    }
}

impl Purses {
    pub(super) fn of(&self, run: &RunId, state: &RunState) -> Purse {
        let mut purses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        purses.retain(|_, purse| purse.is_in_use());
        let purse = purses.entry(run.clone()).or_default();
        purse.follow(state.account());
        purse.know(state.counted());
        purse.clone()
    }
}
