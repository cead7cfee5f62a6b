//! Tells a run what has come up meanwhile, before the model takes its turn.

use super::driving::Run;
use crate::RunEvent;
use async_trait::async_trait;
use haft_tools_core::CallScope;
use tokio_util::future::FutureExt as _;
use tokio_util::sync::CancellationToken;

/// Knows what has come up that a run should be told: that work has ended which it has begun and does not wait for, say.
///
/// An [`Agent`](crate::Agent) asks it right before each turn of the model, the first one of a prompt and the one that closes
/// the run included, and also where a run goes on after it was stored or paused. What can wait until the run takes its next
/// turn is told here; what a run at work should be told at once is said by [`Agent::steer`](crate::Agent::steer).
///
/// ```
/// use async_trait::async_trait;
/// use haft_agent::News;
/// use haft_tools_core::CallScope;
/// use std::sync::{Mutex, PoisonError};
///
/// /// Tells each message once, to the run that asks first.
/// #[derive(Default)]
/// struct Board(Mutex<Vec<String>>);
///
/// #[async_trait]
/// impl News for Board {
///     async fn news(&self, _: &CallScope) -> Vec<String> {
///         std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
///     }
/// }
/// ```
#[async_trait]
pub trait News: Send + Sync {
    /// Gives what the run of this scope should be told and was not, oldest first; texts that are empty are left out.
    ///
    /// Each text becomes a message of the user in the transcript. They are kept before the model is asked.
    ///
    /// # Cancel safety
    ///
    /// It is dropped when the run is cancelled: what was not given by then should be given the next time. The run waits for
    /// it, so it should not wait for anything that takes long.
    async fn news(&self, scope: &CallScope) -> Vec<String>;
}

impl Run<'_> {
    /// Takes note of what has come up; gives `None` if the run was cancelled meanwhile.
    pub(super) async fn hear(&mut self, token: &CancellationToken) -> Option<()> {
        let (agent, scope) = (self.agent, self.scope.clone());
        for news in &agent.news {
            let texts = self.attend(news.news(&scope).with_cancellation_token(token)).await?;
            let texts: Vec<String> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
            if !texts.is_empty() {
                let effects = self.step(RunEvent::News { texts }).unwrap_or_default();
                self.note(effects).await;
            }
        }
        Some(())
    }
}
