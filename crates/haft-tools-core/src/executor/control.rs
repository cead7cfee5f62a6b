use super::Refusal;
use super::run::cancelled_before_start;
use crate::panicked::discard;
use crate::{Steer, Steering};
use haft_core::{ReplyStatus, ToolCall};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// Tells the calls of one batch whether to go on: holds the batch's token, and who steers it.
///
/// A batch that nobody can cancel has no token, so that its calls do not pay for one.
#[derive(Default)]
pub(crate) struct Control {
    token: Option<CancellationToken>,
    steered: Option<Box<Steered>>,
}

struct Steered {
    by: Arc<dyn Steering>,
    /// Is cancelled when the calls that have not started are to be skipped.
    skip: CancellationToken,
    message: OnceLock<String>,
}

impl Control {
    pub(super) fn new(token: Option<CancellationToken>, steering: Option<Arc<dyn Steering>>) -> Self {
        let Some(by) = steering else { return Self { token, steered: None } };
        // Steering must not cancel more than this batch.
        let own = token.map_or_else(CancellationToken::new, |token| token.child_token());
        let steered = Steered { by, skip: own.child_token(), message: OnceLock::new() };
        Self { token: Some(own), steered: Some(Box::new(steered)) }
    }

    pub(crate) fn token(&self) -> Option<&CancellationToken> {
        self.token.as_ref()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.token.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Asks whether a call may still start.
    pub(super) fn admits(&self, next: &ToolCall) -> Result<(), Refusal> {
        if self.is_cancelled() {
            return Err(cancelled_before_start());
        }
        let Some(steered) = &self.steered else { return Ok(()) };
        if steered.skip.is_cancelled() {
            return Err(self.halted());
        }
        // The host's own code is only used again through a shared reference, as it would be by another call.
        match catch_unwind(AssertUnwindSafe(|| steered.by.steer(next))) {
            Ok(Steer::Continue) => return Ok(()),
            Ok(Steer::SkipRemaining { message }) => {
                // The first message counts where two calls are about to start at once.
                let _ = steered.message.set(message);
                steered.skip.cancel();
            }
            Ok(Steer::Cancel) => self.cancel(),
            Err(payload) => {
                discard(payload);
                self.cancel();
            }
        }
        Err(self.halted())
    }

    /// Waits until a call that has not started is not to start any more: with its batch, or by its own token.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub(super) async fn halts(&self, own: &CancellationToken) -> Refusal {
        match &self.steered {
            // On the heap, so that calls that are not steered stay small while they wait.
            Some(steered) => {
                Box::pin(async {
                    tokio::select! {
                        () = steered.skip.cancelled() => {}
                        () = own.cancelled() => {}
                    }
                })
                .await;
            }
            None => own.cancelled().await,
        }
        if own.is_cancelled() { cancelled_before_start() } else { self.halted() }
    }

    fn cancel(&self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
    }

    fn halted(&self) -> Refusal {
        match self.steered.as_ref().and_then(|steered| steered.message.get()) {
            Some(message) if !self.is_cancelled() => {
                Refusal::new(ReplyStatus::Skipped, format!("not run: {message}"))
            }
            _ => cancelled_before_start(),
        }
    }
}
