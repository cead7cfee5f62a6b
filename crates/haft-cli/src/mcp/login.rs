use super::arguments::ServerOptions;
use super::servers::Running;
use super::status;
use crate::exit::Exit;
use crate::paint::NAME;
use crate::timeline::visible;
use anyhow::{Context as _, Result};
use haft::mcp::ServerState;

/// Says where to log in to a server that wants it, and waits until that is done.
pub(super) async fn login(options: &ServerOptions) -> Result<Exit> {
    let running = Running::start(options.workdir.as_deref(), std::slice::from_ref(&options.server)).await?;
    let server = running.servers.get(&options.server).context("the server was chosen")?;
    let found = server.status();
    let exit = match (found.state, &found.login_url) {
        (ServerState::NeedsLogin, Some(url)) => {
            anstream::println!("Open this address in a browser:\n{NAME}{}{NAME:#}", visible(url));
            Exit::Waiting
        }
        (ServerState::Ready | ServerState::Degraded, _) => {
            anstream::println!("{} wants no login.", found.name);
            Exit::Done
        }
        _ => {
            status::print(&found);
            Exit::Failed
        }
    };
    running.servers.stop().await;
    Ok(exit)
}
