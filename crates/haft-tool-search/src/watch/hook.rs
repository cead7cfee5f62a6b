use super::Watch;
use std::sync::atomic::{AtomicBool, Ordering};

/// Wants to stop when `act` says so of the number of files or entries looked at.
pub(crate) struct Hook<F> {
    act: F,
    stop: AtomicBool,
}

impl<F: Fn(u64) -> bool> Hook<F> {
    pub(crate) fn new(act: F) -> Self {
        Self { act, stop: AtomicBool::new(false) }
    }
}

impl<F: Fn(u64) -> bool + Sync> Watch for Hook<F> {
    fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn is_out_of_time(&self) -> bool {
        false
    }

    fn looked_at(&self, files: u64) {
        self.stop.store((self.act)(files), Ordering::Relaxed);
    }
}
