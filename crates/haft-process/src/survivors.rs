//! Finding and signalling the processes of a call that are still alive.

#[cfg(not(target_os = "linux"))]
mod group;
#[cfg(target_os = "linux")]
mod procfs;

#[cfg(not(target_os = "linux"))]
pub(crate) use group::find;
#[cfg(target_os = "linux")]
pub(crate) use procfs::find;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The processes of a call that were alive when they were looked for.
#[derive(Debug, Default)]
pub(crate) struct Survivors {
    /// The call's process group, if it has a living member.
    group: Option<Pid>,
    /// Those that left the group.
    others: Vec<Pid>,
}

impl Survivors {
    pub(crate) fn is_empty(&self) -> bool {
        self.group.is_none() && self.others.is_empty()
    }

    /// Sends a signal to all of them; one that has ended meanwhile, or that belongs to another user, is passed over.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
        for process in &self.others {
            let _ = kill_process(*process, signal);
        }
    }
}
