//! Has made less of what the model is told.

use super::driving::Run;
use crate::{CompactError, RunEvent, Told};
use haft_core::{EventKind, with_causes};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::future::FutureExt as _;
use tokio_util::sync::CancellationToken;

/// How much of the window a request takes up when it is compacted, and how much it should take up then, in percent.
const COMPACTED_AT: u64 = 80;
const COMPACTED_TO: u64 = 50;

/// How long a compaction may take; the run goes on without it then.
const COMPACTION_TIME: Duration = Duration::from_mins(1);

impl Run<'_> {
    /// Has made less of what the model is told, if it is too much; gives `None` if the run was cancelled meanwhile.
    pub(super) async fn compact(&mut self, token: &CancellationToken) -> Option<()> {
        let (Some(compaction), Some(window)) = (self.agent.compaction.clone(), self.agent.window) else {
            return Some(());
        };
        let tokens = self.request_tokens();
        let percent = |part: u64| window.saturating_mul(part) / 100;
        if tokens < percent(COMPACTED_AT).max(self.compacted_at) {
            return Some(());
        }
        let (state, scope) = (self.state.clone(), self.scope.clone());
        let compacted =
            async move { compaction.compact(state.context(&scope, tokens, percent(COMPACTED_TO))).await };
        self.tell(compacted, token).await?;
        // What cannot be made less now can be when there is more of it.
        self.compacted_at = self.request_tokens().saturating_add(percent(5));
        Some(())
    }

    /// Has it looked once whether what is told in the place of messages is still right; gives `None` if the run was cancelled
    /// meanwhile.
    pub(super) async fn renew(&mut self, token: &CancellationToken) -> Option<()> {
        let is_renewed = std::mem::replace(&mut self.is_renewed, true);
        let tokens = self.state.context_tokens();
        if is_renewed || self.state.context(&self.scope, tokens, tokens).replaced().next().is_none() {
            return Some(());
        }
        let Some(compaction) = self.agent.compaction.clone() else { return Some(()) };
        let (state, scope) = (self.state.clone(), self.scope.clone());
        let renewed = async move { compaction.renew(state.context(&scope, tokens, tokens)).await };
        self.tell(renewed, token).await
    }

    /// Waits for what the model is to be told from now on, and takes note of it; gives `None` if the run was cancelled
    /// meanwhile.
    async fn tell(
        &mut self,
        told: impl Future<Output = Result<Vec<Told>, CompactError>>,
        token: &CancellationToken,
    ) -> Option<()> {
        let told = timeout(COMPACTION_TIME, told).with_cancellation_token(token);
        let told = match self.attend(told).await? {
            Ok(Ok(told)) if told.is_empty() => Ok(Vec::new()),
            Ok(Ok(told)) => self.step(RunEvent::Compacted { told }).map_err(|error| error.to_string()),
            Ok(Err(error)) => Err(with_causes(&*error)),
            Err(_) => Err(format!("it was not done after {} s", COMPACTION_TIME.as_secs())),
        };
        match told {
            Ok(effects) => self.note(effects).await,
            Err(reason) => {
                self.agent.events.emit(&self.scope, None, || EventKind::CompactionFailed { reason });
            }
        }
        Some(())
    }

    /// What a request takes up now, in estimated tokens, with what stands around the messages.
    pub(super) fn request_tokens(&mut self) -> u64 {
        let tokens = self.state.context_tokens();
        // What a provider has counted is the whole request. An answer that broke off is counted without being a turn.
        if self.state.turns() == 0 || self.state.usage().input == 0 {
            return tokens.saturating_add(self.around());
        }
        tokens
    }

    /// What a request holds beside the messages, in estimated tokens.
    fn around(&mut self) -> u64 {
        let system = self.agent.system.as_deref().map_or(0, str::len) as u64;
        system.div_ceil(crate::compaction::BYTES_A_TOKEN).saturating_add(self.offered().tokens())
    }
}
