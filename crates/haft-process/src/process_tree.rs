use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::signal::unix::{self, SignalKind};
use tokio::time::Instant;

use crate::environment::Environment;
use crate::lifeline;
use crate::live_process::{LiveProcess, ProcessSignal};
use crate::marker::Marker;
use crate::survivors::{self, Survivors};
use crate::terminal::Terminal;

/// How often the system is asked whether processes that were told to end have done so.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How many times processes are killed that keep appearing; with [`LOOK_AGAIN`] at least one second.
const KILLS: u32 = 200;

/// Owns the processes that come of one command: the one that was started, and all that it starts.
///
/// They are a session of their own, and so a process group too. Dropped before its end it kills them: the group at once,
/// those that left the group from a thread, which ends when they have. So a future that holds one ends its processes
/// when it is dropped. When the host ends or is killed they end as well, as far as they are found by their mark.
///
/// ```
/// use haft_process::{Environment, ProcessTree};
/// use std::process::{Command, Stdio};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut command = Command::new("/bin/sh");
/// command.args(["-c", "sleep 60 & exit 3"]).stdin(Stdio::null());
/// let mut processes = ProcessTree::spawn(command, &Environment::minimal())?;
///
/// processes.exited().await;
/// assert_eq!(processes.reap().and_then(|status| status.code()), Some(3));
/// assert!(!processes.are_gone(Duration::ZERO).await);
/// processes.end(Duration::from_millis(200)).await;
/// assert!(processes.are_gone(Duration::ZERO).await);
/// processes.let_go();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ProcessTree {
    /// The process that was started, until it is reaped. As long as it is not, its number cannot become that of
    /// another process, and a signal to its group reaches no stranger.
    root: Option<Box<dyn ChildWrapper>>,
    leader: Pid,
    marker: Marker,
    started: Instant,
    deaths: unix::Signal,
    is_let_go: bool,
}

impl ProcessTree {
    /// Starts a command as the leader of a new session, without a terminal.
    ///
    /// It gets the variables of the environment, whatever variables the command was given before. The command is dropped,
    /// and with it the host's copies of the descriptors it was given.
    ///
    /// # Errors
    ///
    /// When the system does not start it: there is no such program or directory, it may not be executed, its arguments
    /// and variables are too large, or there is no process, memory or descriptor to spare.
    ///
    /// # Panics
    ///
    /// When it is called outside a tokio runtime, or in one without IO.
    pub fn spawn(command: Command, environment: &Environment) -> io::Result<Self> {
        let start = |command: Command| {
            // Unwrapped, because the wrapper waits for every child in the group, and where the host adopts orphans that
            // includes those which were left in the background.
            Ok(CommandWrap::from(command).wrap(ProcessSession).spawn()?.into_inner())
        };
        Self::start(command, environment, start)
    }

    /// Starts a command as the leader of a new session, in a terminal, and returns the terminal's other end.
    ///
    /// Otherwise as [`ProcessTree::spawn`]; when its leader ends, the system tells what is left in the foreground of the
    /// terminal that it is gone (`SIGHUP`).
    ///
    /// # Errors
    ///
    /// As for [`ProcessTree::spawn`].
    ///
    /// # Panics
    ///
    /// As [`ProcessTree::spawn`].
    pub fn spawn_in_terminal(
        mut command: Command,
        environment: &Environment,
        terminal: Terminal,
    ) -> io::Result<(Self, OwnedFd)> {
        let end = terminal.attach(&mut command)?;
        let start = |command| Ok(CommandWrap::from(command).spawn()?.into_inner());
        Ok((Self::start(command, environment, start)?, end))
    }

    fn start(
        mut command: Command,
        environment: &Environment,
        start: impl FnOnce(Command) -> io::Result<Box<dyn ChildWrapper>>,
    ) -> io::Result<Self> {
        lifeline::hold();
        let marker = Marker::next();
        command.env_clear().envs(environment.of_call(&marker));
        // Listened to before there is a child, so that its death is not missed.
        let deaths = unix::signal(SignalKind::child())?;
        let started = Instant::now();
        let root = start(command)?;
        let leader = i32::try_from(root.id()).ok().and_then(Pid::from_raw);
        let leader = leader.ok_or_else(|| io::Error::other("the system gave a process the number 0"))?;
        Ok(Self { root: Some(root), leader, marker, started, deaths, is_let_go: false })
    }

