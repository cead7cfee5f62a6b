use super::pool::{Permit, Pool};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Holds a running call's room in its class, and lends it to others while the call only waits.
///
/// The default holds nothing.
#[derive(Default)]
pub(crate) struct Room(Mutex<State>);

#[derive(Default)]
struct State {
    held: Option<Held>,
    /// Where to take the room again that was lent.
    lent: Option<Arc<Lent>>,
    /// How many things the call waits for at the moment.
    away: u32,
    /// Whether the call has ended, and takes no room again.
    closed: bool,
}

pub(super) struct Held {
    pub(super) tool: Option<Permit>,
    pub(super) class: Option<Permit>,
}

impl Held {
    /// Gives the room back; gives where to take it again.
    fn lend(&self) -> Lent {
        let pool = |permit: &Option<Permit>| permit.as_ref().map(|held| Arc::clone(held.pool()));
        Lent { tool: pool(&self.tool), class: pool(&self.class) }
    }
}

/// Holds the room of a call that was answered and is still at work.
pub(crate) struct KeptRoom {
    _held: Option<Held>,
}

/// Names the pools that lent room belongs to.
struct Lent {
    tool: Option<Arc<Pool>>,
    class: Option<Arc<Pool>>,
}

impl Lent {
    /// Takes the room that is free, if all of it is.
    fn take_now(&self) -> Option<Held> {
        let free = |pool: &Option<Arc<Pool>>| match pool {
            Some(pool) => pool.take_now().map(Some),
            None => Some(None),
        };
        Some(Held { tool: free(&self.tool)?, class: free(&self.class)? })
    }

    async fn take_again(&self) -> Held {
        let tool = match &self.tool {
            Some(pool) => pool.take().await,
            None => None,
        };
        let class = match &self.class {
            Some(pool) => pool.take().await,
            None => None,
        };
        Held { tool, class }
    }
}

impl Room {
    pub(super) fn new(held: Held) -> Self {
        Self(Mutex::new(State { held: Some(held), ..State::default() }))
    }

    /// Keeps the room of a call that was answered and is still at work, until what is given is dropped.
    pub(crate) fn keep(&self) -> KeptRoom {
        let mut state = self.state();
        state.closed = true;
        KeptRoom { _held: state.held.take() }
    }

    /// Gives the room back for good: the call has ended.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.held = None;
    }

    /// Gives the room back for as long as the call waits for something else to be done.
    pub(crate) async fn lend_while<T>(&self, wait: impl Future<Output = T>) -> T {
        let away = Away::leave(self);
        let result = wait.await;
        drop(away);
        if let Some(lent) = self.owed() {
            let held = lent.take_again().await;
            self.take(held);
        }
        result
    }

    /// Tells where to take the room again, if the call is at work without it.
    fn owed(&self) -> Option<Arc<Lent>> {
        let state = self.state();
        state.lent.clone().filter(|_| state.away == 0 && !state.closed)
    }

    /// Takes room for a call that is at work without it; somebody else may have done so, or the call be away again.
    fn take(&self, held: Held) {
        let mut state = self.state();
        if state.away == 0 && !state.closed && state.lent.take().is_some() {
            state.held = Some(held);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one thing that a call waits for, also if the waiting is given up.
struct Away<'a>(&'a Room);

impl<'a> Away<'a> {
    fn leave(room: &'a Room) -> Self {
        let mut state = room.state();
        state.away += 1;
        if let Some(held) = state.held.take() {
            state.lent = Some(Arc::new(held.lend()));
        }
        Self(room)
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        self.0.state().away -= 1;
        // Whoever gave the waiting up does not wait for room either, so what is free is taken at once.
        if let Some(held) = self.0.owed().and_then(|lent| lent.take_now()) {
            self.0.take(held);
        }
    }
}
