use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;
use tokio::time::Instant;

/// How long is waited before the first restart; each further one within the window waits twice as long.
const SHORTEST: Duration = Duration::from_millis(200);

/// How long is waited at most.
const LONGEST: Duration = Duration::from_secs(30);

/// Says how often and when a server is started again.
#[derive(Debug)]
pub(super) struct Budget {
    most: usize,
    window: Duration,
    /// When it was decided to start it again, as far as that is within the window.
    spent: VecDeque<Instant>,
}

impl Budget {
    pub(super) fn new(most: u32, window: Duration) -> Self {
        Self { most: usize::try_from(most).unwrap_or(usize::MAX), window, spent: VecDeque::new() }
    }

    /// Takes one restart, and says how long to wait before it; `None` if there is none left.
    ///
    /// The wait is drawn from between a half and the whole of what is due, so that servers which ended together do not start
    /// together.
    pub(super) fn spend(&mut self) -> Option<Duration> {
        let now = Instant::now();
        self.spent.retain(|spent| now.duration_since(*spent) < self.window);
        if self.spent.len() >= self.most {
            return None;
        }
        let doublings = u32::try_from(self.spent.len()).unwrap_or(u32::MAX).min(16);
        self.spent.push_back(now);
        let due = SHORTEST.saturating_mul(1 << doublings).min(LONGEST);
        Some(due.mul_f64(0.5 + 0.5 * random()))
    }

    /// When there is a restart again, if there is none now.
    pub(super) fn free_at(&self) -> Instant {
        let first = self.spent.front().copied().unwrap_or_else(Instant::now);
        first + self.window
    }

    pub(super) fn refill(&mut self) {
        self.spent.clear();
    }
}

/// Draws a number from 0 to 1.
fn random() -> f64 {
    let drawn = RandomState::new().hash_one(()) >> 32;
    f64::from(u32::try_from(drawn).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Budget, LONGEST};
    use std::time::Duration;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn five_restarts_are_had_in_five_minutes_with_longer_and_longer_waits() {
        let window = Duration::from_mins(5);
        let mut budget = Budget::new(5, window);
        for milliseconds in [200, 400, 800, 1_600, 3_200] {
            let wait = budget.spend().unwrap();
            let due = Duration::from_millis(milliseconds);
            assert!(wait >= due / 2 && wait <= due, "{wait:?} for {due:?}");
            advance(Duration::from_secs(10)).await;
        }
        assert_eq!(budget.spend(), None);
        advance(budget.free_at() - tokio::time::Instant::now()).await;
        assert!(budget.spend().is_some());
        assert_eq!(budget.spend(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn no_wait_is_longer_than_the_longest() {
        let mut budget = Budget::new(100, Duration::from_mins(5));
        assert!((0..100).all(|_| budget.spend().unwrap() <= LONGEST));
    }
}
