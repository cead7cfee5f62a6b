//! Bounds how many calls run at once, for a whole tree of runs.

mod pool;
mod room;
mod turn;

pub(crate) use room::{KeptRoom, Room};
pub(crate) use turn::Turn;

use crate::executor::LiveCalls;
use crate::order::AccessOrder;
use crate::{AccessMode, Accesses, Selector};
use haft_core::{ToolName, ToolSpec};
use pool::Pool;
use room::Held;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
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
    read: Arc<Pool>,
    connect: Arc<Pool>,
    write: Arc<Pool>,
    execute: Arc<Pool>,
    opaque: Arc<Pool>,
    tool_widths: Vec<(Selector, usize)>,
    tools: Mutex<HashMap<ToolName, Arc<Pool>>>,
    pub(crate) live: Arc<LiveCalls>,
    /// Owns the tasks of running calls, and of those that were abandoned and have not ended yet.
    pub(crate) tasks: TaskTracker,
}

impl Admission {
    pub(crate) fn new(widths: &Widths) -> Self {
        Self {
            order: AccessOrder::default(),
            read: Arc::new(Pool::new(widths.read)),
            connect: Arc::new(Pool::new(widths.connect)),
            write: Arc::new(Pool::new(widths.write)),
            execute: Arc::new(Pool::new(widths.execute)),
            opaque: Arc::new(Pool::new(widths.opaque)),
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
            Some(pool) => pool.take().await,
            None => None,
        };
        // Whoever holds room in a class never waits for room of a tool, so waiting for both cannot go in a circle.
        let class = self.pool(accesses).take().await;
        Room::new(Held { tool, class })
    }

    /// Takes room in the class of what the call does, and of its tool, if there is some and nobody waits for it.
    pub(crate) fn admit_now(&self, tool: &ToolSpec, accesses: &Accesses) -> Option<Room> {
        let tool = match self.tool_pool(tool) {
            Some(pool) => Some(pool.take_now()?),
            None => None,
        };
        let class = self.pool(accesses).take_now()?;
        Some(Room::new(Held { tool, class: Some(class) }))
    }

    /// Finds the room that a tool has for itself, where it is bounded.
    fn tool_pool(&self, tool: &ToolSpec) -> Option<Arc<Pool>> {
        let (_, width) = self.tool_widths.iter().find(|(selector, _)| selector.concerns(tool))?;
        let mut pools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(pools.entry(tool.name().clone()).or_insert_with(|| Arc::new(Pool::new(*width)))))
    }

    fn pool(&self, accesses: &Accesses) -> &Arc<Pool> {
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
