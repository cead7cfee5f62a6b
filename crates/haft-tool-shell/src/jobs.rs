//! Scripts that go on without a call that waits for them.

mod drive;
mod job;
mod readiness;
mod report;
mod tools;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_core::{Event, EventKind, RunId, ToolError, ToolOutput};
use haft_tools_core::{CallContext, CallScope, Observer, Tool};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub(crate) use self::job::{Job, Shown, State};
pub(crate) use self::readiness::{Met, Readiness, Signs};
pub(crate) use self::report::yielded;
use crate::report::Ending;
use crate::running::Running;
use crate::script_outputs::ScriptOutputs;

/// How many jobs run at one time.
const MOST_RUNNING: usize = 64;

/// How many jobs that have ended are remembered.
const MOST_REMEMBERED: usize = 64;

/// How many signals wait to be sent to a job.
const MOST_SIGNALS: usize = 16;

/// Holds scripts that go on beside calls: those that were started in the background, that took longer than they were waited
/// for, and what others left running.
///
/// Give it to [`Bash::jobs`](crate::Bash::jobs), and its [`tools`](Self::tools) to the model beside `bash`. A job belongs to
/// the run whose call it comes of: no other run knows of it. It ends when it is ended or cancelled, with its run, after
/// [a day](Self::lasting), and with everything that was started with it at the latest when the last clone of this and of the
/// tools that were given it is dropped, or the host ends.
///
/// Calls are ordered among themselves, and not against what a job does meanwhile.
///
/// That a run has ended it learns as an [`Observer`] of the runs below another, and by [`end_run`](Self::end_run); the calls of a
/// run that is cancelled end theirs. At most 64 jobs run at one time. Cheap to clone; clones hold the same jobs.
///
/// ```
/// use haft_tool_shell::{Bash, Environment, Jobs, ScriptOutputs};
/// use haft_tools_core::ToolRegistry;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (tree, place) = (haft_testkit::Tree::new(), haft_testkit::Tree::new());
/// let jobs = Jobs::new(ScriptOutputs::spilling_into(place.path()));
/// let bash = Bash::new(tree.workdir(), Environment::minimal()).jobs(&jobs);
/// let tools = jobs.tools().into_iter().try_fold(ToolRegistry::new().with(bash)?, |tools, tool| tools.with(tool))?;
/// assert!(tools.get("job_poll").is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Jobs(Arc<Inner>);

struct Inner {
    outputs: ScriptOutputs,
    lasting: Mutex<Duration>,
    shelf: Mutex<Shelf>,
    /// Dropped with what drives the jobs, which ends them.
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct Shelf {
    jobs: BTreeMap<u64, Arc<Job>>,
    next: u64,
}

/// Is a script that became a job.
pub(crate) struct Adopted {
    pub(crate) job: Arc<Job>,
}

impl Jobs {
    /// Starts without jobs; what they print is kept there.
    pub fn new(outputs: ScriptOutputs) -> Self {
        let lasting = Mutex::new(Duration::from_hours(24));
        Self(Arc::new(Inner { outputs, lasting, shelf: Mutex::default(), tasks: Mutex::default() }))
    }

    /// Says how long a job may run; a day if nothing is said. Those that run already keep their time.
    pub fn lasting(self, most: Duration) -> Self {
        *lock(&self.0.lasting) = most;
        self
    }

    /// Where what they print is kept.
    pub(crate) fn outputs(&self) -> &ScriptOutputs {
        &self.0.outputs
    }

    /// Makes the tools by which a model works with its jobs: `job_poll`, `job_write`, `job_signal`, `job_wait` and `job_list`.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        tools::all(self)
    }

    /// Takes what a run is to be told of its jobs that have ended, since it was last told of them, oldest first.
    ///
    /// What a tool of the model has answered with counts as told. Each text says how the job ended, and shows the end of
    /// what it printed.
    pub fn take_news(&self, run: &RunId) -> Vec<String> {
        self.of_run(run).iter().filter_map(|job| job.take_news()).collect()
    }

    /// Ends the jobs of a run, with everything that they have started; does not wait until they have ended.
    pub fn end_run(&self, run: &RunId) {
        for job in self.of_run(run) {
            job.stop();
        }
    }

