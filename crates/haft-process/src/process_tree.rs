use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use process_wrap::std::{CommandWrap, ProcessSession};
use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, setsid, waitid, waitpid,
};
use tokio::signal::unix::{self, SignalKind};
use tokio::time::Instant;

use crate::cgroup::Group;
use crate::environment::Environment;
use crate::lifeline;
use crate::live_process::{LiveProcess, ProcessSignal};
use crate::marker::Marker;
use crate::preparation::Preparation;
use crate::program::Program;
use crate::spawning::{self, NotStarted};
use crate::survivors::{self, Sought, Survivors};
use crate::terminal::Terminal;

/// How often the system is asked whether processes that were told to end have done so.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How many times processes are killed that keep appearing; with [`LOOK_AGAIN`] at least one second.
const KILLS: u32 = 200;

/// Owns the processes that come of one program: the one that was started, and all that it starts.
///
/// They are a session of their own, and so a process group too, and where the system lets this process make one, a control
/// group ([`ProcessTree::is_contained`]). Dropped before its end it kills them: the groups at once, others from a thread,
/// which ends when they have. So a future that holds one ends its processes when it is dropped. When the host ends or is
/// killed they end as well, as far as they are found by their mark or in the control group.
///
/// ```
/// use haft_process::{Environment, ProcessTree, Program};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let program = Program::new("/bin/sh").arguments(["-c", "sleep 60 & exit 3"]);
/// let mut processes = ProcessTree::start(program, &Environment::minimal())?;
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
    leader: Pid,
    /// Whether the process that was started is still to be reaped. As long as it is, its number cannot become that of
    /// another process, and a signal to its group reaches no stranger.
    is_unreaped: bool,
    marker: Marker,
    group: Option<Arc<Group>>,
    started: Instant,
    deaths: unix::Signal,
    is_let_go: bool,
}

impl ProcessTree {
    /// Starts a program as the leader of a new session, without a terminal, in a control group where it can have one.
    ///
    /// It gets the variables of the environment and no others. The host's copies of the descriptors that the program was
    /// given are closed. On Linux on x86-64 it costs the same however much memory this process has.
    ///
    /// # Errors
    ///
    /// When the system does not start it: there is no such program or directory, it may not be executed, its arguments
    /// and variables are too large, or there is no process, memory or descriptor to spare.
    ///
    /// # Panics
    ///
    /// When it is called outside a tokio runtime, or in one without IO.
    pub fn start(program: Program, environment: &Environment) -> io::Result<Self> {
        Self::start_by(environment, |variables, marker| {
            let mut program = program;
            program.preparations.extend(marker.preparation());
            let group = Group::take();
            match spawning::spawn(&program, &variables, group.as_ref().map(|group| group.as_fd())) {
                Ok(leader) => {
                    if group.is_some() {
                        Group::has_accepted();
                    }
                    Ok((leader, group))
                }
                Err(NotStarted::Failed(error)) => Err(error),
                Err(NotStarted::Unable) => {
                    if let Some(group) = group {
                        group.refuses();
                    }
                    program.preparations.insert(0, session());
                    let mut command = Command::from(program);
                    Ok((Pid::from_child(&command.env_clear().envs(variables).spawn()?), None))
                }
            }
        })
    }

    /// Starts a program as the leader of a new session, in a terminal, and returns the terminal's other end.
    ///
    /// The terminal is what it reads and prints, whatever else it was given. Otherwise as [`ProcessTree::start`]; when its
    /// leader ends, the system tells what is left in the foreground of the terminal that it is gone (`SIGHUP`).
    ///
    /// # Errors
    ///
    /// As for [`ProcessTree::start`].
    ///
    /// # Panics
    ///
    /// As [`ProcessTree::start`].
    pub fn start_in_terminal(
        program: Program,
        environment: &Environment,
        terminal: Terminal,
    ) -> io::Result<(Self, OwnedFd)> {
        let (program, end) = terminal.attach(program)?;
        Ok((Self::start(program, environment)?, end))
    }

    /// Starts a command as the leader of a new session, without a terminal.
    ///
    /// This is for a command to which something was done that a [`Program`] does not know. What is
    /// made for it begins as a copy of this process, which takes the longer the more memory this has, and has no control
    /// group. It gets the variables of the environment, whatever variables the command was given before. The command is
    /// dropped, and with it the host's copies of the descriptors it was given.
    ///
    /// # Errors
    ///
    /// As for [`ProcessTree::start`].
    ///
    /// # Panics
    ///
    /// As [`ProcessTree::start`].
    #[expect(unsafe_code, reason = "what a new process does first is handed to the standard library")]
    pub fn spawn(mut command: Command, environment: &Environment) -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;

