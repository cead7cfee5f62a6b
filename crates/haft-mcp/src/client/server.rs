//! One server: what is known of it, and the actor that keeps the connection to it.

mod actor;
mod budget;
mod ear;
mod handle;
mod login;
mod standing;
mod status;

pub(crate) use ear::Ear;
pub use handle::McpServer;
pub(crate) use handle::NotConnected;
pub use login::LoginError;
pub(crate) use standing::Connection;
pub use status::{NoticeKind, ServerNotice, ServerState, ServerStatus, StartError};

use crate::ServerConfig;
use crate::client::session::Dial;
use crate::client::trust::Judge;
use haft_tools_core::ChangeSignal;
use standing::Standing;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, Semaphore, watch};

/// Is what the actor of a server shares with those who use the server.
pub(crate) struct Shared {
    pub(crate) config: ServerConfig,
    pub(crate) ear: Arc<Ear>,
    /// Tells the sources of a catalog that the tools changed.
    pub(crate) changes: ChangeSignal,
    dial: Arc<dyn Dial>,
    judge: Arc<dyn Judge>,
    /// Lets only so many servers start at once.
    starts: Arc<Semaphore>,
    wants: watch::Sender<Wants>,
    standing: watch::Sender<Standing>,
    /// Tasks at the server whose calls have ended before them.
    orphans: Mutex<Vec<Orphan>>,
    orphaned: Notify,
}

/// Is what is wanted of the actor; the numbers only grow.
#[derive(Debug, Clone, Copy, Default)]
struct Wants {
    /// Whether there may be a connection at all.
    open: bool,
    /// How often a connection was asked for.
    asked: u64,
    /// How often it was asked that the tools be read again.
    refreshed: u64,
    /// How often the tools should have been read, in all: that counts those of who must have them.
    readings: u64,
    /// How often it was asked that the connection be made anew.
    restarted: u64,
    /// How often it was asked that the connection be ended.
    stopped: u64,
    /// How often a connection had been asked for when that was asked last: those count no more.
    voided: u64,
}

/// Is a task that a server still works on and nobody waits for.
struct Orphan {
    generation: u64,
    task: String,
}

/// Holds what a server is made of.
pub(crate) struct Parts {
    pub(crate) config: ServerConfig,
    pub(crate) dial: Arc<dyn Dial>,
    pub(crate) ear: Ear,
    pub(crate) judge: Arc<dyn Judge>,
    pub(crate) starts: Arc<Semaphore>,
}

impl Shared {
    fn new(parts: Parts) -> Self {
        let Parts { config, dial, ear, judge, starts } = parts;
        Self {
            config,
            ear: Arc::new(ear),
            changes: ChangeSignal::default(),
            dial,
            judge,
            starts,
            wants: watch::Sender::new(Wants { open: true, ..Wants::default() }),
            standing: watch::Sender::default(),
            orphans: Mutex::default(),
            orphaned: Notify::new(),
        }
    }

    /// Has the server told that nobody waits for a task any more.
    pub(crate) fn leave_task(&self, generation: u64, task: String) {
        self.orphans.lock().unwrap_or_else(PoisonError::into_inner).push(Orphan { generation, task });
        self.orphaned.notify_one();
    }

    fn take_orphans(&self) -> Vec<Orphan> {
        mem::take(&mut *self.orphans.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests;
