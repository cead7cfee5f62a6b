use std::time::Duration;

/// How long is waited, at first and at most, before a server is listened to again that has ended it.
const AGAIN: Duration = Duration::from_secs(1);
const AGAIN_AT_MOST: Duration = Duration::from_mins(1);

/// Says how long is waited before a server is listened to again.
#[derive(Debug)]
pub(crate) struct RetryPause(Duration);

impl RetryPause {
    /// Gives the next pause after something that lasted so long: each is twice the one before, up to a minute, and begins
    /// with a second again after what lasted longer than that.
    pub(crate) fn after(&mut self, lasted: Duration) -> Duration {
        let pause = if lasted > AGAIN_AT_MOST { AGAIN } else { self.0 };
        self.0 = (pause * 2).min(AGAIN_AT_MOST);
        pause
    }
}

impl Default for RetryPause {
    fn default() -> Self {
        Self(AGAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_something_has_lasted() {
        let mut pause = RetryPause::default();
        let short = Duration::from_mins(1);
        let pauses: Vec<u64> = (0..8).map(|_| pause.after(short).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pause.after(Duration::from_secs(61)), AGAIN);
        assert_eq!(pause.after(Duration::ZERO), AGAIN * 2);
    }
}
