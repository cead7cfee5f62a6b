use super::framed::Output;
use super::keeper::Keeper;
use super::{Ending, Framed};
use crate::ServerProgram;
use haft_process::{Environment, EnvironmentError, ProcessTree};
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::unix::pipe::{Receiver, Sender};

/// Starts a program and speaks to it over its standard input and output, in lines of at most so many bytes.
///
/// It is given the environment and its own variables, nothing else, and leads a session of its own. When it ends, the
/// connection does, whatever it may have left behind; when the connection is dropped, all its processes are killed.
pub(crate) fn start(
    program: &ServerProgram,
    environment: &Environment,
    most: usize,
    ending: Arc<Ending>,
) -> Result<Framed, StartError> {
    let environment = program
        .variables
        .iter()
        .try_fold(environment.clone(), |environment, (name, value)| environment.with(name, value))?;
    let path = find(&program.command, &environment)
        .ok_or_else(|| StartError::Missing(program.command.to_string_lossy().into_owned()))?;
    let mut started = haft_process::Program::new(path).arguments(&program.arguments);
    if let Some(directory) = &program.directory {
        started = started.directory(directory);
    }
    let start = || -> io::Result<Framed> {
        let (stdin, to_stdin) = io::pipe()?;
        let (from_stdout, stdout) = io::pipe()?;
        let (from_stderr, stderr) = io::pipe()?;
        let to_stdin = Sender::from_owned_fd(OwnedFd::from(to_stdin))?;
        let from_stdout = Receiver::from_owned_fd(from_stdout.into())?;
        let from_stderr = Receiver::from_owned_fd(from_stderr.into())?;
        let started = started.input(stdin).output(stdout).errors(stderr);
        let processes = ProcessTree::start(started, &environment)?;
        let keeper = Keeper::new(processes, from_stderr, ending.clone());
        Ok(Framed::new(from_stdout, Output::Pipe(to_stdin), most, ending).kept_by(keeper))
    };
    start().map_err(|source| StartError::Spawn {
        program: program.command.to_string_lossy().into_owned(),
        source,
    })
}

/// Says why a program was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("there is no program `{0}` in `PATH`")]
    Missing(String),
    #[error("cannot start `{program}`: {source}")]
    Spawn { program: String, source: io::Error },
    #[error(transparent)]
    Variable(#[from] EnvironmentError),
}

/// Finds a program: a path is taken as it is, a name is looked for.
fn find(command: &OsStr, environment: &Environment) -> Option<PathBuf> {
    if Path::new(command).components().count() > 1 || Path::new(command).is_absolute() {
        return Some(command.into());
    }
    environment.find_program(command.to_str()?)
}
