use super::flow::Found;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long an authorization server that was found is taken for that of the server.
const LONGEST: Duration = Duration::from_hours(1);

/// Keeps the authorization server by which tokens are refreshed, so that it is not found anew each time.
#[derive(Default)]
pub(super) struct Known(Mutex<Option<(Instant, Found)>>);

/// Says whether the server may have another authorization server by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// A token has only had its time.
    No,
    /// The server does not take the token that it gave.
    Yes,
}

impl Known {
    /// Takes what is kept, with when it was found, if it still counts and is that of an issuer.
    pub(super) fn take(&self, issuer: Option<&str>, doubt: Doubt) -> Option<(Instant, Found)> {
        let kept = self.kept().take();
        kept.filter(|(at, found)| doubt == Doubt::No && at.elapsed() < LONGEST && found.issuer() == issuer)
    }

    /// Keeps what was found then, and has worked.
    pub(super) fn keep(&self, at: Instant, found: Found) {
        *self.kept() = Some((at, found));
    }

    pub(super) fn forget(&self) {
        self.kept().take();
    }

    fn kept(&self) -> MutexGuard<'_, Option<(Instant, Found)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
