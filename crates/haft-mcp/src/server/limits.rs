use super::calls::{ParkedLimits, TaskLimits};
use std::time::Duration;

/// Bounds the calls of a [`ToolServer`](crate::ToolServer) that go on without a request, whatever they are served over.
///
/// What a connection may take is bounded where it comes from, as over HTTP by `HttpLimits`.
///
/// ```
/// use haft_mcp::ToolServerLimits;
/// use std::time::Duration;
///
/// let tasks_after = Duration::from_secs(5);
/// let limits = ToolServerLimits { tasks_after, waiting_of_one: 4, ..ToolServerLimits::default() };
/// assert_ne!(limits, ToolServerLimits::default());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolServerLimits {
    /// How many running calls wait at once for what clients of the newer era answer in their next requests; 1,000 by default.
    pub waiting: usize,
    /// How many of these are one caller's; 100 by default.
    pub waiting_of_one: usize,
    /// How long such a call waits before it is cancelled; 10 minutes by default.
    pub waiting_for: Duration,
    /// After how long a call goes on as a task, where its client can be answered so; 10 seconds by default.
    pub tasks_after: Duration,
    /// How many tasks one caller has; 100 by default. Beyond them a call is waited for.
    pub tasks_of_one: usize,
    /// How long it is told how a task has ended; 5 minutes by default.
    pub tasks_kept: Duration,
}

impl Default for ToolServerLimits {
    fn default() -> Self {
        let (parked, tasks) = (ParkedLimits::default(), TaskLimits::default());
        Self {
            waiting: parked.all,
            waiting_of_one: parked.of_principal,
            waiting_for: parked.time,
            tasks_after: tasks.after,
            tasks_of_one: tasks.of_principal,
            tasks_kept: tasks.kept,
        }
    }
}

impl ToolServerLimits {
    pub(super) fn parked(&self) -> ParkedLimits {
        ParkedLimits { all: self.waiting, of_principal: self.waiting_of_one, time: self.waiting_for }
    }

    pub(super) fn tasks(&self) -> TaskLimits {
        TaskLimits { after: self.tasks_after, of_principal: self.tasks_of_one, kept: self.tasks_kept }
    }
}
