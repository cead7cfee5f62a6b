use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput};
use haft_process::Environment;
use haft_tools_core::{Accesses, Action, CallContext, Preview};
use haft_workdir::{RootAccess, Workdir, WorkdirPath};
use tokio::time::{Instant, sleep_until};

use crate::catalog::CommandCatalog;
use crate::jobs::{Adopted, Jobs, Readiness, yielded};
use crate::last_directory::{LastDirectories, NextStart, Steps};
use crate::report::{self, Background, Ending, Report};
use crate::running::{DRAIN, Input, LEAVING, Running};
use crate::sandbox::ShellSandbox;
use crate::script_outputs::ScriptOutputs;
use crate::withheld;

/// How long a call may take beyond its time until it has reported; more than all that it waits for then.
pub(crate) const REPORT_TIME: Duration = Duration::from_secs(10);

/// Where and with what scripts run.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub(crate) workdir: Workdir,
    /// The host directories from which on down something may be done, also those that are outside for commands.
    pub(crate) roots: Vec<(PathBuf, RootAccess)>,
    pub(crate) environment: Environment,
    /// What is known of commands.
    #[cfg_attr(not(feature = "analysis"), expect(dead_code, reason = "nothing is known of a script's text"))]
    pub(crate) catalog: CommandCatalog,
    /// Where what they print is kept, if it is.
    pub(crate) outputs: Option<ScriptOutputs>,
    /// Who goes on with what is not waited for, if anybody does.
    pub(crate) jobs: Option<Jobs>,
    /// What scripts are confined by, if they are.
    pub(crate) sandbox: Option<ShellSandbox>,
    /// Where scripts go on.
    pub(crate) last_directories: LastDirectories,
}

impl Surroundings {
    pub(crate) fn new(workdir: Workdir, environment: Environment) -> Self {
        let roots = workdir.host_roots();
        let (workdir, last_directories) = (workdir.without_other_roots(), LastDirectories::default());
        let catalog = CommandCatalog::built_in().clone();
        let (outputs, jobs, sandbox) = (None, None, None);
        Self { workdir, roots, environment, catalog, outputs, jobs, sandbox, last_directories }
    }
}

/// Says what is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Work {
    /// A script, by bash.
    Script(String),
    /// A program, without a shell.
    Program { program: String, arguments: Vec<String> },
}

/// Says how long a call waits for what it runs.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// Until it has ended.
    Whole,
    /// For this long at most; then it becomes a job.
    Until(Duration),
    /// It is a job from the start, which is waited for until it is ready, if that can be told.
    Not { readiness: Option<Readiness> },
}

impl Waiting {
    /// The port on which it is waited for, which was declared.
    pub(crate) fn port(&self) -> Option<u16> {
        match self {
            Self::Not { readiness: Some(readiness) } => readiness.signs.port,
            _ => None,
        }
    }
}

/// Is one script or program that is ready to be run.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) surroundings: Arc<Surroundings>,
    pub(crate) work: Work,
    /// How it is written as a command.
    pub(crate) command: String,
    pub(crate) directory: WorkdirPath,
    pub(crate) timeout: Duration,
    pub(crate) waiting: Waiting,
    /// What it reads.
    pub(crate) input: Input,
    /// Where the next one starts, if that is remembered.
    pub(crate) steps: Option<Steps>,
    /// What it was allowed to do.
    pub(crate) accesses: Accesses,
    /// Whether it certainly does nothing else.
    pub(crate) is_understood: bool,
}

/// Why a script is no longer waited for.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Exited,
    TimedOut,
    Cancelled,
    Yielded,
}

