//! Git, run so that nothing that a repository says makes it run anything else.
//!
//! Two kinds of repositories are worked on. Those made here have settings, attributes and hooks of their own alone. The one
//! that the parent works in may be anybody's: it is asked for names and for the list of its index, nothing of which has
//! git read a file of the working tree, look for hooks or start a program, and never by a path that it names itself.

use super::super::workplaces::WorkplaceError;
use haft_process::{Alongside, Environment, ProcessTree, Program};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::timeout;

/// How much of what git says of an error is kept, in bytes.
const MOST_STDERR: usize = 2 * 1024;

/// How much is read at once, in bytes: what a pipe holds on Linux (pipe(7)).
const READ_BYTES: usize = 64 * 1024;

/// How long what is ended may take to clean up.
const GRACE: Duration = Duration::from_millis(200);

/// How long output is waited for after everything was ended, at most.
const LAST_DRAIN: Duration = Duration::from_millis(500);

/// What is said over everything that a repository's own settings say (git-config(1)).
const SETTINGS: [&str; 20] = [
    "advice.addEmbeddedRepo=false",
    "core.alternateRefsCommand=false",
    "core.attributesFile=/dev/null",
    "core.autocrlf=false",
    "core.excludesFile=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=none",
    "core.hooksPath=/dev/null",
    "core.ignoreStat=false",
    "core.quotePath=false",
    "core.safecrlf=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "diff.external=",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "commit.gpgSign=false",
];

