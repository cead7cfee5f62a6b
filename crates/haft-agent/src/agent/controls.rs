use super::NotAtWorkError;
use crate::{RunEvent, RunState, SteerWhen, Transcript};
use haft_core::RunId;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Reaches a run while it is driven.
#[derive(Debug, Default)]
pub(super) struct Controls {
    inbox: Mutex<Inbox>,
    arrived: Notify,
    /// The messages of the run as they stand now, for those who want to know while it is driven.
    transcript: Mutex<Option<Transcript>>,
    /// Whether calls that have not begun are to be skipped.
    skips: AtomicBool,
    pub(super) token: CancellationToken,
}

/// Holds what the run was told and has not taken note of.
#[derive(Debug, Default)]
struct Inbox {
    events: VecDeque<RunEvent>,
    /// Whether the run is to stop.
    is_cancelled: bool,
    /// Whether nobody takes anything out any more.
    is_closed: bool,
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
    /// Hands the run an event; gives whether it will take note of it.
    pub(super) fn send(&self, event: RunEvent) -> bool {
        let is_urgent = matches!(event, RunEvent::Steered { when: SteerWhen::Now, .. });
        {
            let mut inbox = lock(&self.inbox);
            if inbox.is_closed {
                return false;
            }
            inbox.events.push_back(event);
        }
        // Once it is in, so that a batch which begins just now either takes it in or sees this.
        if is_urgent {
            self.skip();
        }
        self.arrived.notify_one();
        true
    }

    /// Stops the run; gives whether it will.
    pub(super) fn cancel(&self) -> bool {
        {
            let mut inbox = lock(&self.inbox);
            if inbox.is_closed {
                return false;
            }
            inbox.is_cancelled = true;
        }
        self.token.cancel();
        true
    }

    /// Whether the run is to stop.
    pub(super) fn is_cancelled(&self) -> bool {
        self.token.is_cancelled() || lock(&self.inbox).is_cancelled
    }

    /// Takes the next event.
    pub(super) fn next(&self) -> Option<RunEvent> {
        lock(&self.inbox).events.pop_front()
    }

    /// Takes the next event; where there is none, none can be sent any more.
    pub(super) fn next_or_close(&self) -> Option<RunEvent> {
        let mut inbox = lock(&self.inbox);
        let next = inbox.events.pop_front();
        inbox.is_closed = next.is_none();
        next
    }

    /// Lets nothing be sent any more.
    fn close(&self) {
        lock(&self.inbox).is_closed = true;
        *lock(&self.transcript) = None;
    }

    /// Changes the state of the run, and shows its transcript as it is then.
    pub(super) fn change<T>(&self, state: &mut RunState, change: impl FnOnce(&mut RunState) -> T) -> T {
        let mut shown = lock(&self.transcript);
        // While it is shown, each message that is added would cost a copy of the list.
        *shown = None;
        let changed = change(state);
        *shown = Some(state.transcript());
        changed
    }

    /// The messages of the run, unless nobody drives it any more.
    pub(super) fn transcript(&self) -> Option<Transcript> {
        lock(&self.transcript).clone()
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
        lock(&self.0).insert(run.clone(), Arc::clone(&controls));
        Driven { at_work: self.clone(), run: run.clone(), controls }
    }

    pub(super) fn get(&self, run: &RunId) -> Option<Arc<Controls>> {
        lock(&self.0).get(run).cloned()
    }

    /// Hands a run an event.
    pub(super) fn send(&self, run: &RunId, event: RunEvent) -> Result<(), NotAtWorkError> {
        match self.get(run) {
            Some(controls) if controls.send(event) => Ok(()),
            _ => Err(NotAtWorkError { run: run.clone() }),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Driven {
    fn drop(&mut self) {
        self.controls.close();
        let mut at_work = lock(&self.at_work.0);
        // Somebody may have begun to drive it anew.
        if at_work.get(&self.run).is_some_and(|controls| Arc::ptr_eq(controls, &self.controls)) {
            at_work.remove(&self.run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_when_nobody_takes_it_any_more_is_refused() {
        let controls = Controls::default();
        assert!(controls.send(RunEvent::Paused));
        assert_eq!(controls.next_or_close(), Some(RunEvent::Paused));
        assert!(controls.send(RunEvent::Unpaused));
        assert_eq!(controls.next_or_close(), Some(RunEvent::Unpaused));
        assert_eq!(controls.next_or_close(), None);
        assert!(!controls.send(RunEvent::Paused));
        assert_eq!(controls.next(), None);
    }

    #[test]
    fn a_run_that_nobody_stops_any_more_says_so() {
        let controls = Controls::default();
        assert_eq!(controls.next_or_close(), None);
        assert!(!controls.cancel() && !controls.is_cancelled());
        let controls = Controls::default();
        assert!(controls.cancel());
        assert_eq!(controls.next_or_close(), None);
        assert!(controls.is_cancelled());
    }

    #[test]
    fn a_run_that_is_dropped_while_it_is_driven_is_told_nothing_more() {
        let at_work = AtWork::default();
        let Ok(run) = "run-1".parse() else { return };
        let driven = at_work.begin(&run, &CancellationToken::new());
        let controls = Arc::clone(&driven.controls);
        assert!(at_work.send(&run, RunEvent::Paused).is_ok());
        drop(driven);
        assert!(!controls.send(RunEvent::Paused));
        assert_eq!(at_work.send(&run, RunEvent::Paused), Err(NotAtWorkError { run }));
    }
}
