use rustix::process::Signal;

/// Is a process that is alive, as the system shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveProcess {
    /// Its number.
    pub id: u32,
    /// What the system calls it: the name of its program, at most 15 bytes of it on Linux.
    pub name: String,
}

/// Says which signal processes are sent.
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
