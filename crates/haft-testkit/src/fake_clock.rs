use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

/// Stands in for the clock of a test's runtime: time passes only when the test says so.
///
/// Everything in haft that waits does so by the runtime's clock, so timeouts, graces, pauses and limits of rate can be tried
/// without waiting. Where nothing else is left to do, the clock jumps to the next thing that is waited for, as it is with
/// `tokio::time::pause`. What is written down with a date, as in a journal, goes by the clock of the machine.
///
/// ```
/// use haft_core::ToolError;
/// use haft_testkit::{FakeClock, call};
/// use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
/// use std::time::Duration;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Input {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = FakeClock::start();
/// let slow = tool_fn("slow", "Takes an hour.", Accesses::none(), |_: Input, _: CallContext| async {
///     tokio::time::sleep(Duration::from_secs(3600)).await;
///     Ok::<_, ToolError>("done")
/// })?;
/// let reply = call(&ToolRegistry::new().with(slow)?, "slow", serde_json::json!({})).await;
/// assert_eq!(reply.status.to_string(), "timed out");
/// assert!(clock.elapsed() < Duration::from_secs(3600));
/// # Ok(())
/// # }
/// ```
pub struct FakeClock {
    started: Instant,
}

impl FakeClock {
    /// Stops the clock of the runtime that runs the test.
    ///
    /// # Panics
    ///
    /// Outside a runtime of one thread, or when it is stopped already.
    pub fn start() -> Self {
        tokio::time::pause();
        Self { started: Instant::now() }
    }

    /// Lets so much time pass; what was waited for meanwhile is done.
    ///
    /// # Cancel safety
    ///
    /// The time has passed as soon as the future was polled.
    pub async fn advance(&self, time: Duration) {
        tokio::time::advance(time).await;
    }

    /// How much time has passed since the clock was stopped.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl fmt::Debug for FakeClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeClock").field("elapsed", &self.elapsed()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::FakeClock;
    use std::time::Duration;
    use tokio::task::JoinSet;
    use tokio::time::sleep;

    #[tokio::test]
    async fn time_passes_when_it_is_told_to() {
        let clock = FakeClock::start();
        assert_eq!(clock.elapsed(), Duration::ZERO);
        let hour = Duration::from_hours(1);
        let mut waiting = JoinSet::new();
        waiting.spawn(sleep(hour));
        // It is polled once, so that it waits from now on.
        tokio::task::yield_now().await;
        clock.advance(hour / 2).await;
        assert!(waiting.try_join_next().is_none());
        clock.advance(hour / 2).await;
        waiting.join_next().await.expect("a task").expect("no panic");
        // A timer is only as fine as a millisecond.
        assert!((hour..hour + Duration::from_millis(2)).contains(&clock.elapsed()), "{clock:?}");
    }
}