#[async_trait]
impl Action for Script {
    async fn preview(&self) -> Preview {
        let mut shown = String::new();
        if !self.directory.is_root() {
            // A directory's name can hold a line feed, which would look like a command.
            let _ = writeln!(shown, "# in {}", self.directory.as_str().escape_debug());
        }
        shown.push_str(&self.command);
        if let Input::Text(text) = &self.input {
            shown.push_str("\n# reads");
            // None of it is a command.
            text.lines().for_each(|line| shown.extend(["\n< ", line]));
        }
        Preview::Command(shown)
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let jobs = self.surroundings.jobs.as_ref();
        let mut yields = match (&self.waiting, jobs) {
            (Waiting::Not { readiness }, Some(jobs)) => {
                let started = async || Running::start(&self, &cx);
                return jobs.begin(&self.command, readiness.as_ref(), started, &cx).await;
            }
            (Waiting::Until(time), Some(_)) => Some(Instant::now() + *time),
            _ => None,
        };
        let mut running = Running::start(&self, &cx)?;
        loop {
            match self.watch(&mut running, yields, &cx).await {
                Stop::Exited => return Ok(self.exited(running, &cx).await),
                Stop::TimedOut => {
                    let (output, ..) = running.end_all().await;
                    return Err(report::timed_out(output.to_text(cx.scope()).0, self.timeout));
                }
                Stop::Cancelled => {
                    let (output, ..) = running.end_all().await;
                    return Err(report::cancelled(output.to_text(cx.scope()).0));
                }
                Stop::Yielded => {
                    running.output.flush().await;
                    let text = running.output.to_text(cx.scope()).0;
                    match jobs.map(|jobs| jobs.adopt(running, &self.command, None, &cx)) {
                        Some(Ok(Adopted { job })) => return Ok(yielded(text, &job)),
                        // There is no room for one more job, so it is waited for.
                        Some(Err(given_back)) => running = *given_back,
                        None => {
                            return Err(ToolError::failed(
                                "the script was stopped before its end; see what it has done before you run it again",
                            ));
                        }
                    }
                    yields = None;
                }
            }
        }
    }
}

impl Script {
    async fn watch(&self, running: &mut Running, yields: Option<Instant>, cx: &CallContext) -> Stop {
        let Running { processes, output, started, .. } = running;
        let (deadline, yields_at) = (*started + self.timeout, yields.unwrap_or(*started));
        let stop = output
            .collect_until(async {
                tokio::select! {
                    biased;
                    () = cx.cancellation().cancelled() => Stop::Cancelled,
                    () = processes.exited() => Stop::Exited,
                    () = sleep_until(deadline) => Stop::TimedOut,
                    () = sleep_until(yields_at), if yields.is_some() => Stop::Yielded,
                }
            })
            .await;
        if !matches!(stop, Stop::Exited) {
            return stop;
        }
        tokio::select! {
            biased;
            () = cx.cancellation().cancelled() => Stop::Cancelled,
            () = output.drain(DRAIN) => Stop::Exited,
        }
    }

    /// Reports on a script that has ended, and sees to what it left in the background.
    async fn exited(&self, mut running: Running, cx: &CallContext) -> ToolOutput {
        let ending = Ending::from(running.processes.reap());
        let (duration, directory) = (running.started.elapsed(), self.directory.as_str().to_owned());
        let were_some = {
            let Running { processes, output, .. } = &mut running;
            !output.collect_until(processes.are_gone(LEAVING)).await
        };
        if were_some && let Some(jobs) = &self.surroundings.jobs {
            let alive = running.processes.alive().await;
            running.output.flush().await;
            let received_bytes = running.output.received_bytes();
            let (text, whole) = running.output.to_text(cx.scope());
            match jobs.adopt(running, &self.command, Some(ending), cx) {
                Ok(Adopted { job }) => {
                    let background = Background::Job { job, alive };
                    let (remarks, weaker) = (String::new(), None);
                    let next = self.next_start(ending);
                    return Report {
                        text,
                        whole,
                        remarks,
                        weaker,
                        ending,
                        background,
                        received_bytes,
                        duration,
                        directory,
                        next,
                    }
                    .into_output();
                }
                Err(given_back) => running = *given_back,
            }
        }
        let (output, mut confined, background) = running.end_background(were_some).await;
        let received_bytes = output.received_bytes();
        let (text, whole) = output.to_text(cx.scope());
        let (mut remarks, weaker) = match &mut confined {
            Some(confined) => (confined.remarks(&text, ending != Ending::Exited(0)), Some(confined.weaker())),
            None => (String::new(), None),
        };
        remarks.push_str(&withheld::remark(&text, ending, &self.surroundings.environment));
        let next = self.next_start(ending);
        Report { text, whole, remarks, weaker, ending, background, received_bytes, duration, directory, next }
            .into_output()
    }

    fn next_start(&self, ending: Ending) -> NextStart {
        self.steps.as_ref().map_or(NextStart::Root, |steps| steps.ended(ending))
    }
}
