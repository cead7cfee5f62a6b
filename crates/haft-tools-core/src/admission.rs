//! Bounds how many calls run at once, for a whole tree of runs.

use crate::executor::LiveCalls;
use crate::order::{AccessOrder, Place, Ticket};
use crate::{AccessMode, Accesses, Selector};
use haft_core::{ToolName, ToolSpec};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

/// Says how many calls of each class may run at once; a call is of the class of the strongest thing it does.
///
/// ```
/// use haft_tools_core::Widths;
///
/// let widths = Widths { execute: 2, tools: vec![("render".parse()?, 1)], ..Widths::default() };
/// assert_eq!(widths.opaque, 1);
/// # Ok::<(), haft_tools_core::SelectorError>(())
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
    /// Calls of chosen tools, for each tool on its own and besides the width of their class; none by default.
    ///
    /// The first selector that concerns a tool counts.
    pub tools: Vec<(Selector, usize)>,
}

impl Default for Widths {
    fn default() -> Self {
        Self { read: 32, connect: 16, write: 8, execute: 4, opaque: 1, tools: Vec::new() }
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
    tool_widths: Vec<(Selector, usize)>,
    tools: Mutex<HashMap<ToolName, Arc<Semaphore>>>,
    pub(crate) live: Arc<LiveCalls>,
    /// Owns the tasks of running calls, and of those that were abandoned and have not ended yet.
    pub(crate) tasks: TaskTracker,
}

impl Admission {
    pub(crate) fn new(widths: &Widths) -> Self {
        Self {
            order: AccessOrder::default(),
            read: pool(widths.read),
            connect: pool(widths.connect),
            write: pool(widths.write),
            execute: pool(widths.execute),
            opaque: pool(widths.opaque),
            tool_widths: widths.tools.clone(),
            tools: Mutex::default(),
            live: Arc::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// Waits for room in the class of what the call does, and of its tool.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a call that is not admitted holds nothing.
    pub(crate) async fn admit(&self, tool: &ToolSpec, accesses: &Accesses) -> Room {
        let tool = match self.tool_pool(tool) {
            Some(pool) => acquire(&pool).await,
            None => None,
        };
        // Whoever holds room in a class never waits for room of a tool, so waiting for both cannot go in a circle.
        let class = acquire(self.pool(accesses)).await;
        Room::new(Held { tool, class })
    }

    /// Takes room in the class of what the call does, and of its tool, if there is some and nobody waits for it.
    pub(crate) fn admit_now(&self, tool: &ToolSpec, accesses: &Accesses) -> Option<Room> {
        let tool = match self.tool_pool(tool) {
            Some(pool) => Some(pool.try_acquire_owned().ok()?),
            None => None,
        };
        let class = Arc::clone(self.pool(accesses)).try_acquire_owned().ok()?;
        Some(Room::new(Held { tool, class: Some(class) }))
    }

    /// Finds the room that a tool has for itself, where it is bounded.
    fn tool_pool(&self, tool: &ToolSpec) -> Option<Arc<Semaphore>> {
        let (_, width) = self.tool_widths.iter().find(|(selector, _)| selector.concerns(tool))?;
        let mut pools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(pools.entry(tool.name().clone()).or_insert_with(|| pool(*width))))
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

/// A class without room would never let a call of it start, so there is room for one at least.
fn pool(width: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(width.clamp(1, Semaphore::MAX_PERMITS)))
}

/// The pools are never closed; if one were, calls would go on without bound rather than stop for good.
async fn acquire(pool: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(pool).acquire_owned().await.ok()
}

/// Holds a running call's room in its class, and lends it to others while the call only waits.
///
/// The default holds nothing.
#[derive(Default)]
pub(crate) struct Room(Mutex<State>);

#[derive(Default)]
struct State {
    held: Option<Held>,
    /// Where to take the room again that was lent.
    lent: Option<Box<Lent>>,
    /// How many things the call waits for at the moment.
    away: u32,
    /// Whether the call has ended, and takes no room again.
    closed: bool,
}

struct Held {
    tool: Option<OwnedSemaphorePermit>,
    class: Option<OwnedSemaphorePermit>,
}

impl Held {
    /// Gives the room back; gives where to take it again.
    fn lend(&self) -> Box<Lent> {
        let pool =
            |permit: &Option<OwnedSemaphorePermit>| permit.as_ref().map(|held| Arc::clone(held.semaphore()));
        Box::new(Lent { tool: pool(&self.tool), class: pool(&self.class) })
    }
}

/// Names the pools that lent room belongs to.
struct Lent {
    tool: Option<Arc<Semaphore>>,
    class: Option<Arc<Semaphore>>,
}

impl Lent {
    async fn take_again(self) -> Held {
        let tool = match &self.tool {
            Some(pool) => acquire(pool).await,
            None => None,
        };
        let class = match &self.class {
            Some(pool) => acquire(pool).await,
            None => None,
        };
        Held { tool, class }
    }
}

impl Room {
    fn new(held: Held) -> Self {
        Self(Mutex::new(State { held: Some(held), ..State::default() }))
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
        if let Some(lent) = away.come_back() {
            let held = lent.take_again().await;
            let mut state = self.state();
            if state.away == 0 && !state.closed {
                state.held = Some(held);
            } else if !state.closed {
                // Somebody has left again meanwhile, and takes the room when they come back.
                state.lent = Some(held.lend());
            }
        }
        result
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one thing that a call waits for, also if the waiting is given up.
struct Away<'a>(Option<&'a Room>);

impl<'a> Away<'a> {
    fn leave(room: &'a Room) -> Self {
        let mut state = room.state();
        state.away += 1;
        if let Some(held) = state.held.take() {
            state.lent = Some(held.lend());
        }
        Self(Some(room))
    }

    /// Gives the room to take again if the call now waits for nothing else.
    fn come_back(mut self) -> Option<Box<Lent>> {
        self.0.take().and_then(Self::count_down)
    }

    fn count_down(room: &Room) -> Option<Box<Lent>> {
        let mut state = room.state();
        state.away -= 1;
        if state.away == 0 && !state.closed { state.lent.take() } else { None }
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        if let Some(room) = self.0 {
            let mut state = room.state();
            state.away -= 1;
        }
    }
}

/// Holds a call's places in the order: the one it entered with, and those for what it turned out to touch besides.
///
/// The default is a turn that comes at once: such a call is not ordered.
#[derive(Default)]
pub(crate) struct Turn<'a> {
    order: Option<&'a AccessOrder>,
    tickets: Vec<Ticket>,
    /// The place of the call that makes this one.
    caller: Option<Place>,
}

impl<'a> Turn<'a> {
    /// Orders a call behind all that are there.
    pub(crate) fn new(admission: &'a Admission) -> Self {
        Self::beside(admission, None)
    }

    /// Orders a call that a running one makes.
    pub(crate) fn beside(admission: &'a Admission, caller: Option<Place>) -> Self {
        Self { order: Some(&admission.order), tickets: Vec::new(), caller }
    }

    /// Takes a place for what the call touches.
    pub(crate) fn enter(&mut self, accesses: &Accesses) {
        let Some(order) = self.order else { return };
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
