use crate::{CallScope, OutputStore};
use futures_util::FutureExt as _;
use haft_core::{CallId, OutputId};
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a store may take for one output.
const STORE_TIME: Duration = Duration::from_secs(30);

/// Says what became of an output that was to be stored.
#[derive(Default)]
pub(super) enum Kept {
    /// It is stored.
    As(OutputId),
    /// There is nowhere to store it.
    #[default]
    No,
    /// The store did not take it.
    Failed,
}

impl Kept {
    pub(super) fn output(&self) -> Option<&OutputId> {
        match self {
            Self::As(output) => Some(output),
            Self::No | Self::Failed => None,
        }
    }
}

/// Stores a text, for as long as the call is not cancelled; a store that fails, hangs or panics costs only the text.
pub(super) async fn keep(
    outputs: &dyn OutputStore,
    scope: &CallScope,
    call: &CallId,
    cancellation: &CancellationToken,
    text: String,
) -> Kept {
    // Nothing of the store's future is looked at again after a panic.
    let storing = AssertUnwindSafe(outputs.store(scope, call, text)).catch_unwind();
    let in_time = tokio::time::timeout(STORE_TIME, cancellation.run_until_cancelled(storing));
    match in_time.await {
        Ok(Some(Ok(Ok(output)))) => return Kept::As(output),
        Ok(Some(Ok(Err(error)))) => {
            tracing::warn!(%call, error = &error as &dyn std::error::Error, "an output was not stored");
        }
        Ok(Some(Err(_))) => tracing::warn!(%call, "the store of outputs panicked"),
        Ok(None) => tracing::debug!(%call, "an output was not stored: its call was cancelled"),
        Err(_) => tracing::warn!(%call, "the store of outputs took too long"),
    }
    Kept::Failed
}
