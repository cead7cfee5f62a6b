//! Has made less of what the model is told.

use super::driving::Run;
use super::errors::with_causes;
use crate::RunEvent;
use haft_core::EventKind;
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
        let compacted = timeout(COMPACTION_TIME, compacted).with_cancellation_token(token);
        let told = match self.attend(compacted).await? {
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
        // What cannot be made less now can be when there is more of it.
        self.compacted_at = self.request_tokens().saturating_add(percent(5));
        Some(())
    }

    /// What a request takes up now, in estimated tokens, with what stands around the messages.
    fn request_tokens(&mut self) -> u64 {
        let tokens = self.state.context_tokens();
        // What a provider has counted is the whole request.
        match self.state.usage().input {
            0 => tokens.saturating_add(self.around()),
            _ => tokens,
        }
    }

    /// What a request holds beside the messages, in estimated tokens.
    fn around(&mut self) -> u64 {
        let system = self.agent.system.as_deref().map_or(0, str::len) as u64;
        system.div_ceil(crate::compaction::BYTES_A_TOKEN).saturating_add(self.offered().tokens())
    }
}
