//! Finding and signalling the processes of a call that are still alive.

#[cfg(not(target_os = "linux"))]
mod group;
#[cfg(target_os = "linux")]
mod procfs;

#[cfg(not(target_os = "linux"))]
pub(crate) use group::{are_gone_at_a_glance, find};
#[cfg(target_os = "linux")]
pub(crate) use procfs::{are_gone_at_a_glance, find};

use std::sync::Arc;
use std::time::Duration;

use crate::cgroup::Group;
use crate::live_process::LiveProcess;
use crate::marker::Marker;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// By what the processes of a call are known.
#[derive(Debug, Clone)]
pub(crate) struct Sought {
    /// The number of the first of them, of their process group and of their session.
    pub(crate) leader: Pid,
    pub(crate) marker: Marker,
    /// The control group that they are in, where there is one.
    pub(crate) group: Option<Arc<Group>>,
    /// How long ago the first was started.
    pub(crate) age: Duration,
}

/// The processes of a call that were alive when they were looked for.
#[derive(Debug, Default)]
pub(crate) struct Survivors {
    /// The call's process group, if it has a living member.
    group: Option<Pid>,
    /// Those of the group, as far as they are known one by one.
    members: Vec<Pid>,
    /// Those that left the group.
    others: Vec<Pid>,
    /// The control group, if it has a living member.
    control_group: Option<Arc<Group>>,
    /// The control group, if it has living members that do not count.
    uncounted: Option<Arc<Group>>,
    /// Whether one of them is on its way out: it runs no program any more, and may still hold its directory and its files.
    is_one_leaving: bool,
}

impl Survivors {
    pub(crate) fn is_empty(&self) -> bool {
        self.group.is_none() && self.others.is_empty() && self.control_group.is_none()
    }

    /// Tells whether nobody is alive and nobody who was holds anything any more.
    pub(crate) fn hold_nothing(&self) -> bool {
        self.is_empty() && !self.is_one_leaving
    }

    /// Kills who does not count once nobody is left who does.
    pub(crate) fn kill_uncounted(&self) {
        if let Some(group) = self.uncounted.as_ref().filter(|_| self.is_empty()) {
            group.kill();
        }
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
        if let Some(group) = self.control_group.as_ref().filter(|_| signal == Signal::KILL) {
            group.kill();
        }
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
        for process in &self.others {
            let _ = kill_process(*process, signal);
        }
    }
}
