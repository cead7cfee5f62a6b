//! Tells when a running call's time is over; stands still while a person is asked or the host has its turn.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// How much later something is that is too late to be told.
const AGES: Duration = Duration::from_hours(24 * 365);

/// Measures what a call may still take.
#[derive(Default)]
pub(crate) struct Clock {
    state: Mutex<State>,
    resumed: Notify,
    /// Whether it matters that the call gets on.
    idles: AtomicBool,
}

#[derive(Default)]
struct State {
    /// When the tool last told that it gets on.
    active: Option<Instant>,
    /// For how many questions the clock stands still, and since when.
    questions: usize,
    stopped: Option<Instant>,
    /// How long it has stood still so far.
    still: Duration,
    /// When it last went on.
    resumed: Option<Instant>,
}

/// Says which time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// The time for the whole call.
    Wall,
    /// The time in which the call has to get on.
    Idle,
}

impl Clock {
    /// Notes that the call gets on, where that matters.
    pub(crate) fn touch(&self) {
        if self.idles.load(Ordering::Relaxed) {
            self.state().active = Some(Instant::now());
        }
    }

    /// Waits until a call that began then has had its time.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the time is measured whether or not it is waited for.
    pub(crate) async fn over(&self, began: Instant, wall: Duration, idle: Option<Duration>) -> Over {
        self.idles.store(idle.is_some(), Ordering::Relaxed);
        // A call that is tried again began long ago, but has only now begun to get on.
        self.touch();
        loop {
            let resumed = self.resumed.notified();
            let Some((until, over)) = self.deadline(began, wall, idle) else {
                resumed.await;
                continue;
            };
            if until > Instant::now() {
                sleep_until(until).await;
            } else {
                return over;
            }
        }
    }

    /// Finds when the time is over as things are; `None` while the clock stands still.
    fn deadline(&self, began: Instant, wall: Duration, idle: Option<Duration>) -> Option<(Instant, Over)> {
        let state = self.state();
        if state.stopped.is_some() {
            return None;
        }
        let whole = later(began, wall.saturating_add(state.still));
        let last = [state.active, state.resumed].into_iter().flatten().fold(began, Instant::max);
        Some(match idle.map(|idle| later(last, idle)) {
            Some(idle) if idle < whole => (idle, Over::Idle),
            _ => (whole, Over::Wall),
        })
    }

    /// Tells how long the clock has stood still.
    pub(crate) fn stood_still(&self) -> Duration {
        self.state().still
    }

    /// Stops the clock until as many questions are answered as were put.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        state.questions += 1;
        state.stopped.get_or_insert_with(Instant::now);
    }

    /// Lets the clock go on after a question.
    pub(crate) fn go_on(&self) {
        let mut state = self.state();
        state.questions = state.questions.saturating_sub(1);
        if state.questions == 0
            && let Some(since) = state.stopped.take()
        {
            let now = Instant::now();
            state.still += now - since;
            state.resumed = Some(now);
            drop(state);
            self.resumed.notify_waiters();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn later(than: Instant, by: Duration) -> Instant {
    than.checked_add(by).unwrap_or(than + AGES)
}
