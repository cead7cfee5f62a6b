//! Knows which runs are driven at the moment, so that none is driven twice and each can be reached.

use haft_core::RunId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Lists the runs that are driven.
#[derive(Debug, Clone)]
pub(crate) struct Live(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    runs: Mutex<HashMap<RunId, CancellationToken>>,
    /// How many calls wait for the end of which run.
    waited: Mutex<HashMap<RunId, usize>>,
    /// Grows with each change of where a run stands.
    changes: watch::Sender<u64>,
}

/// Says until it is dropped that a call waits for the end of a run, and tells of it.
#[derive(Debug)]
pub(crate) struct Supervised {
    live: Live,
    run: RunId,
}

/// Lists a run as driven until it is dropped.
#[derive(Debug)]
pub(crate) struct Drive {
    live: Live,
    run: RunId,
}

impl Default for Live {
    fn default() -> Self {
        let (runs, waited) = Default::default();
        Self(Arc::new(Inner { runs, waited, changes: watch::Sender::new(0) }))
    }
}

impl Live {
    /// Takes the one right to drive a run, once nobody else has it.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub(crate) async fn enter(&self, run: &RunId, token: &CancellationToken) -> Drive {
        let mut changes = self.changes();
        loop {
            if let Some(drive) = self.try_enter(run, token) {
                return drive;
            }
            // The sender lives as long as this does.
            let _ = changes.changed().await;
        }
    }

    /// Takes the one right to drive a run, if nobody else has it.
    pub(crate) fn try_enter(&self, run: &RunId, token: &CancellationToken) -> Option<Drive> {
        let mut runs = self.runs();
        if runs.contains_key(run) {
            return None;
        }
        runs.insert(run.clone(), token.clone());
        Some(Drive { live: self.clone(), run: run.clone() })
    }

    pub(crate) fn is_driven(&self, run: &RunId) -> bool {
        self.runs().contains_key(run)
    }

    /// Cancels a run that is driven; gives whether it is.
    pub(crate) fn cancel(&self, run: &RunId) -> bool {
        self.runs().get(run).map(CancellationToken::cancel).is_some()
    }

    /// Says that a call waits for the end of a run.
    pub(crate) fn wait_for(&self, run: &RunId) -> Supervised {
        *self.waited().entry(run.clone()).or_default() += 1;
        Supervised { live: self.clone(), run: run.clone() }
    }

    /// Tells whether a call waits for the end of a run.
    pub(crate) fn is_waited_for(&self, run: &RunId) -> bool {
        self.waited().contains_key(run)
    }

    /// Tells those who wait for a change that there was one.
    pub(crate) fn changed(&self) {
        self.0.changes.send_modify(|changes| *changes += 1);
    }

    /// Sees every change from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    fn waited(&self) -> MutexGuard<'_, HashMap<RunId, usize>> {
        self.0.waited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, CancellationToken>> {
        self.0.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        self.live.runs().remove(&self.run);
        self.live.changed();
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        let mut waited = self.live.waited();
        if let Some(count) = waited.get_mut(&self.run) {
            *count -= 1;
            if *count == 0 {
                waited.remove(&self.run);
            }
        }
    }
}
