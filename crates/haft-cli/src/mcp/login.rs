use super::arguments::LoginOptions;
use super::servers::Running;
use super::status;
use crate::exit::Exit;
use crate::interrupt::cancel_on_interrupt;
use crate::paint::{GOOD, NAME, QUIET};
use crate::timeline::visible;
use anyhow::Result;
use haft::mcp::{McpServer, ServerState};
use std::time::Duration;
use tokio::time::timeout;

/// How long is waited for a person to log in.
const LOGIN: Duration = Duration::from_mins(10);

/// Says where to log in to a server that wants it, and waits until that is done.
pub(super) async fn login(options: &LoginOptions) -> Result<Exit> {
    let names = std::slice::from_ref(&options.server);
    let running = Running::start(options.workdir.as_deref(), names).await?;
    let server = running.server(&options.server)?;
    let exit = log_in(server, options.no_wait).await;
    running.servers.stop().await;
    exit
}

async fn log_in(server: &McpServer, is_brief: bool) -> Result<Exit> {
    let found = server.status();
    match found.state {
        ServerState::NeedsLogin => {}
        ServerState::Ready | ServerState::Degraded => {
            outln!("{NAME}{}{NAME:#} wants no login now", found.name);
            return Ok(Exit::Done);
        }
        _ => {
            status::print(&found);
            return Ok(Exit::Failed);
        }
    }
    let url = server.log_in().await?;
    outln!("Open this address in a browser:\n{NAME}{}{NAME:#}", visible(&url));
    if is_brief {
        let name = server.name();
        outln!("Nobody waits for you to come back from there; run `haft mcp login {name}` to log in.");
        return Ok(Exit::Waiting);
    }
    outln!("{QUIET}waiting for the login, for 10 minutes at most; Ctrl-C ends it{QUIET:#}");
    let (interrupted, _watch) = cancel_on_interrupt();
    let is_settled = |state| !matches!(state, ServerState::NeedsLogin | ServerState::Starting);
    let waiting = timeout(LOGIN, server.wait_for(|status| is_settled(status.state)));
    let settled = tokio::select! {
        settled = waiting => settled.ok(),
        failed = server.login_failed() => return Err(failed.into()),
        () = interrupted.cancelled() => None,
    };
    match settled {
        None => {
            errln!("nobody has logged in; try again with `haft mcp login {}`", server.name());
            Ok(Exit::Failed)
        }
        Some(status) if matches!(status.state, ServerState::Ready | ServerState::Degraded) => {
            outln!("{GOOD}logged in{GOOD:#} to {NAME}{}{NAME:#}, which is ready", status.name);
            Ok(Exit::Done)
        }
        Some(status) => {
            status::print(&status);
            Ok(Exit::Failed)
        }
    }
}
