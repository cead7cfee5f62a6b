use std::pin::pin;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;

/// How far the clock is moved at once.
const STEP: Duration = Duration::from_millis(20);

/// How long the world is given for each time: the clock goes no faster than that of the world.
const PAUSE: Duration = STEP;

/// How long something may take by the clock of the world, on a machine that is busy.
const MOST: Duration = Duration::from_mins(1);

/// The clock of a runtime, which stands still unless it is moved.
///
/// What is waited for by it shows in how far it had to be moved. What a machine that is busy takes for other work counts as
/// well, but only once that is more than a pause for each step.
pub(crate) struct HeldClock {
    /// While there is work that blocks, a runtime does not move its clock by itself.
    _holds: Sender<()>,
}

impl HeldClock {
    /// Holds the clock of a runtime that was started paused.
    pub(crate) fn new() -> Self {
        let (holds, held) = mpsc::channel::<()>();
        drop(spawn_blocking(move || held.recv()));
        Self { _holds: holds }
    }

    /// Does something, for which the clock is moved from when on it should; tells how far it was.
    pub(crate) async fn waited<T>(
        &self,
        from_when: impl Fn() -> bool,
        work: impl Future<Output = T>,
    ) -> (T, Duration) {
        let (began, mut moved) = (Instant::now(), Duration::ZERO);
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                given = &mut work => return (given, moved),
                _ = spawn_blocking(|| thread::sleep(PAUSE)) => {}
            }
            assert!(began.elapsed() < MOST, "not done in time; the clock was moved by {moved:?}");
            if from_when() {
                tokio::time::advance(STEP).await;
                moved += STEP;
            }
        }
    }
}
