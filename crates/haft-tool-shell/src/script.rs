use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput};
use haft_process::{Environment, ProcessTree};
use haft_tools_core::{Accesses, Action, CallContext, Preview};
use haft_workdir::{RootAccess, Workdir, WorkdirPath};
use rustix::io::Errno;
use tokio::time::{Instant, sleep};

use crate::directory;
use crate::output_stream::OutputStream;
use crate::report::{self, Background, Ending, Report};
use crate::sandbox::{Confined, ShellSandbox};
use crate::script_outputs::ScriptOutputs;

/// How long output is waited for after the script has ended, at most.
const DRAIN: Duration = Duration::from_secs(2);

/// How long output is waited for after everything was ended, at most.
const LAST_DRAIN: Duration = Duration::from_millis(500);

/// How long a script that is stopped may take to clean up.
const STOP_GRACE: Duration = Duration::from_millis(500);

/// How long a process that has closed its output may take to end by itself.
const LEAVING: Duration = Duration::from_millis(50);

/// How long what is left in the background may take to clean up.
const BACKGROUND_GRACE: Duration = Duration::from_millis(200);

/// How long a call may take beyond its time until it has reported; more than all of the above.
pub(crate) const REPORT_TIME: Duration = Duration::from_secs(10);

/// Where and with what scripts run.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub(crate) workdir: Workdir,
    /// The host directories from which on down something may be done, also those that are outside for commands.
    pub(crate) roots: Vec<(PathBuf, RootAccess)>,
    pub(crate) environment: Environment,
    /// Where what they print is kept, if it is.
    pub(crate) outputs: Option<ScriptOutputs>,
    /// What scripts are confined by, if they are.
    pub(crate) sandbox: Option<ShellSandbox>,
}

/// Is one script that is ready to be run.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) surroundings: Arc<Surroundings>,
    pub(crate) command: String,
    pub(crate) directory: WorkdirPath,
    pub(crate) timeout: Duration,
    /// What it was allowed to do.
    pub(crate) accesses: Accesses,
    /// Whether it certainly does nothing else.
    pub(crate) is_understood: bool,
}

/// Why a script is no longer waited for.
enum Stop {
    Exited,
    TimedOut,
    Cancelled,
}

#[async_trait]
impl Action for Script {
    async fn preview(&self) -> Preview {
        if self.directory.is_root() {
            return Preview::Command(self.command.clone());
        }
        // A directory's name can hold a line feed, which would look like a command.
        Preview::Command(format!("# in {}\n{}", self.directory.as_str().escape_debug(), self.command))
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let started = Instant::now();
        let outputs = self.surroundings.outputs.as_ref();
        let (mut processes, mut output, mut confined) = self.start(&cx)?;
        let stop = output
            .collect_until(async {
                tokio::select! {
                    biased;
                    () = cx.cancellation().cancelled() => Stop::Cancelled,
                    () = processes.exited() => Stop::Exited,
                    () = sleep(self.timeout) => Stop::TimedOut,
                }
            })
            .await;
        let stop = match stop {
            Stop::Exited => tokio::select! {
                biased;
                () = cx.cancellation().cancelled() => Stop::Cancelled,
                () = output.drain(DRAIN) => Stop::Exited,
            },
            stop => stop,
        };
        match stop {
            Stop::Exited => {
                let ending = Ending::from(processes.reap());
                let background = end_background(processes, &mut output).await;
                let (received_bytes, duration) = (output.received_bytes(), started.elapsed());
                output.finish().await;
                let (text, whole) = output.to_text(outputs, cx.scope());
                let (remarks, weaker) = match &mut confined {
                    Some(confined) => {
                        (confined.remarks(&text, ending != Ending::Exited(0)), Some(confined.weaker()))
                    }
                    None => (String::new(), None),
                };
                Ok(Report { text, whole, remarks, weaker, ending, background, received_bytes, duration }
                    .into_output())
            }
            Stop::TimedOut => {
                end_all(processes, &mut output).await;
                Err(report::timed_out(output.to_text(outputs, cx.scope()).0, self.timeout))
            }
            Stop::Cancelled => {
                end_all(processes, &mut output).await;
                Err(report::cancelled(output.to_text(outputs, cx.scope()).0))
            }
        }
    }
}

impl Script {
    fn start(&self, cx: &CallContext) -> Result<(ProcessTree, OutputStream, Option<Confined>), ToolError> {
        let Surroundings { workdir, environment, outputs, sandbox, .. } = &*self.surroundings;
        let outputs = outputs.as_ref();
        let Some(bash) = environment.find_program("bash") else {
            return Err(ToolError::unavailable(
                "there is no `bash` where commands are looked for; do without it, or ask the user to install it",
            ));
        };
        let directory = workdir.host_directory(&self.directory).map_err(directory::unusable)?;
        let mut command = Command::new(bash);
        // The name is what bash puts in front of its messages, where a host path has no place.
        command
            .arg0("bash")
            .args(["--noprofile", "--norc", "-c", "--", &self.command])
            .current_dir(&directory)
            .stdin(Stdio::null());
        let Some(sandbox) = sandbox else {
            let (processes, output) = spawn(command, environment, outputs, cx).map_err(not_started)?;
            return Ok((processes, output, None));
        };
        let confined = sandbox.confined(self, &directory)?;
        let environment = confined.confine(&mut command, environment).map_err(not_started)?;
        let (processes, output) = spawn(command, &environment, outputs, cx).map_err(not_started)?;
        Ok((processes, output, Some(confined)))
    }
}

/// Gives the command one pipe for both of its outputs, so that they are read in the order they are written.
fn spawn(
    mut command: Command,
    environment: &Environment,
    outputs: Option<&ScriptOutputs>,
    cx: &CallContext,
) -> io::Result<(ProcessTree, OutputStream)> {
    let (reader, writer) = io::pipe()?;
    let output = OutputStream::new(reader, outputs, cx.clone())?;
    command.stdout(writer.try_clone()?).stderr(writer);
    Ok((ProcessTree::spawn(command, environment)?, output))
}

/// Ends a script that is still running, with all it started, and takes what that prints meanwhile.
async fn end_all(mut processes: ProcessTree, output: &mut OutputStream) {
    output.collect_until(processes.end(STOP_GRACE)).await;
    output.drain(LAST_DRAIN).await;
    output.finish().await;
    processes.reap();
    processes.let_go();
}

/// Ends what a script that has ended left in the background.
async fn end_background(mut processes: ProcessTree, output: &mut OutputStream) -> Background {
    let were_some = !output.collect_until(processes.are_gone(LEAVING)).await;
    if were_some {
        output.collect_until(processes.end(BACKGROUND_GRACE)).await;
    }
    processes.let_go();
    output.drain(LAST_DRAIN).await;
    match (output.is_open(), were_some) {
        (true, _) => Background::GoesOn,
        (false, true) => Background::Ended,
        (false, false) => Background::None,
    }
}

/// Tells the model why there is no process.
fn not_started(error: io::Error) -> ToolError {
    // The system has no process, memory or descriptor to spare.
    let is_short = matches!(
        Errno::from_io_error(&error),
        Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE)
    );
    let tool_error = if is_short {
        ToolError::unavailable(
            "no process can be started now; wait for other commands to end, then try again",
        )
    } else {
        let kind = error.kind();
        ToolError::failed(format!("the command could not be started ({kind}); ask the user to look at it"))
    };
    tool_error.with_source(error)
}
