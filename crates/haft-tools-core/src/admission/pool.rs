#[cfg(test)]
mod stepping;

use std::sync::Arc;
#[cfg(not(test))]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
#[cfg(test)]
use stepping::{AtomicUsize, Semaphore};
#[cfg(not(test))]
use tokio::sync::Semaphore;

/// Holds room for so many calls at once, and hands it to those who wait in the order in which they came.
///
/// Nearly always there is room and nobody waits; then taking it and giving it back is counting. Room is counted free or is
/// in the queue, where it goes while somebody waits. Whoever frees room looks for those who wait afterwards, and whoever
/// waits says so before they look for free room, so that one of them sees the other. Where the last who waited leaves in
/// between, room stays in the queue, from which it is taken as well when nothing is counted free.
pub(super) struct Pool {
    free: AtomicUsize,
    /// How many wait.
    waiting: AtomicUsize,
    queue: Semaphore,
}

/// Holds the room of one call until it is dropped.
pub(super) struct Permit(Arc<Pool>);

impl Pool {
    /// Makes room for so many calls, and for one at least: a class without room would never let a call of it start.
    pub(super) fn new(width: usize) -> Self {
        let free = width.clamp(1, Semaphore::MAX_PERMITS);
        Self { free: AtomicUsize::new(free), waiting: AtomicUsize::new(0), queue: Semaphore::new(0) }
    }

    /// Takes room if there is some and nobody waits for it.
    pub(super) fn take_now(self: &Arc<Self>) -> Option<Permit> {
        let counted = || self.free.fetch_update(SeqCst, SeqCst, |free| free.checked_sub(1)).is_ok();
        // While somebody waits, what is free is in the queue, which gives it to those who wait first.
        if self.waiting.load(SeqCst) > 0 || !counted() {
            self.queue.try_acquire().ok()?.forget();
        }
        Some(Permit(Arc::clone(self)))
    }

    /// Waits for room.
    ///
    /// The queue is never closed; if it were, calls would go on without bound rather than stop for good.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: who gives up waiting has taken nothing.
    pub(super) async fn take(self: &Arc<Self>) -> Option<Permit> {
        if let Some(permit) = self.take_now() {
            return Some(permit);
        }
        let _waiter = Waiter::of(self);
        self.queue.acquire().await.ok()?.forget();
        Some(Permit(Arc::clone(self)))
    }

    fn give_back(&self, room: usize) {
        self.free.fetch_add(room, SeqCst);
        if self.waiting.load(SeqCst) > 0 {
            self.hand_over();
        }
    }

    /// Hands what is free to those who wait.
    fn hand_over(&self) {
        let free = self.free.swap(0, SeqCst);
        if free > 0 {
            self.queue.add_permits(free);
        }
    }
}

impl Permit {
    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.0
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.give_back(1);
    }
}

/// Counts one who waits.
struct Waiter<'a>(&'a Pool);

impl<'a> Waiter<'a> {
    fn of(pool: &'a Pool) -> Self {
        pool.waiting.fetch_add(1, SeqCst);
        pool.hand_over();
        Self(pool)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        // With the last who waits, what is left in the queue is free again.
        if self.0.waiting.fetch_sub(1, SeqCst) == 1 {
            let left = self.0.queue.forget_permits(Semaphore::MAX_PERMITS);
            if left > 0 {
                self.0.give_back(left);
            }
        }
    }
}

#[cfg(test)]
mod tests;
