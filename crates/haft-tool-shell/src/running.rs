use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use haft_core::ToolError;
use haft_process::{Environment, ProcessTree, Program, Terminal};
use haft_tools_core::CallContext;
use rustix::io::Errno;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::Instant;

use crate::directory;
use crate::feed::Feed;
use crate::output_stream::{OutputStream, Source};
use crate::report::{Background, Ending};
use crate::sandbox::Confined;
use crate::screen::{Screen, ScreenSize};
use crate::script::{Script, Surroundings, Work};
use crate::terminal_end::TerminalEnd;

/// How long output is waited for after the script has ended, at most; with the time that ending what is left takes, a call
/// is back within 2 s.
pub(crate) const DRAIN: Duration = Duration::from_millis(1_200);

/// How long output is waited for after everything was ended, at most.
const LAST_DRAIN: Duration = Duration::from_millis(500);

/// How long a script that is stopped may take to clean up.
const STOP_GRACE: Duration = Duration::from_millis(500);

/// How long a process that has closed its output may take to end by itself.
pub(crate) const LEAVING: Duration = Duration::from_millis(50);

/// How long what is left in the background may take to clean up.
const BACKGROUND_GRACE: Duration = Duration::from_millis(200);

/// Is a script or a program that was started, with all that it starts.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) processes: ProcessTree,
    pub(crate) output: OutputStream,
    pub(crate) confined: Option<Confined>,
    /// What writes to its standard input, where that is open.
    pub(crate) input: Option<Feed>,
    pub(crate) started: Instant,
    /// What it was not given can be why it fails.
    pub(crate) environment: Environment,
}

/// Says what a process reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Empty,
    /// What is written to it while it runs.
    Open,
    Text(Box<str>),
    /// What is typed at its terminal, on which it prints, too.
    Terminal(ScreenSize),
}

impl Input {
    /// The text that it is, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Empty | Self::Open | Self::Terminal(_) => None,
        }
    }
}

impl Running {
    pub(crate) fn start(script: &Script, cx: &CallContext) -> Result<Self, ToolError> {
        let Surroundings { workdir, environment, sandbox, .. } = &*script.surroundings;
        let directory = workdir.host_directory(&script.directory).map_err(directory::unusable)?;
        let program = match &script.work {
            Work::Script(script) => {
                let Some(bash) = environment.find_program("bash") else {
                    return Err(ToolError::unavailable(
                        "there is no `bash` where commands are looked for; do without it, or ask the user to install it",
                    ));
                };
                // The name is what bash puts in front of its messages, where a host path has no place.
                let arguments = ["--noprofile", "--norc", "-c", "--", script];
                Program::new(bash).called("bash").arguments(arguments)
            }
            Work::Program { program, arguments } => {
                let place = if program.contains('/') {
                    Some(directory.join(program))
                } else {
                    environment.find_program(program)
                };
                let Some(place) = place else {
                    return Err(ToolError::not_found(format!(
                        "there is no program `{program}` where programs are looked for; give its path, or use another"
                    )));
                };
                Program::new(place).called(program).arguments(arguments)
            }
        };
        let program = program.directory(&directory);
        let confined = sandbox.as_ref().map(|sandbox| sandbox.confined(script, &directory)).transpose()?;
        let started = Self::spawn(program, confined.as_ref(), environment, script, cx);
        let (processes, output, input) = started.map_err(|error| not_started(error, &script.work))?;
        let environment = environment.clone();
        Ok(Self { processes, output, confined, input, started: Instant::now(), environment })
    }

