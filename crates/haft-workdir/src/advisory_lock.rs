//! Locks on open files and directories that other processes respect if they ask for them too.

use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How long another process is waited for. A change takes it milliseconds; one that takes longer is stopped or stuck.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait before looking again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(16));

/// What came of trying to lock something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locked {
    /// It is locked until the handle is closed, also if that is because the process ends.
    Yes,
    /// Somebody else has it.
    Held,
    /// The file system has no such locks.
    Unsupported,
}

/// Locks an open file or directory for nobody else, without waiting.
pub(crate) fn try_lock(handle: impl AsFd) -> Locked {
    loop {
        match flock(handle.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Locked::Yes,
            Err(Errno::WOULDBLOCK) => return Locked::Held,
            Err(Errno::INTR) => {}
            // Of network file systems some have none, and some none on what is open for reading only.
            Err(_) => return Locked::Unsupported,
        }
    }
}

/// Locks an open file or directory for nobody else, and waits up to ten seconds for whoever has it.
///
/// The wait has an end so that a process which was stopped while it held a lock does not stop the others as well.
pub(crate) fn lock(handle: impl AsFd) -> Locked {
    let start = Instant::now();
    let (mut pause, longest) = PAUSES;
    loop {
        match try_lock(handle.as_fd()) {
            Locked::Held if start.elapsed() < PATIENCE => thread::sleep(pause),
            locked => return locked,
        }
        pause = (pause * 2).min(longest);
    }
}
