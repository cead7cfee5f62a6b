use crate::{AgentSpec, ChildMemory, ChildResult};
use async_trait::async_trait;
use haft_agent::{Budget, News, Spent, SteerWhen};
use haft_core::{Message, RunId};
use haft_tools_core::{CallContext, CallScope, PendingCall};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Drives the runs that others start: the loop of an agent, whatever it is.
///
/// [`AgentRunner`](crate::AgentRunner) is the one over [`haft_agent::Agent`]; a host that has a loop of its own implements it
/// for that. Whatever a runner does, the [scope](ChildRun::scope) it is given says what the run may do, so it makes all calls
/// of the run in that scope, and it makes no runs itself: that is the [`Supervisor`](crate::Supervisor)'s to do.
///
/// ```
/// use async_trait::async_trait;
/// use haft_subagents::{ChildOutcome, ChildResult, ChildRun, Runner};
///
/// /// Says its task back.
/// struct Echo;
///
/// #[async_trait]
/// impl Runner for Echo {
///     async fn run(&self, child: ChildRun) -> ChildOutcome {
///         ChildOutcome::Ended(ChildResult::done(child.task))
///     }
/// }
/// ```
#[async_trait]
pub trait Runner: Send + Sync + 'static {
    /// Begins a run, or goes on with it from where it was [kept](ChildRun::memory), until it ends or waits for a person.
    ///
    /// A run that waited is gone on with by those answers that are there; it can wait again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the run; what was kept of it stays. When the run's token is cancelled it is to end soon,
    /// and is given up where it does not. A panic ends the run as failed and nothing else.
    async fn run(&self, child: ChildRun) -> ChildOutcome;

    /// Says something to a run that this runner drives; gives whether it will be told.
    ///
    /// By default nothing can be said: then it is told when the run is next gone on with.
    fn steer(&self, run: &RunId, text: &str, when: SteerWhen) -> bool {
        let _ = (run, text, when);
        false
    }

    /// Whether a run of which nothing was [kept](ChildRun::memory) can be begun again, because it has done nothing yet.
    ///
    /// By default it cannot: one whose process has ended is lost then.
    fn keeps_all(&self) -> bool {
        false
    }

    /// Whether a run that waits for these calls can be gone on with: a person has answered one of them, or none can any more.
    ///
    /// It is asked for runs in the background, before each turn of the run that started them. By default it is not known, and
    /// such a run is gone on with when it is waited for.
    ///
    /// # Cancel safety
    ///
    /// Must be cancel safe.
    async fn is_answered(&self, calls: &[PendingCall]) -> bool {
        let _ = calls;
        false
    }

    /// Takes back what people were asked about for a run that is not gone on with, so that nobody answers it in vain.
    ///
    /// By default nothing is done: the questions stay where they are, and their answers are used by nobody.
    ///
    /// # Cancel safety
    ///
    /// Must be cancel safe.
    async fn withdraw(&self, calls: &[PendingCall]) {
        let _ = calls;
    }
}

/// Is a run to be driven: what it is there for, and what it has to keep to.
///
/// ```
/// use haft_subagents::{ChildOutcome, ChildResult, ChildRun};
///
/// /// Answers from a table, and lets others do the rest.
/// fn known(child: &ChildRun) -> Option<ChildOutcome> {
///     let answer = match child.task.as_str() {
///         "Where is the parser?" => "In src/parse.rs.",
///         _ => return None,
///     };
///     Some(ChildOutcome::Ended(ChildResult::done(answer)))
/// }
/// # let _ = known;
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ChildRun {
    /// On whose behalf it works: below all that bounds those who started it.
    pub scope: CallScope,
    /// The agent that works in it.
    pub spec: Arc<AgentSpec>,
    /// What it is asked to do.
    pub task: String,
    /// Names it [within its tree](crate::ChildRecord::path), the same each time that the tree is played.
    pub path: String,
    /// What it is told of its parent's run, oldest first, before its task.
    pub messages: Vec<Arc<Message>>,
    /// What was said to it while nobody drove it, oldest first. One that has ended is asked for more.
    pub said: Vec<String>,
    /// What it may spend in all, what it [has spent](ChildMeter) before included.
    pub budget: Budget,
    /// Whether it may start runs of its own: otherwise it has no tool for that.
    pub may_delegate: bool,
    /// The call that waits for it; none for one in the background.
    pub caller: Option<CallContext>,
    /// The call because of which it is driven, where there is one in this process: whoever is asked about that call, and told
    /// of it, is asked about the run's calls, too.
    pub attended_like: Option<CallContext>,
    /// Is cancelled when it has to end.
    pub cancellation: CancellationToken,
    /// Keeps where it stands.
    pub memory: ChildMemory,
    /// Takes note of what it spends.
    pub meter: ChildMeter,
    /// What it is told before each of its turns: what has become of the runs that it has started.
    pub news: Arc<dyn News>,
}

/// Says what became of a run that was driven.
///
/// ```
/// use haft_subagents::{ChildOutcome, ChildResult};
///
/// let outcome = ChildOutcome::Ended(ChildResult::done("In src/parse.rs."));
/// assert!(matches!(outcome, ChildOutcome::Ended(result) if result.text == "In src/parse.rs."));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ChildOutcome {
    /// It is over.
    Ended(ChildResult),
    /// It waits for a person, and is gone on with when they have answered.
    Waiting(Vec<PendingCall>),
}

/// Holds what a run has spent, so that it is known also where the run is abandoned.
///
/// Clones are the same meter.
///
/// ```
/// use haft_agent::Spent;
/// use haft_subagents::ChildMeter;
///
/// let meter = ChildMeter::default();
/// let mut spent = Spent::default();
/// spent.turns = 3;
/// meter.clone().record(spent);
/// assert_eq!(meter.spent().turns, 3);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ChildMeter(Arc<Mutex<Spent>>);

impl ChildMeter {
    pub(crate) fn new(spent: Spent) -> Self {
        Self(Arc::new(Mutex::new(spent)))
    }

    /// Says what the run has spent so far, in all.
    pub fn record(&self, spent: Spent) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = spent;
    }

    /// What the run has spent so far, in all.
    pub fn spent(&self) -> Spent {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ChildRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildRun")
            .field("scope", &self.scope)
            .field("task", &self.task)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}
