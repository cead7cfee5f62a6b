use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use haft_process::{Alongside, Environment, ProcessTree, Program};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::timeout;

use crate::head::Head;

/// The longest answer, in bytes; an input that it holds can be a whole file.
pub(crate) const MOST_STDOUT: usize = 1024 * 1024;

/// How much of the beginning of stderr is kept, in bytes.
const MOST_STDERR: usize = 16 * 1024;

/// How much is read at once, in bytes: what a pipe holds on Linux (pipe(7)).
const READ_BYTES: usize = 64 * 1024;

/// How long a process that was left behind may take to end by itself.
const LEAVING: Duration = Duration::from_millis(50);

/// How long what is ended may take to clean up.
const GRACE: Duration = Duration::from_millis(200);

/// How long output is waited for after everything was ended, at most.
const LAST_DRAIN: Duration = Duration::from_millis(500);

/// Is what came of a program that was started.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) ending: Ending,
    pub(crate) stdout: Head,
    pub(crate) stderr: Head,
}

/// How a program that was started ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It took longer than it may, and was ended.
    TimedOut,
    /// In a way that somebody else took note of.
    Unknown,
}

impl From<Option<ExitStatus>> for Ending {
    fn from(status: Option<ExitStatus>) -> Self {
        let code = status.and_then(|status| status.code()).map(Self::Exited);
        let signal = || status.and_then(|status| status.signal()).map(Self::Killed);
        code.or_else(signal).unwrap_or(Self::Unknown)
    }
}

/// Runs a program, gives it an input and takes what it prints; when this is done, or dropped, all of its processes end.
///
/// What it prints beyond the bounds is taken and not kept. It need not read its input.
pub(crate) async fn exchange(
    program: Program,
    environment: &Environment,
    input: &[u8],
    most: Duration,
) -> io::Result<Exchange> {
    let (stdin, to_stdin) = io::pipe()?;
    let (from_stdout, stdout) = io::pipe()?;
    let (from_stderr, stderr) = io::pipe()?;
    let to_stdin = Sender::from_owned_fd(OwnedFd::from(to_stdin))?;
    let from_stdout = Receiver::from_owned_fd(from_stdout.into())?;
    let from_stderr = Receiver::from_owned_fd(from_stderr.into())?;
    let program = program.input(stdin).output(stdout).errors(stderr);
    let mut processes = ProcessTree::start(program, environment)?;

    let (mut stdout, mut stderr) = (Head::new(MOST_STDOUT), Head::new(MOST_STDERR));
    let ending = {
        let talk = pin!(async {
            tokio::join!(
                say(to_stdin, input),
                hear(from_stdout, &mut stdout),
                hear(from_stderr, &mut stderr)
            );
        });
        let mut talk = Alongside::new(talk);
        let is_in_time = talk.during(timeout(most, processes.exited())).await.is_ok();
        let ending = if is_in_time {
            let ending = Ending::from(processes.reap());
            if !talk.during(processes.are_gone(LEAVING)).await {
                talk.during(processes.end(GRACE)).await;
            }
            ending
        } else {
            talk.during(processes.end(GRACE)).await;
            processes.reap();
            Ending::TimedOut
        };
        processes.let_go();
        // A process that could not be found may still hold the pipes.
        talk.during_at_most(LAST_DRAIN).await;
        ending
    };
    Ok(Exchange { ending, stdout, stderr })
}

/// Gives a program its input, and closes it; one that does not want it is left alone.
async fn say(mut to: Sender, input: &[u8]) {
    // A program may end, or close its input, without having read it.
    let _ = to.write_all(input).await;
}

/// Takes what a program prints until nobody can print any more.
async fn hear(mut from: Receiver, head: &mut Head) {
    let mut buffer = vec![0; READ_BYTES];
    // A pipe that cannot be read is of no more use than one that is closed.
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        head.push(&buffer[..count]);
    }
}
