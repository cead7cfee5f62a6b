use anyhow::{Context as _, Result};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// How long the end may take before it is made: within a second everything is gone.
const LONGEST: Duration = Duration::from_millis(900);

/// What is left of that when the last client has gone: what it had begun was given the rest already.
const LEFT: Duration = Duration::from_millis(400);

/// What is kept of that for what is done after the last call has ended.
const AFTER_CALLS: Duration = Duration::from_millis(50);

/// Sees to it that the process ends when it is told to, whatever still hangs.
pub(super) struct Ending {
    token: CancellationToken,
    /// When the end is made.
    deadline: Arc<OnceLock<Instant>>,
    _listening: AbortOnDropHandle<()>,
}

impl Ending {
    /// Begins the end at the first signal that asks for it.
    pub(super) fn on_signals() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot wait for signals");
        let (mut term, mut hangup) = (listen(SignalKind::terminate())?, listen(SignalKind::hangup())?);
        let mut interrupt = listen(SignalKind::interrupt())?;
        let token = CancellationToken::new();
        let cancel = token.clone();
        let deadline = Arc::default();
        let begun = Arc::clone(&deadline);
        let listening = tokio::spawn(async move {
            tokio::select! {
                _ = term.recv() => {}
                _ = hangup.recv() => {}
                _ = interrupt.recv() => {}
            }
            watch(LONGEST, &begun);
            cancel.cancel();
        });
        Ok(Self { token, deadline, _listening: AbortOnDropHandle::new(listening) })
    }

    /// Is cancelled when the process is to end.
    pub(super) fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Begins the end, since there is nobody left to serve.
    pub(super) fn begin(&self) {
        watch(LEFT, &self.deadline);
        self.token.cancel();
    }

    /// For how long calls that are cancelled can be waited for, once the end has begun.
    pub(super) fn left_for_calls(&self) -> Option<Duration> {
        let left = self.deadline.get()?.saturating_duration_since(Instant::now());
        Some(left.saturating_sub(AFTER_CALLS))
    }
}

/// Ends the process when the time is up, which it tells; on a thread of its own, since the others may hang.
fn watch(longest: Duration, deadline: &OnceLock<Instant>) {
    // Where it is set already, the end has begun.
    if deadline.set(Instant::now() + longest).is_err() {
        return;
    }
    std::thread::spawn(move || {
        std::thread::sleep(longest);
        #[expect(clippy::exit, reason = "whoever asked for the end does not wait for what hangs")]
        std::process::exit(0);
    });
}
