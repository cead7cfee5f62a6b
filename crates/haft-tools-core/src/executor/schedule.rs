use std::num::NonZeroUsize;

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
