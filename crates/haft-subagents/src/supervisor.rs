mod abandon;
mod budgets;
mod builder;
mod drive;
mod house;
mod identity;
mod live;
mod orders;
mod places;
mod restart;

pub use builder::SupervisorBuilder;
pub(crate) use drive::Order;
pub(crate) use house::{House, child};
pub(crate) use live::Supervised;
pub(crate) use orders::{Caller, Wanted};

use crate::{ChildRecord, Runner, tools};
use haft_core::RunId;
use haft_tools_core::{RegistryError, StoreError, ToolRegistry};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::task::JoinSet;

/// Starts the runs that other runs ask for, and is the only one who does: so no run starts more of them, deeper, or at more
/// cost than it may, whichever way it asks.
///
/// It is made of [agents](crate::AgentSpec), gives the [tools](Self::tools) by which models delegate to them, and has a
/// [`Runner`] drive the runs. Cheap to clone; clones are the same supervisor. Runs in the background end with the last clone;
/// where they stand is kept.
#[derive(Clone)]
pub struct Supervisor(Arc<Shared>);

/// Is a supervisor as its tools hold it: they are part of what it drives runs with, and must not keep it alive.
#[derive(Clone)]
pub(crate) struct WeakSupervisor(Weak<Shared>);

struct Shared {
    house: Arc<House>,
    /// Owns the runs in the background.
    background: Mutex<JoinSet<()>>,
}

impl Supervisor {
    /// Starts to configure a supervisor; without any setting there is no agent.
    pub fn builder() -> SupervisorBuilder {
        SupervisorBuilder::new()
    }

    fn new(house: House) -> Self {
        Self(Arc::new(Shared { house: Arc::new(house), background: Mutex::default() }))
    }

    /// The names of the tools whose calls are to be [made again](haft_agent::Agent::made_again) where the process ended while
    /// they were executed: they find the runs that they had started.
    ///
    /// An agent that delegates should be told of them; those that the supervisor has driven are.
    pub const MADE_AGAIN: [&str; 2] = tools::MADE_AGAIN;

    /// Has runs driven by this runner, which is made with the tools of this supervisor and so comes after it.
    ///
    /// The first runner stays; gives whether this is the first one.
    pub fn drive_with(&self, runner: impl Runner) -> bool {
        self.0.house.runner.set(Arc::new(runner)).is_ok()
    }

    /// Makes the tools by which models start runs and look after them: `delegate`, `wait_agents`, `send_agent`,
    /// `cancel_agent` and `list_agents`.
    ///
    /// They belong into the registry that the runner's runs have their tools from, too: of these a run gets what its agent's
    /// selector chooses, and none of them where it may not delegate.
    ///
    /// # Errors
    ///
    /// Never as things are: the tools have schemas that compile, and names of their own.
    pub fn tools(&self) -> Result<ToolRegistry, RegistryError> {
        tools::registry(&self.downgrade(), &self.0.house)
    }

    /// Lists the runs that were started in the tree below a run, in the order in which they were asked for.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn children(&self, root: &RunId) -> Result<Vec<ChildRecord>, StoreError> {
        self.0.house.store.tree(root).await
    }

    /// Cancels all runs in the tree below a run, in the background and waiting ones, too.
    ///
    /// A host calls it when a run of its own has ended for good, or was cancelled while nobody drove it.
    ///
    /// # Errors
    ///
    /// When what becomes of them cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// Some of them are cancelled, and some are not.
    pub async fn cancel_below(&self, run: &RunId) -> Result<(), StoreError> {
        let house = &self.0.house;
        let Some(root) = house.root_of(run).await? else { return Ok(()) };
        house.abandon_below(&root, run).await
    }

    pub(crate) fn house(&self) -> &Arc<House> {
        &self.0.house
    }

    /// Drives a run in a task of its own, unless it is driven already.
    pub(crate) fn spawn(&self, mut order: Order) {
        let house = Arc::clone(&self.0.house);
        // From now on it is driven, also before the task begins.
        order.drive = house.live.try_enter(&order.record.run, &order.token);
        if order.drive.is_none() {
            return;
        }
        let mut background = self.0.background.lock().unwrap_or_else(PoisonError::into_inner);
        while background.try_join_next().is_some() {}
        background.spawn(async move {
            house.drive_apart(order).await;
        });
    }

    fn downgrade(&self) -> WeakSupervisor {
        WeakSupervisor(Arc::downgrade(&self.0))
    }
}

impl WeakSupervisor {
    pub(crate) fn upgrade(&self) -> Option<Supervisor> {
        self.0.upgrade().map(Supervisor)
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor")
            .field("agents", &self.0.house.agents.keys())
            .field("limits", &self.0.house.limits)
            .finish_non_exhaustive()
    }
}
