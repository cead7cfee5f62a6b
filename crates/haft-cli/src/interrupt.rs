use crate::printed::cut_off;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Says why a process is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Ctrl-C.
    Pressed,
    /// Whoever started it wants it to end.
    Terminated,
    TerminalGone,
}

/// Waits for what wants this process to stop: what is done then has to be ended, and what scripts made to be looked at.
struct Stops {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Stops {
    fn listen() -> io::Result<Self> {
        let [interrupt, terminate, hangup] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Self { interrupt: interrupt?, terminate: terminate?, hangup: hangup? })
    }

    async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.interrupt.recv() => Stop::Pressed,
            _ = self.terminate.recv() => Stop::Terminated,
            _ = self.hangup.recv() => Stop::TerminalGone,
        }
    }
}

/// Cancels on Ctrl-C, on signals to end, and when nothing can be printed any more; a second signal ends the process at once, for
/// when cancelling itself hangs.
pub(crate) fn cancel_on_interrupt() -> (CancellationToken, AbortOnDropHandle<()>) {
    let token = cut_off().child_token();
    let cancel = token.clone();
    // Listened to before whoever called this goes on.
    let stops = Stops::listen();
    let task = tokio::spawn(async move {
        let Ok(mut stops) = stops else { return };
        stops.next().await;
        errln!("\nstopping; press Ctrl-C again to stop at once");
        cancel.cancel();
        // Of a terminal that goes, several may tell.
        while stops.next().await == Stop::TerminalGone {}
        #[expect(clippy::exit, reason = "the person asked twice to stop at once")]
        std::process::exit(130);
    });
    (token, AbortOnDropHandle::new(task))
}

/// Has Ctrl-C stop what is done at the time, as often as something is done; a second one while that stops ends the process.
pub(crate) struct Interrupts {
    current: Arc<Mutex<Option<CancellationToken>>>,
    idle: CancellationToken,
    _watch: AbortOnDropHandle<()>,
}

/// Is what Ctrl-C stops until this is dropped.
pub(crate) struct Interruptible {
    current: Arc<Mutex<Option<CancellationToken>>>,
    token: CancellationToken,
}

impl Interrupts {
    pub(crate) fn watch() -> Self {
        let current: Arc<Mutex<Option<CancellationToken>>> = Arc::default();
        let idle = CancellationToken::new();
        let (watched, unused) = (Arc::clone(&current), idle.clone());
        let stops = Stops::listen();
        let watch = tokio::spawn(async move {
            let Ok(mut stops) = stops else { return };
            loop {
                let stop = stops.next().await;
                if stop != Stop::Pressed {
                    // Nobody is there who would begin anything else.
                    unused.cancel();
                }
                let begun = lock(&watched).clone();
                match begun {
                    None => unused.cancel(),
                    Some(token) if token.is_cancelled() => {
                        if stop != Stop::TerminalGone {
                            std::process::exit(130);
                        }
                    }
                    Some(token) => {
                        errln!("\nstopping; press Ctrl-C again to stop at once");
                        token.cancel();
                    }
                }
            }
        });
        Self { current, idle, _watch: AbortOnDropHandle::new(watch) }
    }

    /// Has Ctrl-C stop what is begun now, as it is stopped when nothing can be printed any more.
    pub(crate) fn begin(&self) -> Interruptible {
        let token = cut_off().child_token();
        *lock(&self.current) = Some(token.clone());
        Interruptible { current: Arc::clone(&self.current), token }
    }

    /// Is cancelled by Ctrl-C while nothing is done.
    pub(crate) fn idle(&self) -> &CancellationToken {
        &self.idle
    }
}

impl Interruptible {
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        *lock(&self.current) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
