use crate::printed::cut_off;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Cancels on Ctrl-C, and when nothing can be printed any more; a second one ends the process at once, for when cancelling itself hangs.
pub(crate) fn cancel_on_interrupt() -> (CancellationToken, AbortOnDropHandle<()>) {
    let token = cut_off().child_token();
    let cancel = token.clone();
    let task = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        errln!("\nstopping; press Ctrl-C again to stop at once");
        cancel.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            #[expect(clippy::exit, reason = "the person asked twice to stop at once")]
            std::process::exit(130);
        }
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
        let watch = tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                let begun = lock(&watched).clone();
                match begun {
                    None => unused.cancel(),
                    Some(token) if token.is_cancelled() => {
                        std::process::exit(130);
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
