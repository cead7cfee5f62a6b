//! Keeps a list of the calls that are under way, so that they can be cancelled from outside.

use super::frame::Frame;
use haft_core::{CallId, RunId, ToolCall};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Says which calls to cancel, among those that are under way in a tree of executors.
///
/// Calls are cancelled with everything below them: the calls a tool makes end with it, and so do the runs it starts, as
/// long as it hands its [`cancellation`](crate::CallContext::cancellation) on.
///
/// ```
/// use haft_tools_core::{Cancel, LocalExecutor, ToolRegistry};
///
/// let executor = LocalExecutor::builder(ToolRegistry::new()).build();
/// let call = Cancel::Call { run: "run-1".parse()?, call: "c1".parse()? };
/// // None of them is under way.
/// assert_eq!((executor.cancel(&call), executor.cancel(&Cancel::Tree)), (0, 0));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cancel {
    /// One call of a run.
    Call {
        /// The run.
        run: RunId,
        /// The call's id.
        call: CallId,
    },
    /// All calls of a run, and of the runs below it as far as calls of those between are under way.
    Run(RunId),
    /// All calls of the tree.
    Tree,
}

/// Lists the calls that are under way.
#[derive(Default)]
pub(crate) struct LiveCalls(Mutex<Listed>);

#[derive(Default)]
struct Listed {
    next: u64,
    calls: HashMap<u64, Call>,
    batches: HashMap<u64, Arc<Queue>>,
}

/// Lists the calls of a batch that have not begun.
struct Queue {
    frame: Arc<Frame>,
    calls: Vec<(CallId, AtomicU8)>,
}

/// What may become of a call that has not begun, in the order in which it does.
const WAITS: u8 = 0;
const CANCELLED: u8 = 1;
const BEGAN: u8 = 2;

struct Call {
    frame: Arc<Frame>,
    id: CallId,
    token: CancellationToken,
}

impl LiveCalls {
    /// Lists a call until the entry is dropped.
    pub(super) fn list(
        self: &Arc<Self>,
        frame: &Arc<Frame>,
        id: &CallId,
        token: CancellationToken,
        queued: Option<Queued<'_>>,
    ) -> Listing {
        let mut listed = self.listed();
        let number = listed.next;
        listed.next += 1;
        listed.calls.insert(number, Call { frame: Arc::clone(frame), id: id.clone(), token: token.clone() });
        // While the list is held, so that the call is always on one of both lists.
        let was_cancelled = queued.is_some_and(|queued| queued.begin() == CANCELLED);
        drop(listed);
        if was_cancelled {
            token.cancel();
        }
        Listing { calls: Arc::clone(self), number, token }
    }

    /// Lists the calls of a batch as not begun until the entry is dropped.
    pub(super) fn queue(self: &Arc<Self>, frame: &Arc<Frame>, calls: &[ToolCall]) -> Queueing {
        let calls = calls.iter().map(|call| (call.id.clone(), AtomicU8::new(WAITS))).collect();
        let queue = Arc::new(Queue { frame: Arc::clone(frame), calls });
        let mut listed = self.listed();
        let number = listed.next;
        listed.next += 1;
        listed.batches.insert(number, Arc::clone(&queue));
        drop(listed);
        Queueing { calls: Arc::clone(self), number, queue }
    }

    /// Cancels the calls that are meant, and counts them.
    pub(super) fn cancel(&self, which: &Cancel) -> usize {
        let listed = self.listed();
        let below = match which {
            Cancel::Run(run) => listed.below(run),
            Cancel::Call { .. } | Cancel::Tree => HashSet::new(),
        };
        let meant = |in_run: &RunId, id: &CallId| match which {
            Cancel::Call { run, call } => in_run == run && id == call,
            Cancel::Run(_) => below.contains(in_run),
            Cancel::Tree => true,
        };
        let begun = listed.calls.values().filter(|call| meant(call.frame.scope.run(), &call.id));
        let tokens: Vec<CancellationToken> = begun.map(|call| call.token.clone()).collect();
        let queued = listed.batches.values().flat_map(|queue| {
            let meant = &meant;
            queue.calls.iter().filter(move |(id, _)| meant(queue.frame.scope.run(), id))
        });
        let cancelled = queued.filter(|(_, state)| {
            state.compare_exchange(WAITS, CANCELLED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        });
        let count = cancelled.count() + tokens.len();
        drop(listed);
        for token in &tokens {
            token.cancel();
        }
        count
    }

    fn listed(&self) -> MutexGuard<'_, Listed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listed {
    /// Finds a run and the runs below it, as far as calls of the runs between are on the list.
    fn below<'a>(&'a self, run: &'a RunId) -> HashSet<&'a RunId> {
        let begun = self.calls.values().map(|call| &call.frame.scope);
        let queued = self.batches.values().map(|queue| &queue.frame.scope);
        let mut started: HashMap<&RunId, Vec<&RunId>> = HashMap::new();
        for scope in begun.chain(queued) {
            if let Some(parent) = scope.parent_run() {
                started.entry(parent).or_default().push(scope.run());
            }
        }
        let (mut below, mut open) = (HashSet::from([run]), vec![run]);
        while let Some(run) = open.pop() {
            let new = started.get(run).into_iter().flatten().filter(|run| below.insert(run));
            open.extend(new);
        }
        below
    }
}

/// Keeps the calls of a batch on the list until they begin.
pub(super) struct Queueing {
    calls: Arc<LiveCalls>,
    number: u64,
    queue: Arc<Queue>,
}

impl Queueing {
    /// Names the place of a call of the batch.
    pub(super) fn place(&self, place: usize) -> Queued<'_> {
        Queued { queue: &self.queue, place }
    }
}

impl Drop for Queueing {
    fn drop(&mut self) {
        self.calls.listed().batches.remove(&self.number);
    }
}

/// Names the place of a call that has not begun; dropped when it begins or ends.
pub(super) struct Queued<'a> {
    queue: &'a Queue,
    place: usize,
}

impl Queued<'_> {
    pub(super) fn is_cancelled(&self) -> bool {
        self.queue.calls.get(self.place).is_some_and(|(_, state)| state.load(Ordering::Relaxed) == CANCELLED)
    }

    /// Takes the call off the list; gives what had become of it.
    fn begin(&self) -> u8 {
        self.queue.calls.get(self.place).map_or(BEGAN, |(_, state)| state.swap(BEGAN, Ordering::Relaxed))
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.begin();
    }
}

/// Keeps a call on the list.
pub(super) struct Listing {
    calls: Arc<LiveCalls>,
    number: u64,
    pub(super) token: CancellationToken,
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.calls.listed().calls.remove(&self.number);
    }
}
