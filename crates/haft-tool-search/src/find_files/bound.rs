use super::rank::Fit;
use std::sync::atomic::{AtomicU64, Ordering};

/// How well a file must fit to be among the best, as far as is known; shared by all threads of a search.
///
/// It is the worst of the best so far, of which a search keeps as many as are asked for. It only gets better, so who reads an
/// older one takes too many and never too few.
#[derive(Debug)]
pub(super) struct Bound(AtomicU64);

impl Default for Bound {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl Bound {
    /// Says how well the worst of the best fits, once there are as many as are asked for.
    pub(super) fn set(&self, worst: Fit) {
        self.0.fetch_min(worst.as_number(), Ordering::Relaxed);
    }

    /// Tells whether a file that fits so may be among the best; of those that fit equally well the path decides.
    pub(super) fn may_be_among(&self, fit: Fit) -> bool {
        fit.as_number() <= self.0.load(Ordering::Relaxed)
    }
}
