use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Cancels on Ctrl-C; a second one ends the process at once, for when cancelling itself hangs.
pub(crate) fn cancel_on_interrupt() -> (CancellationToken, AbortOnDropHandle<()>) {
    let token = CancellationToken::new();
    let cancel = token.clone();
    let task = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        anstream::eprintln!("\nstopping; press Ctrl-C again to stop at once");
        cancel.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            #[expect(clippy::exit, reason = "the person asked twice to stop at once")]
            std::process::exit(130);
        }
    });
    (token, AbortOnDropHandle::new(task))
}
