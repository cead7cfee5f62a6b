//! Calls that wait for calls below them.

use super::layered::{Layered, too_late};
use super::rest::{Halt, Rest};
use crate::executor::Refusal;
use crate::executor::asking::{self, Waits};
use crate::executor::run::Below;
use crate::panicked::discard;
use crate::permission::{Asked, call_digest};
use crate::registry::Entry;
use crate::{PendingCall, Prepared, Preview, Wants};
use futures_util::FutureExt as _;
use haft_core::ReplyStatus;
use std::panic::AssertUnwindSafe;
use tokio_util::sync::CancellationToken;

impl Rest<'_> {
    /// Leaves a call to wait for calls below it, unless it was told to stop.
    ///
    /// It is bound to what it was let touch when it ran, so that it goes on as that and as nothing else.
    pub(super) fn wait_below(
        &mut self,
        entry: &Entry,
        refusal: Refusal,
        below: Below,
        layered: Option<&Layered>,
        token: &CancellationToken,
    ) -> Halt {
        let Below { calls, accesses, was_stopped } = below;
        let (frame, call) = (self.frame, &self.record.call);
        let asked = Asked {
            wants: Wants::Below { calls },
            call,
            repairs: &self.repairs,
            accesses: &accesses,
            unmet: asking::unmet(frame, self.modes, entry, &accesses),
            // Nobody is shown it.
            preview: Preview::Arguments,
            digest: call_digest(entry.version(), call, &accesses, &frame.scope),
            scope: &frame.scope,
            // That calls below it are answered does not get too old, and their approvals do.
            lifetime: None,
        };
        let pending = PendingCall::from(asked);
        let pending = match layered {
            Some(layered) => layered.noted(pending, frame.layers()),
            None => pending,
        };
        if was_stopped || token.is_cancelled() {
            self.waited = Some(Box::new(pending));
            return Halt::Refused(if was_stopped { refusal } else { cancelled() });
        }
        if frame.may_wait {
            self.record.waits_below(&pending);
        }
        Halt::Waits(Waits { pending: Box::new(pending), is_kept: false })
    }

    /// Tells whether a call that waited for others was approved as what it would do now, before it ran.
    pub(super) fn was_let_run(&mut self, entry: &Entry, prepared: &Prepared) -> bool {
        let Some(waited) = self.waited.as_deref().filter(|waited| !waited.unmet.is_empty()) else {
            return false;
        };
        let digest = self.digest(entry, prepared);
        let was_let_run = digest == waited.digest;
        if was_let_run {
            self.record.approved_before();
            self.approved = Some(digest.into());
        }
        was_let_run
    }

    /// Tells the tool of a call that waited for others, and does not go on, to give up what it keeps for it; then nobody goes
    /// on with these others.
    pub(super) async fn give_up(&mut self, token: &CancellationToken) {
        let Some(waited) = self.waited.take() else { return };
        let frame = self.frame;
        if let Some(entry) = frame.registry().entry(&self.record.call.name) {
            // The tool is only used again through a shared reference, as it would be by another call.
            let told = AssertUnwindSafe(async { entry.tool.given_up(&waited, &frame.scope).await });
            let limits = frame.shared.limits_of(entry);
            tokio::select! {
                biased;
                told = told.catch_unwind() => if let Err(payload) = told {
                    discard(payload);
                },
                () = too_late(token, Some(limits.timeout), limits.grace) => {
                    tracing::error!(tool = entry.name(), "a tool takes too long to give up what it keeps for a call");
                }
            }
        }
        for below in waited.all_below() {
            // One that was gone on with meanwhile has its answer.
            if let Err(error) = frame.shared.pending.claim(below).await {
                let error = &error as &dyn std::error::Error;
                tracing::error!(call = %below.call.id, error, "a call that was given up cannot be claimed");
            }
        }
    }
}

/// Answers a call that was cancelled when it came to wait.
fn cancelled() -> Refusal {
    Refusal::new(
        ReplyStatus::Cancelled,
        "the call was cancelled when calls below it came to wait for an approval; see what it has done so far before you \
         repeat it",
    )
}

/// Answers a call that has begun with its input.
pub(super) fn cannot_be_edited() -> Refusal {
    Refusal::new(
        ReplyStatus::Denied,
        "the user wants this call with other arguments, and it has begun with these; what it had begun was given up, so see \
         what it has done, and ask the user which arguments they want",
    )
}
