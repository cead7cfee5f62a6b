use crate::{RunEvent, When};
use haft_core::RunId;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Reaches a run while it is driven.
#[derive(Debug, Default)]
pub(super) struct Controls {
    inbox: Mutex<VecDeque<RunEvent>>,
    arrived: Notify,
    /// Whether calls that have not begun are to be skipped.
    skips: AtomicBool,
    pub(super) token: CancellationToken,
}

/// Holds the controls of the runs that an agent drives.
#[derive(Debug, Clone, Default)]
pub(super) struct AtWork(Arc<Mutex<HashMap<RunId, Arc<Controls>>>>);

/// Lists a run as driven until it is dropped.
pub(super) struct Driven {
    at_work: AtWork,
    run: RunId,
    pub(super) controls: Arc<Controls>,
}

impl Controls {
    /// Hands the run an event.
    pub(super) fn send(&self, event: RunEvent) {
        let is_urgent = matches!(event, RunEvent::Steered { when: When::Now, .. });
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push_back(event);
        // Once it is in, so that a batch which begins just now either takes it in or sees this.
        if is_urgent {
            self.skip();
        }
        self.arrived.notify_one();
    }

    /// Takes the next event.
    pub(super) fn next(&self) -> Option<RunEvent> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Waits until there may be an event.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Whether calls that have not begun are to be skipped.
    pub(super) fn skips(&self) -> bool {
        self.skips.load(Ordering::Acquire)
    }

    /// Takes note that a batch begins; what is sent from now on has its calls skipped.
    pub(super) fn batch_begins(&self) {
        self.skips.store(false, Ordering::Release);
    }

    /// Has calls skipped that have not begun.
    pub(super) fn skip(&self) {
        self.skips.store(true, Ordering::Release);
    }
}

impl AtWork {
    pub(super) fn begin(&self, run: &RunId, token: &CancellationToken) -> Driven {
        let controls = Arc::new(Controls { token: token.child_token(), ..Controls::default() });
        self.lock().insert(run.clone(), Arc::clone(&controls));
        Driven { at_work: self.clone(), run: run.clone(), controls }
    }

    pub(super) fn get(&self, run: &RunId) -> Option<Arc<Controls>> {
        self.lock().get(run).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Controls>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let mut at_work = self.at_work.lock();
        // Somebody may have begun to drive it anew.
        if at_work.get(&self.run).is_some_and(|controls| Arc::ptr_eq(controls, &self.controls)) {
            at_work.remove(&self.run);
        }
    }
}
