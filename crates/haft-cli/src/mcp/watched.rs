//! What a page shows of servers that run: how each is doing, and which of its tools are held back.

use super::files::pins;
use super::offered::Offered;
use super::waiting::{Change, Waiting};
use anyhow::{Context as _, Result, bail};
use haft::mcp::{McpServer, McpServers, PinStore as _, ServerIdentity, ServerStatus};
use std::fmt::Write as _;

/// Is a tool that nobody may call until a person has accepted it as it is now.
#[derive(Debug)]
pub(crate) struct HeldBack {
    pub(crate) server: String,
    pub(crate) tool: String,
    /// By what it is accepted.
    pub(crate) digest: String,
    pub(crate) why: String,
    /// What it was and is, line by line; `None` where that is too much to be looked at on a page.
    pub(crate) changes: Option<String>,
}

impl Offered {
    /// Says how each server is doing.
    pub(crate) fn statuses(&self) -> Vec<ServerStatus> {
        self.0.iter().flat_map(McpServers::statuses).collect()
    }

    /// Marks the state of all servers and of what is held back of them: it is another one after each change.
    pub(crate) fn mark(&self) -> String {
        let mut mark = String::new();
        for server in self.servers() {
            let status = server.status();
            let _ = write!(mark, "{} {} {} {:?};", status.name, status.state, status.tools, status.reason);
            for tool in server.quarantined() {
                let _ = write!(mark, "{} {};", tool.name, tool.digest);
            }
        }
        mark
    }

    /// Lists the tools that are held back until a person accepts them.
    pub(crate) fn held_back(&self) -> Result<Vec<HeldBack>> {
        let mut held = Vec::new();
        for server in self.servers() {
            for tool in waiting(server)? {
                let changes = tool.can_be_shown().then(|| tool.changes().iter().map(written).collect());
                held.push(HeldBack {
                    server: server.config().name.to_string(),
                    digest: tool.digest.to_string(),
                    why: tool.why().to_owned(),
                    changes,
                    tool: tool.name,
                });
            }
        }
        Ok(held)
    }

    /// Accepts the tool of a server that was shown with this digest, and has the server's tools read again; gives its name, or
    /// `None` where the server is none of these.
    ///
    /// # Errors
    ///
    /// When it is not what the server says now.
    pub(crate) fn accept(&self, server: &str, digest: &str) -> Result<Option<String>> {
        let Some(server) = self.servers().find(|known| known.config().name.as_str() == server) else {
            return Ok(None);
        };
        let changed = "the tool has changed since it was shown, or waits no more; look at it again";
        let waiting = waiting(server)?;
        let tool = waiting.iter().find(|tool| tool.digest.to_string() == digest).context(changed)?;
        if !pins()?.accept(&ServerIdentity::of(server.config()), &tool.name, tool.digest)? {
            bail!(changed);
        }
        server.refresh();
        Ok(Some(tool.name.clone()))
    }

    fn servers(&self) -> impl Iterator<Item = &McpServer> {
        self.0.iter().flat_map(McpServers::iter)
    }
}

/// Puts together what waits of a server.
fn waiting(server: &McpServer) -> Result<Vec<Waiting>> {
    let kept = pins()?.read(&ServerIdentity::of(server.config()))?.unwrap_or_default();
    Ok(Waiting::of(&kept, &server.quarantined()))
}

fn written(change: &Change) -> String {
    let Change { member, sign, line } = change;
    format!("{sign} {member}: {line}\n")
}
