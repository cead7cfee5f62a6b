//! `haft mcp`: adds, lists, tries and trusts MCP servers, and calls their tools.

mod accept;
mod add;
pub(crate) mod arguments;
mod call;
mod eras;
mod files;
mod list;
mod listed;
mod login;
mod logout;
mod logs;
mod looked_at;
mod named;
pub(crate) mod offered;
mod reject;
mod remove;
mod secrets;
mod servers;
mod status;
mod tools;
mod trust;
mod unkept;
mod waiting;
pub(crate) mod watched;
mod way;

pub(crate) use files::{McpFiles, McpJson};
pub(crate) use list::ListedServers;
pub(crate) use logs::ServerLog;
pub(crate) use looked_at::{LookedAt, Servers};
pub(crate) use reject::RejectedTool;
pub(crate) use status::ServerReport;
pub(crate) use waiting::WaitingTool;
pub(crate) use way::{Lack, Way};

use crate::exit::Exit;
use anyhow::Result;
use arguments::McpCommand;

/// Does what one of the subcommands says.
pub(crate) async fn mcp(command: McpCommand) -> Result<Exit> {
    match command {
        McpCommand::Add(options) => add::add(&options),
        McpCommand::Remove(options) => remove::remove(&options).await,
        McpCommand::List(options) => list::list(&options),
        McpCommand::Status(options) => status::status(&options).await,
        McpCommand::Tools(options) => tools::tools(&options).await,
        McpCommand::Call(options) => call::call(options).await,
        McpCommand::Accept(options) => accept::accept(&options).await,
        McpCommand::Reject(options) => reject::reject(&options),
        McpCommand::Login(options) => login::login(&options).await,
        McpCommand::Logout(options) => logout::logout(&options).await,
        McpCommand::Logs(options) => logs::logs(&options).await,
        McpCommand::Trust(options) => trust::trust(&options),
        McpCommand::Untrust(options) => trust::untrust(&options),
    }
}

/// Lists what is wrong in what the files in force say of servers, and what of them is not used.
pub(crate) fn problems(servers: Result<McpFiles>) -> Result<(Vec<String>, Vec<String>)> {
    let McpFiles { notes, replaced, .. } = servers?;
    Ok((notes, replaced))
}
