//! Finding and signalling the processes of a call that are still alive.

#[cfg(not(target_os = "linux"))]
mod group;
#[cfg(target_os = "linux")]
mod procfs;

#[cfg(not(target_os = "linux"))]
pub(crate) use group::find;
#[cfg(target_os = "linux")]
pub(crate) use procfs::find;

use crate::live_process::LiveProcess;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The processes of a call that were alive when they were looked for.
#[derive(Debug, Default)]
pub(crate) struct Survivors {
    /// The call's process group, if it has a living member.
    group: Option<Pid>,
    /// Those of the group, as far as they are known one by one.
    members: Vec<Pid>,
    /// Those that left the group.
    others: Vec<Pid>,
}

impl Survivors {
    pub(crate) fn is_empty(&self) -> bool {
        self.group.is_none() && self.others.is_empty()
    }

    /// Names those that are known one by one; one that has ended meanwhile is left out.
    pub(crate) fn named(&self) -> Vec<LiveProcess> {
        let processes = self.members.iter().chain(&self.others);
        let named = processes.filter_map(|process| {
            let id = u32::try_from(process.as_raw_pid()).ok()?;
            let name = std::fs::read(format!("/proc/{id}/comm")).ok()?;
            Some(LiveProcess { id, name: String::from_utf8_lossy(&name).trim_end().to_owned() })
        });
        named.collect()
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
