use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Lets something happen at most once in each interval, such as the updates of one call.
///
/// The first is always let through, and each other one when the interval since the last that was let through is over;
/// what comes in between is suppressed, also if nothing follows it. One atomic number, no lock: it can be asked from any
/// number of threads, of which one at most is let through. It has no clock of its own, so it goes by tokio's paused time
/// where that is what it is given.
///
/// ```
/// use haft_tools_core::RateLimit;
/// use std::time::Duration;
/// use tokio::time::Instant;
///
/// let start = Instant::now();
/// let limit = RateLimit::new(start, RateLimit::DEFAULT_INTERVAL);
/// let after = |milliseconds| start + Duration::from_millis(milliseconds);
/// let allowed = [0, 10, 49, 50, 60, 500].map(|milliseconds| limit.allows(after(milliseconds)));
/// assert_eq!(allowed, [true, false, false, true, false, true]);
/// ```
#[derive(Debug)]
pub struct RateLimit {
    start: Instant,
    /// In nanoseconds; what is longer than 584 years is as good as forever.
    interval: u64,
    /// From when the next is let through, in nanoseconds since the start.
    next: AtomicU64,
}

impl RateLimit {
    /// The shortest time between two updates of one call: 50 ms, as often as a person can see something change.
    pub const DEFAULT_INTERVAL: Duration = Duration::from_millis(50);

    /// Starts a limit of one in each interval; zero lets everything through.
    ///
    /// `start` is any time that is not later than the first question, such as when the call began.
    pub fn new(start: Instant, interval: Duration) -> Self {
        Self { start, interval: nanoseconds(interval), next: AtomicU64::new(0) }
    }

    /// Tells whether it may happen now, without counting it as having happened.
    pub fn is_due(&self, now: Instant) -> bool {
        let now = nanoseconds(now.saturating_duration_since(self.start));
        self.interval == 0 || self.next.load(Ordering::Relaxed) <= now
    }

    /// Tells whether it may happen now, and if so counts it as having happened.
    pub fn allows(&self, now: Instant) -> bool {
        let now = nanoseconds(now.saturating_duration_since(self.start));
        let after = now.saturating_add(self.interval);
        let is_due = |next| (next <= now).then_some(after);
        // No other memory is guarded by it.
        self.interval == 0 || self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_due).is_ok()
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
