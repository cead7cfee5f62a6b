use anyhow::{Context as _, Result};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::task::AbortOnDropHandle;

/// Says on the standard error how many tasks there are, whenever `SIGUSR1` asks; dropped, it does not any more.
pub(super) fn on_signals() -> Result<AbortOnDropHandle<()>> {
    let mut asked = signal(SignalKind::user_defined1()).context("cannot wait for signals")?;
    Ok(AbortOnDropHandle::new(tokio::spawn(async move {
        while asked.recv().await.is_some() {
            errln!("Tasks: {}", Handle::current().metrics().num_alive_tasks());
        }
    })))
}