        Self::start_by(environment, |variables, marker| {
            if let Some(mark) = marker.preparation() {
                // SAFETY: a preparation makes system calls alone.
                unsafe { command.pre_exec(move || mark.run()) };
            }
            command.env_clear().envs(variables);
            let child = CommandWrap::from(command).wrap(ProcessSession).spawn()?.into_inner();
            let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let leader = number.ok_or_else(|| io::Error::other("the system gave a process the number 0"))?;
            Ok((leader, None))
        })
    }

    fn start_by(
        environment: &Environment,
        start: impl FnOnce(BTreeMap<OsString, OsString>, &Marker) -> io::Result<(Pid, Option<Arc<Group>>)>,
    ) -> io::Result<Self> {
        lifeline::hold();
        let marker = Marker::next();
        // Listened to before there is a child, so that its death is not missed.
        let deaths = unix::signal(SignalKind::child())?;
        let started = Instant::now();
        let (leader, group) = start(environment.of_call(&marker), &marker)?;
        Ok(Self { leader, is_unreaped: true, marker, group, started, deaths, is_let_go: false })
    }

    /// Tells whether its processes are in a control group, and so are found whatever they leave and clear.
    pub fn is_contained(&self) -> bool {
        self.group.is_some()
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
        if !self.is_unreaped {
            return None;
        }
        let taken = waitpid(Some(self.leader), WaitOptions::NOHANG);
        self.is_unreaped = matches!(taken, Ok(None));
        taken.ok().flatten().map(|(_, status)| ExitStatus::from_raw(status.as_raw()))
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
        let has_exited = !self.is_unreaped || self.has_exited();
        if has_exited && survivors::are_gone_at_a_glance(&self.sought()) {
            return true;
        }
        let survivors = self.wait_for_end(self.survivors().await, within).await;
        survivors.kill_uncounted();
        survivors.is_empty()
    }

    /// Lists the processes that are alive, as far as they are known one by one: without `/proc` they are not.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn alive(&self) -> Vec<LiveProcess> {
        let sought = self.sought();
        let look = tokio::task::spawn_blocking(move || survivors::find(&sought).named());
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
    /// Killing is repeated for about a second, until none is left that can be found. On Linux this waits as long for those that
    /// have ended to let go of their directory, files, locks and ports, so that these are free when it returns.
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
            if survivors.hold_nothing() {
                survivors.kill_uncounted();
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
        self.is_let_go = !self.is_unreaped;
    }

    fn sought(&self) -> Sought {
        let (marker, group) = (self.marker.clone(), self.group.clone());
        Sought { leader: self.leader, marker, group, age: self.started.elapsed() }
    }

    async fn survivors(&self) -> Survivors {
        let sought = self.sought();
        let look = tokio::task::spawn_blocking(move || survivors::find(&sought));
        // It fails only while the runtime shuts down, and then dropping this kills what is left.
        look.await.unwrap_or_default()
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if self.is_let_go {
            return;
        }
        if let Some(group) = &self.group {
            group.kill();
        }
        if self.is_unreaped {
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
        let (sought, started, is_unreaped) = (self.sought(), self.started, self.is_unreaped);
        // Looking for processes and waiting for them blocks, which the task that drops this may not. If there cannot be
        // another thread, those that left the group live on and the leader remains a zombie until the host ends.
        let _ = thread::Builder::new().name("haft-reaper".to_owned()).spawn(move || {
            let mut sought = sought;
            for _ in 0..KILLS {
                sought.age = started.elapsed();
                let survivors = survivors::find(&sought);
                if survivors.is_empty() {
                    break;
                }
                survivors.signal(Signal::KILL);
                thread::sleep(LOOK_AGAIN);
            }
            if is_unreaped {
                let _ = retry_on_intr(|| waitpid(Some(sought.leader), WaitOptions::empty()));
            }
        });
    }
}

/// What makes a new process the leader of a session.
#[expect(unsafe_code, reason = "a process can be made the leader of a session only by itself")]
fn session() -> Preparation {
    // SAFETY: it makes one system call and nothing else.
    unsafe { Preparation::new(|| Ok(setsid().map(drop)?)) }
}
