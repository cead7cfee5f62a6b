use rustix::process::Signal;

/// Is a process that is alive, as the system shows it.
///
/// What a command that has ended left running:
///
/// ```
/// use haft_process::{Environment, ProcessTree, Program};
/// # use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let program = Program::new("/bin/sh").arguments(["-c", "sleep 60 & exec sleep 60"]);
/// let processes = ProcessTree::start(program, &Environment::minimal())?;
/// # let names = async {
/// #     loop {
/// #         let alive = processes.alive().await;
/// #         if alive.len() == 2 && alive.iter().all(|process| process.name == "sleep") { return alive; }
/// #         tokio::time::sleep(Duration::from_millis(10)).await;
/// #     }
/// # };
/// # tokio::time::timeout(Duration::from_secs(30), names).await?;
/// let names: Vec<String> = processes.alive().await.into_iter().map(|process| process.name).collect();
/// assert_eq!(names, ["sleep", "sleep"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveProcess {
    /// Its number.
    pub id: u32,
    /// What the system calls it: the name of its program, at most 15 bytes of it on Linux.
    pub name: String,
}

/// Says which signal processes are sent.
///
/// ```
/// use haft_process::{Environment, ProcessSignal, ProcessTree, Program};
/// use std::os::unix::process::ExitStatusExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let program = Program::new("/bin/sleep").arguments(["60"]);
/// let mut processes = ProcessTree::start(program, &Environment::minimal())?;
/// processes.signal(ProcessSignal::Terminate).await;
/// processes.exited().await;
/// assert_eq!(processes.reap().and_then(|status| status.signal()), Some(15));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessSignal {
    /// `SIGINT`, as by Ctrl-C.
    Interrupt,
    /// `SIGTERM`, which asks to end.
    Terminate,
    /// `SIGKILL`, which cannot be refused.
    Kill,
    /// `SIGHUP`, by which servers often read their settings anew.
    HangUp,
    /// `SIGUSR1`.
    User1,
    /// `SIGUSR2`.
    User2,
    /// `SIGSTOP`, which halts until there is [`Continue`](Self::Continue).
    Stop,
    /// `SIGCONT`.
    Continue,
}

impl From<ProcessSignal> for Signal {
    fn from(signal: ProcessSignal) -> Self {
        match signal {
            ProcessSignal::Interrupt => Self::INT,
            ProcessSignal::Terminate => Self::TERM,
            ProcessSignal::Kill => Self::KILL,
            ProcessSignal::HangUp => Self::HUP,
            ProcessSignal::User1 => Self::USR1,
            ProcessSignal::User2 => Self::USR2,
            ProcessSignal::Stop => Self::STOP,
            ProcessSignal::Continue => Self::CONT,
        }
    }
}
