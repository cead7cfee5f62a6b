use haft_tools_core::now_ms;
use restate_sdk::prelude::{
    ContextSideEffects as _, HandlerError, Json, RunFuture as _, TerminalError, WorkflowContext,
};
use std::time::Duration;

/// Counts the time that the calls of a turn take, where that is limited; while people are waited for it stands still.
///
/// It is read as a journaled step, so it says the same when the workflow is taken up again.
pub(super) struct RunClock {
    limit: Option<u64>,
    /// When it began to run, in milliseconds since 1970.
    since: Option<u64>,
    spent: u64,
}

impl RunClock {
    /// Makes a clock that has run since then, with so many milliseconds left.
    pub(super) fn new(limit: Option<u64>, since: u64) -> Self {
        Self { limit, since: limit.map(|_| since), spent: 0 }
    }

    /// Has the clock run or stand still; where the engine cancels the workflow just then, it goes on as before.
    pub(super) async fn runs(&mut self, ctx: &WorkflowContext<'_>, runs: bool) -> Result<(), TerminalError> {
        if self.limit.is_none() || self.since.is_some() == runs {
            return Ok(());
        }
        let now =
            ctx.run(|| async { Ok::<_, HandlerError>(Json(now_ms())) }).name("clock").await?.into_inner();
        match self.since.take() {
            Some(since) => self.spent += now.saturating_sub(since),
            None => self.since = Some(now),
        }
        Ok(())
    }

    /// What is left, as of when it last stood still.
    pub(super) fn left(&self) -> Option<Duration> {
        Some(Duration::from_millis(self.limit?.saturating_sub(self.spent)))
    }

    /// How long it has run, in milliseconds.
    pub(super) fn spent(&self) -> u64 {
        self.spent
    }
}
