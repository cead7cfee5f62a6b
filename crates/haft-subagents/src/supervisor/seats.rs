//! Bounds how many runs of one tree are at work at once.

use haft_core::RunId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Holds the seats of each tree, which its runs take to be at work.
#[derive(Debug)]
pub(crate) struct Seats {
    width: usize,
    trees: Mutex<HashMap<RunId, Weak<Semaphore>>>,
}

/// Is the place of a run among those that are at work; given up while the run only waits.
///
/// A run finds its own in the scope of its calls. Clones are the same seat.
#[derive(Debug, Clone)]
pub(crate) struct Seat(Arc<SeatOf>);

#[derive(Debug)]
struct SeatOf {
    tree: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    permit: Option<OwnedSemaphorePermit>,
    /// How many things the run waits for at the moment.
    away: u32,
    /// Whether the run is not driven any more, and takes no seat again.
    closed: bool,
}

/// Gives a seat back when the run is no longer driven, also where nobody waits for its end.
pub(crate) struct Seated(pub(crate) Seat);

impl Seats {
    pub(crate) fn new(width: usize) -> Self {
        Self { width: width.clamp(1, Semaphore::MAX_PERMITS), trees: Mutex::default() }
    }

    /// Waits for a seat in the tree of a run.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: who gives up waiting has taken nothing.
    pub(crate) async fn take(&self, root: &RunId) -> Seated {
        let tree = self.tree(root);
        let permit = acquire(&tree).await;
        let state = State { permit, ..State::default() };
        Seated(Seat(Arc::new(SeatOf { tree, state: Mutex::new(state) })))
    }

    fn tree(&self, root: &RunId) -> Arc<Semaphore> {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tree) = trees.get(root).and_then(Weak::upgrade) {
            return tree;
        }
        trees.retain(|_, tree| tree.strong_count() > 0);
        let tree = Arc::new(Semaphore::new(self.width));
        trees.insert(root.clone(), Arc::downgrade(&tree));
        tree
    }
}

impl Seat {
    /// Gives the seat to others for as long as the run waits for something that is not its own work.
    pub(crate) async fn lend_while<T>(&self, wait: impl Future<Output = T>) -> T {
        let away = Away::leave(self);
        let result = wait.await;
        drop(away);
        if self.is_owed() {
            let permit = acquire(&self.0.tree).await;
            let mut state = self.state();
            // Somebody else may have taken it for the run, which may be away again.
            if state.away == 0 && !state.closed && state.permit.is_none() {
                state.permit = permit;
            }
        }
        result
    }

    /// Tells whether the run is at work without a seat.
    fn is_owed(&self) -> bool {
        let state = self.state();
        state.away == 0 && !state.closed && state.permit.is_none()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.closed = true;
        state.permit = None;
    }
}

/// Counts one thing that a run waits for, also where the waiting is given up.
struct Away<'a>(&'a Seat);

impl<'a> Away<'a> {
    fn leave(seat: &'a Seat) -> Self {
        let mut state = seat.state();
        state.away += 1;
        state.permit = None;
        Self(seat)
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.away -= 1;
        // Whoever gave the waiting up does not wait for a seat either, so one that is free is taken at once.
        if state.away == 0 && !state.closed {
            state.permit = Arc::clone(&self.0.0.tree).try_acquire_owned().ok();
        }
    }
}

/// The seats are never closed; if they were, runs would go on without bound rather than stop for good.
async fn acquire(tree: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(tree).acquire_owned().await.ok()
}
