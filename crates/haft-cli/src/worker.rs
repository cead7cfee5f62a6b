//! `haft worker`: makes calls with the tools of this command, as an engine tells it to.

mod arguments;
#[cfg(feature = "restate")]
mod bench;
mod stage;

pub(crate) use arguments::WorkerOptions;
#[cfg(feature = "restate")]
pub(crate) use bench::WorkerBench;
pub(crate) use stage::WorkerStage;

use crate::cluster;
use crate::exit::{Exit, UsageError};
use anyhow::Result;

/// Works until the process is told to stop.
pub(crate) async fn worker(options: WorkerOptions) -> Result<Exit> {
    if options.identity_key.is_none() && !options.listen.ip().is_loopback() {
        let message = format!(
            "others can reach `{}` and have calls made; give the key of the engine that may with `--identity-key`, or listen at 127.0.0.1",
            options.listen
        );
        return Err(UsageError(message).into());
    }
    if options.admin.is_some() && options.address.is_none() && options.listen.ip().is_unspecified() {
        let message = format!(
            "an engine cannot reach a worker at `{}`; give the address at which it does with `--address`",
            options.listen
        );
        return Err(UsageError(message).into());
    }
    cluster::work(options).await
}
