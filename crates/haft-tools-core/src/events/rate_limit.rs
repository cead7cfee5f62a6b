use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Lets something happen at most once in each interval, such as the updates of one call.
///
/// The first is always let through, and each other one when the interval since the last that was let through is over;
/// what comes in between is suppressed, also if nothing follows it. One atomic number, no lock: it can be asked from any
/// number of threads, of which one at most is let through. It has no clock of its own, so it goes by tokio's paused time
/// where that is what it is given.
#[derive(Debug)]
pub(crate) struct RateLimit {
    start: Instant,
    /// In nanoseconds; what is longer than 584 years is as good as forever.
    interval: u64,
    /// From when the next is let through, in nanoseconds since the start.
    next: AtomicU64,
}

impl RateLimit {
    /// The shortest time between two updates of one call: 50 ms, as often as a person can see something change.
    pub(crate) const DEFAULT_INTERVAL: Duration = Duration::from_millis(50);

    /// Starts a limit of one in each interval; zero lets everything through.
    ///
    /// `start` is any time that is not later than the first question, such as when the call began.
    pub(crate) fn new(start: Instant, interval: Duration) -> Self {
        Self { start, interval: nanoseconds(interval), next: AtomicU64::new(0) }
    }

    /// Tells whether it may happen now, without counting it as having happened.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let now = nanoseconds(now.saturating_duration_since(self.start));
        self.interval == 0 || self.next.load(Ordering::Relaxed) <= now
    }

    /// Tells whether it may happen now, and if so counts it as having happened.
    pub(crate) fn allows(&self, now: Instant) -> bool {
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

#[cfg(test)]
mod tests {
    use super::RateLimit;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;
    use tokio::time::Instant;

    #[test]
    fn one_is_let_through_in_each_interval() {
        let start = Instant::now();
        let limit = RateLimit::new(start, RateLimit::DEFAULT_INTERVAL);
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        let allowed = [0, 10, 49, 50, 60, 500].map(|milliseconds| limit.allows(after(milliseconds)));
        assert_eq!(allowed, [true, false, false, true, false, true]);
    }

    #[test]
    fn of_all_who_ask_at_once_one_is_let_through() {
        let start = Instant::now();
        let limit = RateLimit::new(start, Duration::from_millis(50));
        for round in 0..20 {
            let now = start + Duration::from_millis(50 * round);
            let allowed = AtomicUsize::new(0);
            std::thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| allowed.fetch_add(usize::from(limit.allows(now)), Ordering::Relaxed));
                }
            });
            assert_eq!(allowed.load(Ordering::Relaxed), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn paused_time_counts() {
        let limit = RateLimit::new(Instant::now(), RateLimit::DEFAULT_INTERVAL);
        let mut allowed = Vec::new();
        for _ in 0..6 {
            allowed.push(limit.allows(Instant::now()));
            tokio::time::advance(Duration::from_millis(20)).await;
        }
        assert_eq!(allowed, [true, false, false, true, false, false]);
    }

    #[test]
    fn extreme_intervals_and_clocks_that_go_back_are_borne() {
        let start = Instant::now();
        let ask = |interval: Duration| {
            let limit = RateLimit::new(start, interval);
            let earlier = start.checked_sub(Duration::from_secs(1)).unwrap_or(start);
            [earlier, start, start + Duration::from_hours(24)].map(|now| limit.allows(now))
        };
        assert_eq!(ask(Duration::ZERO), [true, true, true]);
        assert_eq!(ask(Duration::MAX), [true, false, false]);
        assert_eq!(ask(Duration::from_nanos(1)), [true, false, true]);
    }
}
