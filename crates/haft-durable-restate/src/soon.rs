use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Says how long a call may take before it is also asked whether it waits: twice as long as calls took of late.
///
/// Most are answered by then and need no second request. With a time that does not follow them, each call of a busy engine
/// would need one, and make it busier.
#[derive(Debug)]
pub(crate) struct Soon(AtomicU64);

impl Soon {
    /// Nobody who is to answer notices less, and a person who waits for the question notices more.
    const BOUNDS: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(600)];

    /// How much one call counts, as one of so many.
    const ONE_OF: u64 = 8;

    pub(crate) fn get(&self) -> Duration {
        let took = Duration::from_micros(self.0.load(Ordering::Relaxed));
        (took * 2).clamp(Self::BOUNDS[0], Self::BOUNDS[1])
    }

    /// Takes down how long a call took.
    pub(crate) fn took(&self, time: Duration) {
        // One that takes as long as its tool says nothing about the engine.
        let took = u64::try_from(time.min(Self::BOUNDS[1]).as_micros()).unwrap_or(u64::MAX);
        let before = self.0.load(Ordering::Relaxed);
        // Of two at once one may be left out.
        self.0.store(before - before / Self::ONE_OF + took / Self::ONE_OF, Ordering::Relaxed);
    }
}

impl Default for Soon {
    fn default() -> Self {
        Self(AtomicU64::new(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_what_calls_take_within_its_bounds() {
        let soon = Soon::default();
        assert_eq!(soon.get(), Duration::from_millis(100));
        for _ in 0..100 {
            soon.took(Duration::from_millis(200));
        }
        assert!((390..=400).contains(&soon.get().as_millis()), "{soon:?}");
        for _ in 0..100 {
            soon.took(Duration::from_hours(1));
        }
        assert_eq!(soon.get(), Duration::from_millis(600));
        for _ in 0..100 {
            soon.took(Duration::ZERO);
        }
        assert_eq!(soon.get(), Duration::from_millis(100));
    }
}