    /// Waits until the process that was started has ended, and leaves it unreaped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn exited(&mut self) {
        while !self.has_exited() {
            self.deaths.recv().await;
        }
    }

    fn has_exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is no such child any more: somebody else reaped it.
        !matches!(waitid(WaitId::Pid(self.leader), look), Ok(None))
    }

    /// Takes the status of the process that was started; `None` if it has not ended or somebody else took it.
    pub fn reap(&mut self) -> Option<ExitStatus> {
        match self.root.as_mut()?.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => {
                self.root = None;
                Some(status)
            }
            Err(_) => {
                self.root = None;
                None
            }
        }
    }

    /// Tells whether no process is alive, or none is any more after waiting this long for it.
    ///
    /// What has ended and was not reaped is not alive, but where there is no `/proc` to tell, a leader may count as alive
    /// until it is reaped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn are_gone(&self, within: Duration) -> bool {
        self.wait_for_end(self.survivors().await, within).await.is_empty()
    }

    /// Lists the processes that are alive, as far as they are known one by one: without `/proc` they are not.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn alive(&self) -> Vec<LiveProcess> {
        let (leader, marker, age) = (self.leader, self.marker.clone(), self.started.elapsed());
        let look = tokio::task::spawn_blocking(move || survivors::find(leader, &marker, age).named());
        look.await.unwrap_or_default()
    }

    /// Sends a signal to all processes that are alive.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe; when it is dropped the signal is not sent.
    pub async fn signal(&self, signal: ProcessSignal) {
        self.survivors().await.signal(signal.into());
    }

    /// Ends all processes that are alive: asks them to (`SIGTERM`), and kills those that have not ended after a grace.
    ///
    /// Killing is repeated for about a second, until none is left that can be found.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe; what has not ended by then goes on until this is called again or the tree is dropped.
    pub async fn end(&mut self, grace: Duration) {
        let survivors = self.survivors().await;
        survivors.signal(Signal::TERM);
        // A stopped process acts on the signal only when it goes on.
        survivors.signal(Signal::CONT);
        let mut survivors = self.wait_for_end(survivors, grace).await;
        // Repeated, because a process may have forked between the look and the signal.
        for _ in 0..KILLS {
            if survivors.is_empty() {
                return;
            }
            survivors.signal(Signal::KILL);
            tokio::time::sleep(LOOK_AGAIN).await;
            survivors = self.survivors().await;
        }
    }

    /// Waits until none of the survivors is left, but for this long at most, and returns who still is.
    async fn wait_for_end(&self, mut survivors: Survivors, most: Duration) -> Survivors {
        let deadline = Instant::now() + most;
        while !survivors.is_empty() && Instant::now() < deadline {
            tokio::time::sleep(LOOK_AGAIN).await;
            survivors = self.survivors().await;
        }
        survivors
    }

    /// Lets go of the processes: what is still alive stays so.
    ///
    /// This holds only once the leader is reaped ([`ProcessTree::reap`]); before, it is the same as dropping the tree.
    pub fn let_go(mut self) {
        self.is_let_go = self.root.is_none();
    }

    async fn survivors(&self) -> Survivors {
        let (leader, marker, age) = (self.leader, self.marker.clone(), self.started.elapsed());
        let look = tokio::task::spawn_blocking(move || survivors::find(leader, &marker, age));
        // It fails only while the runtime shuts down, and then dropping this kills what is left.
        look.await.unwrap_or_default()
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if self.is_let_go {
            return;
        }
        let (root, leader, marker, started) =
            (self.root.take(), self.leader, self.marker.clone(), self.started);
        if root.is_some() {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        // Looking for processes and waiting for them blocks, which the task that drops this may not. If there cannot be
        // another thread, those that left the group live on and the leader remains a zombie until the host ends.
        let _ = thread::Builder::new().name("haft-reaper".to_owned()).spawn(move || {
            for _ in 0..KILLS {
                let survivors = survivors::find(leader, &marker, started.elapsed());
                if survivors.is_empty() {
                    break;
                }
                survivors.signal(Signal::KILL);
                thread::sleep(LOOK_AGAIN);
            }
            root.map(|mut root| root.wait())
        });
    }
}
