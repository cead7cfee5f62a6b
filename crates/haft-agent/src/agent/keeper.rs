use crate::RunState;
use async_trait::async_trait;
use haft_tools_core::CallScope;
use std::error::Error;

/// Keeps where runs stand, so that another process can go on with them.
///
/// A run is kept in two parts: its [head](RunState::head), which takes the place of the one that was kept before, and the
/// entries of its [log](RunState::log_from) that were not kept yet. A keeper knows how many entries it has, so that a turn
/// costs no more after a thousand others than at the beginning. Both belong together: what is kept must be the old head or
/// the new one with at least its entries. [`RunState::restore`] leaves out entries that no head speaks of.
///
/// ```
/// use async_trait::async_trait;
/// use haft_agent::{LogEntry, RunState, StateKeeper};
/// use haft_tools_core::CallScope;
/// use serde_json::Value;
/// use std::error::Error;
/// use std::sync::Mutex;
///
/// /// Keeps one run in memory.
/// #[derive(Default)]
/// struct InMemory(Mutex<(Value, Vec<LogEntry>)>);
///
/// #[async_trait]
/// impl StateKeeper for InMemory {
///     async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
///         let (head, log) = &mut *self.0.lock().map_err(|_| "the keeper broke before")?;
///         log.extend(state.log_from(log.len()));
///         *head = serde_json::to_value(state.head())?;
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait StateKeeper: Send + Sync {
    /// Keeps the head of a run, and the entries of its log that were not kept yet; the run goes on when this is done.
    ///
    /// Called before the model is asked, before calls are executed, whenever one of them is answered, when somebody steers or
    /// pauses the run, and when it ends.
    ///
    /// # Errors
    ///
    /// When it cannot be kept: the run ends as failed, for the reason given.
    async fn keep(&self, scope: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>>;
}
