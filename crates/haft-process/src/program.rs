#![expect(unsafe_code, reason = "what a new process does first is handed to the standard library")]

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};

use crate::preparation::Preparation;

/// Says which program is started and what it is given, besides its environment.
///
/// What is not said is empty: it reads nothing, and nobody reads what it prints. It runs in the directory of this process
/// unless it is given one.
///
/// ```
/// use haft_process::{Environment, ProcessTree, Program};
/// use std::io::Read as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (mut reader, writer) = std::io::pipe()?;
/// let program = Program::new("/bin/sh").arguments(["-c", "pwd"]).directory("/").output(writer);
/// let mut processes = ProcessTree::start(program, &Environment::minimal())?;
/// processes.exited().await;
/// let mut printed = String::new();
/// reader.read_to_string(&mut printed)?;
/// assert_eq!(printed, "/\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Program {
    pub(crate) path: PathBuf,
    pub(crate) name: Option<OsString>,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: Option<PathBuf>,
    /// What it reads, prints, and prints of its errors.
    pub(crate) streams: [Option<OwnedFd>; 3],
    /// What it is given besides, under the numbers that they have here.
    pub(crate) passed: Vec<OwnedFd>,
    /// What its new process does before it is executed, in its session and with its streams.
    pub(crate) preparations: Vec<Preparation>,
}

impl Program {
    /// Names the program by its path, which is relative to the directory it runs in if it is not absolute; it is not looked
    /// for elsewhere ([`Environment::find_program`](crate::Environment::find_program) does that).
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let (path, streams) = (path.into(), [None, None, None]);
        let is_bare = !path.as_os_str().is_empty() && !path.as_os_str().as_bytes().contains(&b'/');
        // A bare name would be looked for in the directories of `PATH`.
        let path = if is_bare { Path::new(".").join(path) } else { path };
        let (arguments, passed, preparations) = (Vec::new(), Vec::new(), Vec::new());
        Self { path, name: None, arguments, directory: None, streams, passed, preparations }
    }

    /// Sets what the program is told that it is called, instead of its path.
    pub fn called(mut self, name: impl Into<OsString>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds arguments.
    pub fn arguments(mut self, arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets the directory that it runs in.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets what it reads.
    pub fn input(mut self, from: impl Into<OwnedFd>) -> Self {
        self.streams[0] = Some(from.into());
        self
    }

    /// Sets where what it prints goes.
    pub fn output(mut self, to: impl Into<OwnedFd>) -> Self {
        self.streams[1] = Some(to.into());
        self
    }

    /// Sets where the errors that it prints go.
    pub fn errors(mut self, to: impl Into<OwnedFd>) -> Self {
        self.streams[2] = Some(to.into());
        self
    }
}

/// Makes it a command to which more can be done.
impl From<Program> for Command {
    fn from(program: Program) -> Self {
        use std::os::unix::process::CommandExt as _;

        let Program { path, name, arguments, directory, streams, passed, preparations } = program;
        let mut command = Self::new(path);
        if let Some(name) = name {
            command.arg0(name);
        }
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        let [input, output, errors] = streams.map(|stream| stream.map_or_else(Stdio::null, Stdio::from));
        command.args(arguments).stdin(input).stdout(output).stderr(errors);
        if !passed.is_empty() || !preparations.is_empty() {
            let prepare = move || {
                preparations.iter().try_for_each(Preparation::run)?;
                Ok(passed.iter().try_for_each(|descriptor| fcntl_setfd(descriptor, FdFlags::empty()))?)
            };
            // SAFETY: a preparation makes system calls alone, and so does the rest.
            unsafe { command.pre_exec(prepare) };
        }
        command
    }
}
