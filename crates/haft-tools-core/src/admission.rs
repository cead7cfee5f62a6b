//! Bounds how many calls run at once, for a whole tree of runs.

use crate::order::{AccessOrder, Place, Ticket};
use crate::{AccessMode, Accesses};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Says how many calls of each class may run at once; a call is of the class of the strongest thing it does.
///
/// ```
/// use haft_tools_core::Widths;
///
/// let widths = Widths { execute: 2, ..Widths::default() };
/// assert_eq!(widths.opaque, 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widths {
    /// Calls that look at things, or touch nothing; 32 by default.
    pub read: usize,
    /// Calls that connect to hosts or ask remote parties; 16 by default.
    pub connect: usize,
    /// Calls that change things; 8 by default.
    pub write: usize,
    /// Calls that run commands; 4 by default.
    pub execute: usize,
    /// Calls of which cannot be told what they do; 1 by default.
    pub opaque: usize,
}

impl Default for Widths {
    fn default() -> Self {
        Self { read: 32, connect: 16, write: 8, execute: 4, opaque: 1 }
    }
}

/// Decides when a call may start: its turn by what it touches, and room in its class.
///
/// Shared by the executors of one tree of runs, so that neither order nor width is lost or multiplied with depth.
pub(crate) struct Admission {
    pub(crate) order: AccessOrder,
    read: Arc<Semaphore>,
    connect: Arc<Semaphore>,
    write: Arc<Semaphore>,
    execute: Arc<Semaphore>,
    opaque: Arc<Semaphore>,
}

impl Admission {
    pub(crate) fn new(widths: &Widths) -> Self {
        // A class without room would never let a call of it start.
        let pool = |width: usize| Arc::new(Semaphore::new(width.clamp(1, Semaphore::MAX_PERMITS)));
        Self {
            order: AccessOrder::default(),
            read: pool(widths.read),
            connect: pool(widths.connect),
            write: pool(widths.write),
            execute: pool(widths.execute),
            opaque: pool(widths.opaque),
        }
    }

    /// Waits for room in the class of what the call does.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a call that is not admitted holds nothing.
    pub(crate) async fn admit(&self, accesses: &Accesses) -> Permit {
        let pool = self.pool(accesses);
        Permit::new(pool, acquire(pool).await)
    }

    /// Takes room in the class of what the call does, if there is some and nobody waits for it.
    pub(crate) fn admit_now(&self, accesses: &Accesses) -> Option<Permit> {
        let pool = self.pool(accesses);
        let held = Arc::clone(pool).try_acquire_owned().ok()?;
        Some(Permit::new(pool, Some(held)))
    }

    fn pool(&self, accesses: &Accesses) -> &Arc<Semaphore> {
        let class = accesses.iter().map(|access| access.mode().map_or(5, strength)).max().unwrap_or(1);
        match class {
            1 => &self.read,
            2 => &self.connect,
            3 => &self.write,
            4 => &self.execute,
            _ => &self.opaque,
        }
    }
}

fn strength(mode: AccessMode) -> u8 {
    match mode {
        AccessMode::Read => 1,
        AccessMode::Connect | AccessMode::Call => 2,
        AccessMode::Write => 3,
        AccessMode::Execute => 4,
    }
}

/// The pools are never closed; if one were, calls would go on without bound rather than stop for good.
async fn acquire(pool: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(pool).acquire_owned().await.ok()
}

/// Holds a running call's room in its class; dropping it gives the room back for good.
pub(crate) struct Permit(Lender);

/// Lends a running call's room to others while the call only waits.
#[derive(Clone)]
pub(crate) struct Lender(Arc<Room>);

struct Room {
    pool: Arc<Semaphore>,
    state: Mutex<State>,
}

struct State {
    held: Option<OwnedSemaphorePermit>,
    /// How many things the call waits for at the moment.
    away: usize,
}

impl Permit {
    fn new(pool: &Arc<Semaphore>, held: Option<OwnedSemaphorePermit>) -> Self {
        Self(Lender(Arc::new(Room { pool: Arc::clone(pool), state: Mutex::new(State { held, away: 0 }) })))
    }

    pub(crate) fn lender(&self) -> Lender {
        self.0.clone()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.held = None;
        // Whoever still waits in the call's name is then never the last to come back, and takes no room again.
        state.away += 1;
    }
}

impl Lender {
    /// Gives the room back for as long as the call waits for something else to be done.
    pub(crate) async fn lend_while<T>(&self, wait: impl Future<Output = T>) -> T {
        let away = Away::leave(self);
        let result = wait.await;
        if away.come_back() {
            let held = acquire(&self.0.pool).await;
            let mut state = self.state();
            if state.away == 0 {
                state.held = held;
            }
        }
        result
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one thing that a call waits for, also if the waiting is given up.
struct Away<'a>(Option<&'a Lender>);

impl<'a> Away<'a> {
    fn leave(lender: &'a Lender) -> Self {
        let mut state = lender.state();
        state.away += 1;
        state.held = None;
        Self(Some(lender))
    }

    /// Tells whether the call now waits for nothing else.
    fn come_back(mut self) -> bool {
        self.0.take().is_some_and(Self::count_down)
    }

    fn count_down(lender: &Lender) -> bool {
        let mut state = lender.state();
        state.away -= 1;
        state.away == 0
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        if let Some(lender) = self.0 {
            Self::count_down(lender);
        }
    }
}

/// Holds a call's places in the order: the one it entered with, and those for what it turned out to touch besides.
///
/// The default is a turn that comes at once: such a call is not ordered.
#[derive(Default)]
pub(crate) struct Turn {
    order: Option<AccessOrder>,
    tickets: Vec<Ticket>,
    /// The place of the call that makes this one.
    caller: Option<Place>,
}

impl Turn {
    /// Orders a call behind all that are there.
    pub(crate) fn new(admission: &Admission) -> Self {
        Self::beside(admission, None)
    }

    /// Orders a call that a running one makes.
    pub(crate) fn beside(admission: &Admission, caller: Option<Place>) -> Self {
        Self { order: Some(admission.order.clone()), tickets: Vec::new(), caller }
    }

    /// Takes a place for what the call touches.
    pub(crate) fn enter(&mut self, accesses: &Accesses) {
        let Some(order) = &self.order else { return };
        let ticket = match self.place() {
            None => order.enter(accesses),
            Some(place) => order.enter_beside(place, accesses),
        };
        self.tickets.extend(ticket);
    }

    /// The place that the calls made by this one are beside of.
    pub(crate) fn place(&self) -> Option<Place> {
        self.tickets.last().map(Ticket::place).or(self.caller)
    }

    /// Tells whether the call has to wait for its turn.
    pub(crate) fn waits(&self) -> bool {
        self.tickets.iter().any(Ticket::waits)
    }

    /// Waits until it is the call's turn.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the places are kept.
    pub(crate) async fn come(&mut self) {
        for ticket in &mut self.tickets {
            ticket.granted().await;
        }
    }
}