/// The variables that git gets, besides where its programs are. All others that it knows are not set.
const VARIABLES: [(&str, &str); 18] = [
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_AUTHOR_EMAIL", "haft@localhost"),
    ("GIT_AUTHOR_NAME", "haft"),
    ("GIT_COMMITTER_EMAIL", "haft@localhost"),
    ("GIT_COMMITTER_NAME", "haft"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_SSH_COMMAND", "/bin/false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("HOME", "/dev/null"),
    ("LC_ALL", "C"),
    ("XDG_CONFIG_HOME", "/dev/null"),
];

/// Is the program, and how it is run.
#[derive(Debug, Clone)]
pub(super) struct Git {
    program: PathBuf,
    environment: Environment,
    most_time: Duration,
}

/// Is one repository: where it keeps what it knows, and the files that it is about.
#[derive(Debug, Clone)]
pub(super) struct Repository {
    git: Git,
    git_dir: PathBuf,
    work_tree: PathBuf,
}

/// Is what came of a command that ended by itself.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Says what a command is for, and how much it may print.
#[derive(Debug, Clone, Copy)]
pub(super) struct Purpose {
    pub(super) action: &'static str,
    /// What it prints too much of, if it does.
    pub(super) what: &'static str,
    pub(super) most_bytes: usize,
}

impl Purpose {
    /// For something that prints no more than a few lines.
    pub(super) fn to(action: &'static str) -> Self {
        Self { action, what: "bytes of what git says", most_bytes: 64 * 1024 }
    }
}

impl Git {
    /// Finds the program in the directories of `PATH` of the host's environment, of which git gets nothing else.
    pub(super) fn find(host: &Environment, most_time: Duration) -> Result<Self, WorkplaceError> {
        let program = host.find_program("git").ok_or(WorkplaceError::NoGit)?;
        let path = host.variable("PATH").map(OsStr::to_owned).unwrap_or_default();
        let variables = VARIABLES.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let environment = variables
            .into_iter()
            .chain([(OsString::from("PATH"), path)])
            .try_fold(Environment::minimal(), |environment, (name, value)| environment.with(name, value))
            .map_err(|error| WorkplaceError::Other { action: "run git", source: Box::new(error) })?;
        Ok(Self { program, environment, most_time })
    }

    /// Works on the repository that keeps what it knows in one directory and has its files in another.
    pub(super) fn on(&self, git_dir: impl Into<PathBuf>, work_tree: impl Into<PathBuf>) -> Repository {
        Repository { git: self.clone(), git_dir: git_dir.into(), work_tree: work_tree.into() }
    }

    async fn run(&self, program: Program, input: &[u8], purpose: Purpose) -> Result<Ended, WorkplaceError> {
        let action = purpose.action;
        let failed = |source| WorkplaceError::Io { action: "run", path: self.program.clone(), source };
        let exchanged = self.exchange(program, input, purpose.most_bytes).await.map_err(failed)?;
        let (code, stdout, stderr) =
            exchanged.ok_or(WorkplaceError::TimedOut { action, most: self.most_time })?;
        if stdout.len() > purpose.most_bytes {
            return Err(WorkplaceError::TooMuch { what: purpose.what, most: purpose.most_bytes as u64 });
        }
        Ok(Ended { code, stdout, stderr })
    }

    /// Gives git an input and takes what it prints; nothing where it took too long. Dropped, it ends git.
    async fn exchange(
        &self,
        program: Program,
        input: &[u8],
        most_bytes: usize,
    ) -> io::Result<Option<(i32, Vec<u8>, Vec<u8>)>> {
        let (stdin, to_stdin) = io::pipe()?;
        let (from_stdout, stdout) = io::pipe()?;
        let (from_stderr, stderr) = io::pipe()?;
        let to_stdin = Sender::from_owned_fd(OwnedFd::from(to_stdin))?;
        let from_stdout = Receiver::from_owned_fd(from_stdout.into())?;
        let from_stderr = Receiver::from_owned_fd(from_stderr.into())?;
        let program = program.input(stdin).output(stdout).errors(stderr);
        let mut processes = ProcessTree::start(program, &self.environment)?;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = {
            let talk = pin!(async {
                tokio::join!(
                    say(to_stdin, input),
                    hear(from_stdout, &mut out, most_bytes, Beyond::Stop),
                    hear(from_stderr, &mut err, MOST_STDERR, Beyond::Drop)
                );
            });
            let mut talk = Alongside::new(talk);
            let is_in_time = talk.during(timeout(self.most_time, processes.exited())).await.is_ok();
            let status = if is_in_time { processes.reap() } else { None };
            if !is_in_time || !talk.during(processes.are_gone(Duration::ZERO)).await {
                talk.during(processes.end(GRACE)).await;
                processes.reap();
            }
            processes.let_go();
            talk.during_at_most(LAST_DRAIN).await;
            is_in_time.then(|| status.and_then(|status| status.code()).unwrap_or(-1))
        };
        Ok(code.map(|code| (code, out, err)))
    }
}

impl Repository {
    /// Runs a command of git, which has to succeed.
    pub(super) async fn run(
        &self,
        arguments: &[&str],
        input: &[u8],
        purpose: Purpose,
    ) -> Result<Vec<u8>, WorkplaceError> {
        let ended = self.ask(arguments, input, purpose).await?;
        if ended.code == 0 { Ok(ended.stdout) } else { Err(ended.refused(purpose)) }
    }

    /// Runs a command of git, whatever comes of it.
    pub(super) async fn ask(
        &self,
        arguments: &[&str],
        input: &[u8],
        purpose: Purpose,
    ) -> Result<Ended, WorkplaceError> {
        let places = [with(&"--git-dir=", &self.git_dir), with(&"--work-tree=", &self.work_tree)];
        let git = Program::new(&self.git.program).arguments(["--no-pager"]);
        let git = git.arguments(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        let git = git.arguments(places).arguments(arguments).directory(&self.work_tree);
        self.git.run(git, input, purpose).await
    }
}

impl Ended {
    pub(super) fn refused(&self, purpose: Purpose) -> WorkplaceError {
        let kept = &self.stderr[..self.stderr.len().min(MOST_STDERR)];
        let mut stderr = String::from_utf8_lossy(kept).trim().to_owned();
        if stderr.is_empty() {
            stderr = format!("it ended with {}", self.code);
        }
        WorkplaceError::Git { action: purpose.action, stderr }
    }
}

fn with(option: &impl AsRef<OsStr>, path: &Path) -> OsString {
    let mut argument = option.as_ref().to_owned();
    argument.push(path);
    argument
}

async fn say(mut to: Sender, input: &[u8]) {
    // It may have ended without having read it, which its end tells.
    let _ = to.write_all(input).await;
}

/// Says what becomes of what is more than is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// Nobody listens any more, which ends whoever prints.
    Stop,
    /// It is taken and not kept.
    Drop,
}

/// Takes what is printed, and one byte at least beyond what is kept, if there is more.
async fn hear(mut from: Receiver, into: &mut Vec<u8>, most: usize, beyond: Beyond) {
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if into.len() <= most {
            into.extend_from_slice(&buffer[..count]);
        } else if beyond == Beyond::Stop {
            break;
        }
    }
}
