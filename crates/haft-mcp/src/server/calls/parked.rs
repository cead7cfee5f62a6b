use super::running::Running;
use crate::server::caller::Principal;
use crate::server::line::Line as _;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Bounds the calls that wait between two rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParkedLimits {
    pub(crate) all: usize,
    pub(crate) of_principal: usize,
    pub(crate) time: Duration,
}

impl Default for ParkedLimits {
    /// 1,000 calls, 100 of each principal, for 10 minutes.
    fn default() -> Self {
        Self { all: 1_000, of_principal: 100, time: Duration::from_mins(10) }
    }
}

/// Holds running calls that wait between two rounds for what their client answers; one that is dropped is cancelled.
#[derive(Default)]
pub(super) struct Parked {
    limits: ParkedLimits,
    calls: Mutex<HashMap<String, Entry>>,
    /// Those that were cancelled and have not ended.
    ending: TaskTracker,
}

struct Entry {
    principal: Principal,
    running: Running,
    /// Drops the call when its time is over.
    _clock: AbortOnDropHandle<()>,
}

impl Parked {
    pub(super) fn within(limits: ParkedLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Keeps a call until it is taken or its time is over; gives it back if there is no room.
    pub(super) fn put(
        self: &Arc<Self>,
        name: String,
        principal: &Principal,
        running: Running,
    ) -> Result<(), Running> {
        let mut calls = self.calls();
        let of_principal = calls.values().filter(|entry| entry.principal == *principal).count();
        if calls.len() >= self.limits.all || of_principal >= self.limits.of_principal {
            return Err(running);
        }
        let (parked, time, of) = (Arc::downgrade(self), self.limits.time, name.clone());
        let clock = tokio::spawn(async move {
            tokio::time::sleep(time).await;
            let over = parked.upgrade().and_then(|parked| parked.calls().remove(&of));
            // Not under the lock: with the call goes what it runs.
            drop(over);
        });
        let entry = Entry { principal: principal.clone(), running, _clock: AbortOnDropHandle::new(clock) };
        calls.insert(name, entry);
        Ok(())
    }

    /// Takes a call of this principal, to go on with it.
    pub(super) fn take(&self, name: &str, principal: &Principal) -> Option<Running> {
        let mut calls = self.calls();
        if calls.get(name)?.principal != *principal {
            return None;
        }
        calls.remove(name).map(|entry| entry.running)
    }

    /// Cancels all calls that wait, and waits until they have ended; they go on ending when nobody waits for that.
    pub(super) async fn stop(&self) {
        let calls = std::mem::take(&mut *self.calls());
        for Entry { running, .. } in calls.into_values() {
            running.relay.cancellation().cancel();
            self.ending.spawn(running.work);
        }
        self.ending.close();
        self.ending.wait().await;
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.calls().len()
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
