use super::CallOutcome;
use super::course::{Ahead, Among, Course};
use super::frame::Frame;
use crate::CallContext;
use crate::admission::Turn;
use futures_util::future::join_all;
use haft_core::{Repair, ToolCall};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Says which calls of a batch may run at the same time.
///
/// Whatever the strategy, how many calls run at once is bounded by the executor's widths, and the calls that a running
/// call makes are ordered by what they touch.
///
/// ```
/// use haft_tools_core::{LocalExecutor, Strategy, ToolRegistry};
/// use std::num::NonZeroUsize;
///
/// let size = NonZeroUsize::new(4).expect("four is not none");
/// let executor = LocalExecutor::builder(ToolRegistry::new()).strategy(Strategy::Batched { size }).build();
/// # drop(executor);
/// assert_eq!(Strategy::default(), Strategy::ByAccess);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// Each call waits for the earlier calls of the batch that it conflicts with, and for no other.
    ///
    /// The outcome is that of running the calls one after the other, while those that touch different things overlap.
    /// Calls of other batches and agents that touch the same things are respected too.
    #[default]
    ByAccess,
    /// One after the other: each is prepared and decided when the one before it has ended.
    Sequential,
    /// All at once, whatever they touch; for batches whose calls are known not to touch the same things.
    Parallel,
    /// So many at once, whatever they touch, and the next when all of them have ended.
    Batched {
        /// How many.
        size: NonZeroUsize,
    },
}

/// Executes calls as the strategy says.
pub(super) async fn execute(
    frame: &Arc<Frame>,
    calls: Vec<ToolCall>,
    held: Option<Vec<Vec<Repair>>>,
) -> Vec<CallOutcome> {
    let width = match frame.shared.strategy {
        Strategy::ByAccess | Strategy::Parallel => usize::MAX,
        Strategy::Sequential => 1,
        Strategy::Batched { size } => size.get(),
    };
    let queueing = frame.shared.admission.live.queue(frame, &calls);
    let repeated = repeated_ids(&calls);
    // Takes no room before there is something to hold.
    let mut outcomes = Vec::new();
    let mut repairs = held.map(Vec::into_iter);
    let numbered = calls.into_iter().enumerate();
    let mut courses = numbered.map(|(place, call)| {
        let among = Among {
            repeated: repeated.contains(&place),
            queued: queueing.place(place),
            held: repairs.as_mut().map(|repairs| repairs.next().unwrap_or_default()),
        };
        Course::from(Ahead::begin_among(frame, call, turn_of_batch(frame), among))
    });
    if width == 1 {
        for course in courses {
            outcomes.push(course.await);
        }
        return outcomes;
    }
    loop {
        // What is side by side takes its places, in the order of the model, before any of it starts.
        let side_by_side: Vec<_> = courses.by_ref().take(width).collect();
        if side_by_side.is_empty() {
            return outcomes;
        }
        let mut ended = join_all(side_by_side).await;
        outcomes.append(&mut ended);
    }
}

/// Orders a call as the strategy says.
pub(super) fn turn_of_batch(frame: &Frame) -> Turn<'_> {
    match frame.shared.strategy {
        Strategy::ByAccess | Strategy::Sequential => turn(frame),
        Strategy::Parallel | Strategy::Batched { .. } => Turn::default(),
    }
}

/// Orders a call behind all that are there, or in the place of the one that makes it.
pub(super) fn turn(frame: &Frame) -> Turn<'_> {
    let admission = &frame.shared.admission;
    let caller = frame
        .caller
        .as_ref()
        .filter(|caller| caller.frame().is_some_and(|outer| Arc::ptr_eq(&outer.shared.admission, admission)));
    Turn::beside(admission, caller.and_then(CallContext::place))
}

/// Lists the places of calls whose id an earlier call of the batch has: two replies could not be told apart.
fn repeated_ids(calls: &[ToolCall]) -> HashSet<usize> {
    let mut seen = HashSet::with_capacity(calls.len());
    calls.iter().enumerate().filter(|(_, call)| !seen.insert(&call.id)).map(|(place, _)| place).collect()
}
