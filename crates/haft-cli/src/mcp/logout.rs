use super::arguments::LogoutOptions;
use super::servers::Running;
use crate::exit::Exit;
use crate::paint::{GOOD, NAME};
use anyhow::Result;

/// Forgets the login to a server, which is not started for that.
pub(super) async fn logout(options: &LogoutOptions) -> Result<Exit> {
    let names = std::slice::from_ref(&options.server);
    let running = Running::configured(options.workdir.as_deref(), names)?;
    let server = running.server(&options.server)?;
    server.log_out().await?;
    outln!("{GOOD}logged out{GOOD:#} of {NAME}{}{NAME:#}", server.name());
    Ok(Exit::Done)
}
