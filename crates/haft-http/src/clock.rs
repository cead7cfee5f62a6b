use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Knows when an exchange has to be over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    whole: Duration,
    /// None where the time is beyond what can be told, too.
    end: Option<Instant>,
}

/// Says which time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// That of one wait.
    Wait(Duration),
    /// That of the whole exchange.
    Whole(Duration),
}

impl Clock {
    /// Begins an exchange.
    pub(crate) fn start(whole: Option<Duration>) -> Self {
        let end = whole.and_then(|whole| Instant::now().checked_add(whole));
        Self { whole: whole.unwrap_or(Duration::MAX), end }
    }

    /// How much time is left.
    pub(crate) fn left(&self) -> Duration {
        self.end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }

    /// Waits for a future no longer than is left, and than is waited at once.
    pub(crate) async fn within<F: Future>(
        &self,
        wait: Option<Duration>,
        future: F,
    ) -> Result<F::Output, Overdue> {
        let now = Instant::now();
        let whole = self.end.map(|end| (end, Overdue::Whole(self.whole)));
        let wait = wait.and_then(|wait| Some((now.checked_add(wait)?, Overdue::Wait(wait))));
        let first = wait.into_iter().chain(whole).min_by_key(|(at, _)| *at);
        match first {
            None => Ok(future.await),
            // A future that is always ready is not asked for the time.
            Some((at, overdue @ Overdue::Whole(_))) if at <= now => Err(overdue),
            Some((at, overdue)) => timeout_at(at, future).await.map_err(|_| overdue),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_that_is_over_first_counts() {
        let clock = Clock::start(Some(seconds(10)));
        assert_eq!(clock.within(Some(seconds(4)), pending::<()>()).await, Err(Overdue::Wait(seconds(4))));
        assert_eq!(clock.left(), seconds(6));
        assert_eq!(clock.within(Some(seconds(9)), pending::<()>()).await, Err(Overdue::Whole(seconds(10))));
        assert_eq!(clock.left(), seconds(0));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_always_ready_is_cut_too() {
        let clock = Clock::start(Some(seconds(1)));
        assert_eq!(clock.within(None, ready(1)).await, Ok(1));
        tokio::time::advance(seconds(1)).await;
        assert_eq!(clock.within(None, ready(1)).await, Err(Overdue::Whole(seconds(1))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_that_never_comes_is_none() {
        for whole in [None, Some(Duration::MAX)] {
            let clock = Clock::start(whole);
            assert_eq!(clock.left(), Duration::MAX);
            assert_eq!(clock.within(Some(Duration::MAX), ready(1)).await, Ok(1));
            assert_eq!(clock.within(None, ready(1)).await, Ok(1));
        }
    }
}
