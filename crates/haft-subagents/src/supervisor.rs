mod abandon;
mod apart;
mod budgets;
mod builder;
mod drive;
mod ending;
mod house;
mod identity;
mod inbox;
mod live;
mod news;
mod orders;
mod places;
mod restart;
mod shares;
mod spending;
mod telling;

pub use builder::SupervisorBuilder;
pub(crate) use drive::Order;
pub(crate) use ending::ModelName;
pub(crate) use house::{House, child};
pub(crate) use live::Supervised;
pub(crate) use orders::Caller;

use crate::{ChildRecord, Runner, tools};
use haft_core::{RunId, ToolError};
use haft_tools_core::{RegistryError, Rule, StoreError, ToolRegistry};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

/// Starts the runs that other runs ask for, and is the only one who does: so no run starts more of them, deeper, or at more
/// cost than it may, whichever way it asks.
///
/// It is made of [agents](crate::AgentSpec), gives the [tools](Self::tools) by which models delegate to them, and has a
/// [`Runner`] drive the runs. Cheap to clone; clones are the same supervisor. Runs in the background end with the last clone;
/// where they stand is kept.
///
/// ```
/// use haft_subagents::{AgentSpec, Supervisor};
///
/// let explorer = AgentSpec::new("explorer".parse()?, "Finds where things are in the code.");
/// let supervisor = Supervisor::builder().agent(explorer).build();
/// let tools = supervisor.tools()?;
/// assert!(tools.get("delegate").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Supervisor(Arc<Shared>);

/// Is a supervisor as its tools hold it: they are part of what it drives runs with, and must not keep it alive.
#[derive(Clone, Default)]
pub(crate) struct WeakSupervisor(Weak<Shared>);

struct Shared {
    house: Arc<House>,
    /// Owns what drives the runs.
    tasks: Mutex<JoinSet<()>>,
}

impl Supervisor {
    /// Starts to configure a supervisor; without any setting there is no agent.
    pub fn builder() -> SupervisorBuilder {
        SupervisorBuilder::new()
    }

    fn new(house: House) -> Self {
        Self(Arc::new_cyclic(|this| {
            let house = House { supervisor: WeakSupervisor(Weak::clone(this)), ..house };
            Shared { house: Arc::new(house), tasks: Mutex::default() }
        }))
    }

    /// The names of the tools whose calls are to be [made again](haft_agent::Agent::made_again) where the process ended while
    /// they were executed: they find the runs that they had started.
    ///
    /// An agent that delegates should be told of them; those that the supervisor has driven are.
    pub const MADE_AGAIN: [&str; 2] = tools::MADE_AGAIN;

    /// The names of the tools whose calls [may repeat](haft_agent::Agent::may_repeat) without being a loop: what they give
    /// depends on how far others are.
    ///
    /// An agent that delegates should be told of them; those that the supervisor has driven are.
    pub const MAY_REPEAT: [&str; 2] = tools::MAY_REPEAT;

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

    /// Makes the rule that lets runs look after those they have started, and give their results.
    ///
    /// The tools `wait_agents`, `send_agent`, `cancel_agent`, `list_agents` and `report` reach nothing but runs of the same
    /// tree, and declare no accesses: without a rule, people are asked about each of their calls. To whom may be delegated is
    /// said by rules about [`AccessMode::Call`](haft_tools_core::AccessMode::Call) of `agent:` resources.
    ///
    /// ```
    /// use haft_subagents::Supervisor;
    /// use haft_tools_core::Policy;
    ///
    /// let policy = Policy::new().allow(Supervisor::looking_after());
    /// # let _ = policy;
    /// ```
    pub fn looking_after() -> Rule {
        Rule::tools(tools::looking_after())
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
    /// A host calls it whenever a run of its own has ended for good or was cancelled: the run's own cancellation reaches only
    /// what was started since it was last gone on with. Those that are driven end within seconds; [`Supervisor::idle`] waits
    /// for that.
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
        let root = house.root_of(run).await?;
        house.abandon_below(&root, run).await
    }

    /// Forgets the runs below a run that is over for good, with all that they said; what is at work is cancelled first.
    ///
    /// Records are kept until then, so a host whose runs come and go calls it for each.
    ///
    /// # Errors
    ///
    /// When that cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// Some of them are cancelled or forgotten, and some are not; call it again.
    pub async fn forget(&self, root: &RunId) -> Result<(), StoreError> {
        self.cancel_below(root).await?;
        self.idle(root).await?;
        self.0.house.store.forget(root).await
    }

    pub(crate) fn house(&self) -> &Arc<House> {
        &self.0.house
    }

    /// Drives a run that nobody waits for in a task of its own, unless it is driven already.
    pub(crate) fn spawn(&self, mut order: Order) {
        let house = Arc::clone(&self.0.house);
        // From now on it is driven, also before the task begins.
        order.drive = house.live.try_enter(&order.record.run, &order.token);
        if order.drive.is_some() {
            order.apart = order.is_apart().then(|| house.apart.enter(&order.record.run));
            self.task(async move { _ = house.drive_apart(order).await });
        }
    }

    /// Drives a run in a task of its own, once nobody else does.
    ///
    /// The task is not part of the call that waits for it: a run that is cancelled with that call comes to its end, also
    /// where the call is given up before. A call that is dropped for any other reason abandons the run where it stands.
    pub(crate) fn attend(&self, mut order: Order) -> Attended {
        let (house, call) = (Arc::clone(&self.0.house), order.token.clone());
        let run = order.record.run.clone();
        order.drive = house.live.try_enter(&run, &order.token);
        let (tell, told) = oneshot::channel();
        // Only a run that is waited for is within the span of its call, which would not end before a run in the background; and
        // it has left the span when the call is told.
        let span = Span::current();
        let work = async move {
            let record = house.drive(order).instrument(span).await;
            _ = tell.send(record);
        };
        let task = self.task(work);
        Attended { house: Arc::clone(&self.0.house), run, task, call, told }
    }

    fn task(&self, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work)
    }

    fn downgrade(&self) -> WeakSupervisor {
        WeakSupervisor(Arc::downgrade(&self.0))
    }
}

/// Is a run that a call waits for.
pub(crate) struct Attended {
    house: Arc<House>,
    run: RunId,
    task: AbortHandle,
    /// Is cancelled with the call.
    call: CancellationToken,
    told: oneshot::Receiver<ChildRecord>,
}

impl Attended {
    /// Waits until the run ends or waits for a person.
    pub(crate) async fn wait(mut self) -> Result<ChildRecord, ToolError> {
        match (&mut self.told).await {
            Ok(record) => Ok(record),
            // Its task was ended with the program.
            Err(_) => self.house.record(&self.run).await,
        }
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        if !self.call.is_cancelled() {
            self.task.abort();
        }
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