    /// Gives the program one pipe for both of its outputs, so that they are read in the order they are written.
    fn spawn(
        mut program: Program,
        confined: Option<&Confined>,
        environment: &Environment,
        script: &Script,
        cx: &CallContext,
    ) -> io::Result<(ProcessTree, OutputStream, Option<Feed>)> {
        let outputs = script.surroundings.outputs.as_ref();
        let confine = |program: Program| match confined {
            Some(confined) => confined.confine(program, environment),
            None => Ok((program, environment.clone())),
        };
        if let Input::Terminal(size) = script.input {
            let (program, environment) = confine(program)?;
            let environment = environment.with_default("TERM", "xterm-256color");
            let terminal = Terminal::open(size.rows.get(), size.columns.get())?;
            let held_open = Some(terminal.held_open()?);
            let (processes, end) = ProcessTree::start_in_terminal(program, &environment, terminal)?;
            let (end, screen) = (Arc::new(TerminalEnd::new(end)?), Arc::new(Screen::new(size)));
            let source = Source::Terminal { end: Arc::clone(&end), screen, held_open };
            return Ok((
                processes,
                OutputStream::new(source, outputs, cx.clone()),
                Some(Feed::Terminal(end)),
            ));
        }
        let (reader, writer) = io::pipe()?;
        let source = Source::Pipe(Receiver::from_owned_fd(reader.into())?);
        let output = OutputStream::new(source, outputs, cx.clone());
        program = program.output(writer.try_clone()?).errors(writer);
        let mut feed = None;
        match &script.input {
            Input::Empty | Input::Terminal(_) => {}
            Input::Open => {
                let (reader, writer) = io::pipe()?;
                program = program.input(reader);
                feed = Some(Feed::Pipe(Sender::from_owned_fd(writer.into())?));
            }
            Input::Text(text) => program = program.input(file_of(text)?),
        }
        let (program, environment) = confine(program)?;
        Ok((ProcessTree::start(program, &environment)?, output, feed))
    }

    /// Ends all that is still running, and takes what that prints meanwhile.
    pub(crate) async fn end_all(mut self) -> (OutputStream, Option<Confined>, Ending) {
        self.output.collect_until(self.processes.end(STOP_GRACE)).await;
        self.output.drain(LAST_DRAIN).await;
        self.output.finish().await;
        let ending = Ending::from(self.processes.reap());
        self.processes.let_go();
        (self.output, self.confined, ending)
    }

    /// Ends what a script that has ended left in the background.
    pub(crate) async fn end_background(
        mut self,
        were_some: bool,
    ) -> (OutputStream, Option<Confined>, Background) {
        if were_some {
            self.output.collect_until(self.processes.end(BACKGROUND_GRACE)).await;
        }
        self.processes.let_go();
        self.output.drain(LAST_DRAIN).await;
        let background = match (self.output.is_open(), were_some) {
            (true, _) => Background::GoesOn,
            (false, true) => Background::Ended,
            (false, false) => Background::None,
        };
        self.output.finish().await;
        (self.output, self.confined, background)
    }
}

/// Makes a file without a name that is read from its beginning, so that nobody has to write while it is read.
fn file_of(text: &str) -> io::Result<File> {
    let mut file = unnamed_file()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// Makes a file in memory, which a sandbox lets be opened again, as by the name `/dev/stdin`.
#[cfg(target_os = "linux")]
fn unnamed_file() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    Ok(memfd_create(c"input", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn unnamed_file() -> io::Result<File> {
    tempfile::tempfile()
}

/// Tells the model why there is no process.
fn not_started(error: io::Error, work: &Work) -> ToolError {
    // The system has no process, memory or descriptor to spare.
    let is_short = matches!(
        Errno::from_io_error(&error),
        Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE)
    );
    let tool_error = match (work, error.kind()) {
        _ if is_short => ToolError::unavailable(
            "no process can be started now; wait for other commands to end, then try again",
        ),
        (Work::Program { program, .. }, io::ErrorKind::NotFound) => ToolError::not_found(format!(
            "there is no program at `{program}`; look where it is, then use that path"
        )),
        (Work::Program { program, .. }, io::ErrorKind::PermissionDenied) => ToolError::invalid_input(
            format!("`{program}` cannot be executed; use `bash` to run a script of that name"),
        ),
        (_, kind) => {
            ToolError::failed(format!("the command cannot be started ({kind}); ask the user to look at it"))
        }
    };
    tool_error.with_source(error)
}
