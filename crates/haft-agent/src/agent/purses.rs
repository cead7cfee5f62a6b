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
///
/// ```
/// use haft_agent::{Agent, Budget, Purses, RunState};
/// use haft_model::{ScriptedModel, Session};
/// use haft_tools_core::{LocalExecutor, ToolRegistry};
///
/// # let session = Session::parse(r#"{"text": "Done."}"#, "done.jsonl")?;
/// # let executor = LocalExecutor::builder(ToolRegistry::new()).build();
/// # let model = std::sync::Arc::new(ScriptedModel::new(session));
/// let (purses, run) = (Purses::default(), "run-1".parse()?);
/// let first = Agent::new(model.clone(), executor.clone()).purses(purses.clone());
/// let next = Agent::new(model, executor).purses(purses);
///
/// let state = RunState::new().budget(Budget::default().turns(10));
/// let part = first.purse(&run, &state).reserve_at_most(&Budget::default().turns(4));
/// assert_eq!(next.purse(&run, &state).rest().turns, Some(6));
/// # drop(part);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
