use super::apart::Apart;
use super::house::House;
use super::live::Live;
use super::places::Places;
use super::telling::Given;
use super::{Supervisor, WeakSupervisor};
use crate::{AgentSpec, ChildStore, KeptChanges, MemoryChildren, SpawnLimits, Workplaces};
use haft_core::ToolName;
use haft_tools_core::{Events, Seats};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// Configures a [`Supervisor`].
///
/// ```
/// use haft_subagents::{AgentSpec, MemoryChildren, SpawnLimits, Supervisor};
/// use std::sync::Arc;
///
/// let explorer = AgentSpec::new("explorer".parse()?, "Finds things.");
/// let editor = AgentSpec::new("editor".parse()?, "Changes them.");
/// let supervisor = Supervisor::builder()
///     .agents([explorer, editor])
///     .limits(SpawnLimits::default())
///     .store(Arc::new(MemoryChildren::default()))
///     .build();
/// assert!(supervisor.tools().is_ok());
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[must_use = "a builder does nothing until it builds"]
pub struct SupervisorBuilder {
    agents: BTreeMap<ToolName, Arc<AgentSpec>>,
    limits: SpawnLimits,
    store: Arc<dyn ChildStore>,
    events: Events,
    places: Option<Places>,
}

impl SupervisorBuilder {
    pub(super) fn new() -> Self {
        Self {
            agents: BTreeMap::new(),
            limits: SpawnLimits::default(),
            store: Arc::new(MemoryChildren::new()),
            events: Events::default(),
            places: None,
        }
    }

    /// Adds an agent; one of the same name is replaced.
    pub fn agent(mut self, agent: AgentSpec) -> Self {
        self.agents.insert(agent.name.clone(), Arc::new(agent));
        self
    }

    /// Adds agents; those of the same names are replaced.
    pub fn agents(self, agents: impl IntoIterator<Item = AgentSpec>) -> Self {
        agents.into_iter().fold(self, Self::agent)
    }

    /// Bounds how many runs are started, and how deep.
    pub fn limits(mut self, limits: SpawnLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Keeps runs there; in memory by default.
    pub fn store(mut self, store: Arc<dyn ChildStore>) -> Self {
        self.store = store;
        self
    }

    /// Tells observers that runs begin and end; give the executor and the runner the same events.
    pub fn events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Has places made there for agents that work [apart](crate::Isolation) from their parents, and what they change kept for
    /// these; without it, such an agent cannot be delegated to.
    pub fn workplaces(mut self, places: impl Workplaces, changes: KeptChanges) -> Self {
        self.places = Some(Places { made_by: Arc::new(places), changes, open: Mutex::default() });
        self
    }

    /// Makes the supervisor.
    pub fn build(self) -> Supervisor {
        let Self { agents, limits, store, events, places } = self;
        Supervisor::new(House {
            seats: Seats::new(limits.width),
            agents,
            limits,
            store,
            events,
            places,
            supervisor: WeakSupervisor::default(),
            runner: OnceLock::new(),
            live: Live::default(),
            apart: Apart::default(),
            handles: Mutex::default(),
            given: Given::default(),
            writing: tokio::sync::Mutex::default(),
        })
    }
}

impl fmt::Debug for SupervisorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupervisorBuilder")
            .field("agents", &self.agents.keys())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