    /// Ends all jobs, and waits until they have.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what has not ended by then ends all the same.
    pub async fn end(&self) {
        let jobs: Vec<Arc<Job>> = lock(&self.0.shelf).jobs.values().cloned().collect();
        for job in &jobs {
            job.stop();
        }
        for job in jobs {
            job.over().await;
        }
    }

    /// Lists the jobs of a run, oldest first.
    fn of_run(&self, run: &RunId) -> Vec<Arc<Job>> {
        lock(&self.0.shelf).jobs.values().filter(|job| job.run() == run).cloned().collect()
    }

    fn find(&self, scope: &CallScope, name: &str) -> Result<Arc<Job>, ToolError> {
        let jobs = self.of_run(scope.run());
        if let Some(job) = jobs.iter().find(|job| job.name() == name) {
            return Ok(Arc::clone(job));
        }
        let names: Vec<String> = jobs.iter().map(|job| format!("`{}`", job.name())).collect();
        let there_are = if names.is_empty() {
            "you have no jobs; `bash` starts one with `background`".to_owned()
        } else {
            format!("your jobs are {}", names.join(", "))
        };
        Err(ToolError::not_found(format!("there is no job `{}`; {there_are}", name.escape_debug())))
    }

    /// Starts a script as a job, and waits until it is ready, if that can be told.
    pub(crate) async fn begin(
        &self,
        command: &str,
        readiness: Option<&Readiness>,
        start: impl AsyncFnOnce() -> Result<Running, ToolError>,
        cx: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        if self.is_full() {
            return Err(ToolError::unavailable(format!(
                "{MOST_RUNNING} jobs are running, and more there cannot be; end one with `job_signal`, or wait for one \
                 with `job_wait`"
            )));
        }
        if let Some(readiness) = readiness {
            readiness.check().await?;
        }
        let running = start().await?;
        let Ok(Adopted { job }) = self.adopt(running, command, None, cx) else {
            return Err(ToolError::unavailable("too many jobs are running; wait for one with `job_wait`"));
        };
        let Some(readiness) = readiness else { return Ok(report::begun(&job)) };
        let met = readiness.wait(&job).await;
        Ok(report::awaited(&job, readiness, met, job.show(Some(0)).await?))
    }

    /// Goes on with what was started for a call; gives it back where there are too many jobs.
    pub(crate) fn adopt(
        &self,
        mut running: Running,
        command: &str,
        ending: Option<Ending>,
        cx: &CallContext,
    ) -> Result<Adopted, Box<Running>> {
        if self.is_full() {
            return Err(Box::new(running));
        }
        let Some(kept) = running.output.followed(cx.scope()) else { return Err(Box::new(running)) };
        let (sender, signals) = mpsc::channel(MOST_SIGNALS);
        let job = {
            let mut held = lock(&self.0.shelf);
            held.next += 1;
            let (number, input, screen) = (held.next, running.input.take(), running.output.screen().cloned());
            let run = cx.scope().run().clone();
            let job = Job::new(number, run, command.to_owned(), kept, input, ending, sender);
            let job = Arc::new(job.showing(screen));
            held.jobs.insert(number, Arc::clone(&job));
            held.forget_old();
            job
        };
        let most = *lock(&self.0.lasting);
        let mut tasks = lock(&self.0.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(drive::drive(
            running,
            Arc::clone(&job),
            ending,
            signals,
            cx.cancellation().clone(),
            most,
        ));
        Ok(Adopted { job })
    }

    fn is_full(&self) -> bool {
        lock(&self.0.shelf).jobs.values().filter(|job| !job.is_over()).count() >= MOST_RUNNING
    }
}

impl Shelf {
    fn forget_old(&mut self) {
        let over: Vec<u64> =
            self.jobs.iter().filter(|(_, job)| job.is_over()).map(|(number, _)| *number).collect();
        for number in over.iter().take(over.len().saturating_sub(MOST_REMEMBERED)) {
            self.jobs.remove(number);
        }
    }
}

/// Ends the jobs of runs that have ended which another run had started.
impl Observer for Jobs {
    fn observe(&self, event: &Event) {
        if matches!(event.kind, EventKind::RunEnded { .. }) {
            self.end_run(&event.run);
        }
    }
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = lock(&self.0.shelf).jobs.values().map(|job| job.name().to_owned()).collect();
        f.debug_tuple("Jobs").field(&names).finish()
    }
}

/// Nothing panics while a lock is held, so what it guards is whole.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
