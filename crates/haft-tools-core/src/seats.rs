use crate::CallScope;
use haft_core::RunId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bounds how many runs of one tree are at work at once: each takes a seat first.
///
/// ```
/// use haft_tools_core::{CallScope, Seats};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft_core::IdError> {
/// let (seats, root) = (Seats::new(1), "run-1".parse()?);
/// let seated = seats.take(&root).await;
/// let scope = CallScope::new("run-2".parse()?).with_extension(seated.seat().clone());
/// // While the calls of this run wait for a person, another can take the seat; and so it is here.
/// seated.seat().lend_while(async { drop(seats.take(&root).await) }).await;
/// # let _ = scope;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Seats {
    width: usize,
    trees: Mutex<HashMap<RunId, Weak<Semaphore>>>,
}

/// Is the place of a run among those that are at work; lent to others while the run only waits.
///
/// A run has it in the [scope](CallScope::extension) of its calls: while a person is asked about one of them, or by one of
/// them, it is lent. Clones are the same seat.
///
/// ```
/// use haft_tools_core::Seats;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let seats = Seats::new(1);
/// let seated = seats.take(&"run-1".parse()?).await;
/// // While this run waits for another, that one has the seat.
/// let root = "run-1".parse()?;
/// seated.seat().lend_while(async { drop(seats.take(&root).await) }).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Seat(Arc<SeatOf>);

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

/// Holds a seat until it is dropped, when the run is no longer driven.
///
/// ```
/// use haft_tools_core::Seats;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let seats = Seats::new(1);
/// let seated = seats.take(&"run-1".parse()?).await;
/// // The seat is free again as soon as the run is not driven any more.
/// drop(seated);
/// seats.take(&"run-1".parse()?).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Seated(Seat);

impl Seats {
    /// Makes so many seats for each tree, and one at least.
    pub fn new(width: usize) -> Self {
        Self { width: width.clamp(1, Semaphore::MAX_PERMITS), trees: Mutex::default() }
    }

    /// Waits for a seat in the tree below a run that no other run started.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: who gives up waiting has taken nothing.
    pub async fn take(&self, root: &RunId) -> Seated {
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

impl Seated {
    /// The seat.
    pub fn seat(&self) -> &Seat {
        &self.0
    }
}

impl Seat {
    /// Waits for something that is not the run's own work, and lends the seat of the scope meanwhile, if it has one.
    pub(crate) async fn lent<T>(scope: &CallScope, wait: impl Future<Output = T>) -> T {
        match scope.extension::<Self>() {
            Some(seat) => seat.lend_while(wait).await,
            None => wait.await,
        }
    }

    /// Lends the seat to others for as long as the run waits for something that is not its own work, such as runs that it
    /// has started; then waits until it has one again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops what is waited for; the run takes a seat again if one is free.
    pub async fn lend_while<T>(&self, wait: impl Future<Output = T>) -> T {
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
