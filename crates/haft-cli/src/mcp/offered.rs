use super::files::McpFiles;
use super::servers::{attach, set_up};
use crate::exit;
use crate::paint::ASKS;
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use anyhow::Result;
use haft::mcp::{ClientSampler, McpServers, ServerState, ServerStatus};
use haft::{Catalog, CollisionPolicy, ToolRegistry, Workdir};

/// Says which MCP servers' tools are wanted beside those of this command.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// None.
    Nothing,
    /// Those of all servers that may be started.
    All,
    /// Those of the server that has the tool of this name.
    Of(&'a str),
}

/// Is the servers that were started for their tools; they end when this is dropped at the latest.
#[derive(Debug, Default)]
pub(crate) struct Offered(Option<McpServers>);

impl Offered {
    /// Ends the servers, and waits until they are gone.
    pub(crate) async fn stop(&self) {
        if let Some(servers) = &self.0 {
            servers.stop().await;
        }
    }

    /// Says on standard error of which servers the tools are missing, and why.
    pub(crate) fn print_notes(&self) {
        self.0.iter().flat_map(McpServers::statuses).for_each(|status| note(&status));
    }
}

/// Adds the tools of all servers that may be started behind those of a catalog, which come as it is refreshed.
///
/// The turns of a model that they want are taken by the clients that are served. Servers are told of the directory that is
/// worked in whatever directories a client tells of, since some servers work wherever they are told to.
///
/// What is wrong with a server is said on standard error, and stands in the way of nothing else.
pub(crate) fn offer_live(workdir: &Workdir, catalog: &Catalog) -> Offered {
    if !has_a_place() {
        return Offered::default();
    }
    let builder = McpServers::builder().sampler(ClientSampler::new());
    let attached = McpFiles::read(workdir).and_then(|files| {
        files.print_notes();
        let mut startable = files.startable().peekable();
        startable.peek().is_some().then(|| attach(workdir, builder, startable, catalog)).transpose()
    });
    match attached {
        Ok(servers) => Offered(servers),
        Err(error) => {
            exit::note(error.as_ref());
            Offered::default()
        }
    }
}

/// Tells whether a user has a place of their own: without it they have no servers, and trust none.
fn has_a_place() -> bool {
    let directories = UserDirectories::from_environment();
    directories.config().is_some() && directories.state().is_ok()
}

/// Adds the tools of servers that are wanted to those of this command, which keep their names.
///
/// What is wrong with a server is said on standard error, and stands in the way of nothing else.
pub(crate) async fn offer(
    workdir: &Workdir,
    tools: ToolRegistry,
    wanted: Wanted<'_>,
) -> Result<(ToolRegistry, Offered)> {
    let server = match wanted {
        Wanted::Nothing => return Ok((tools, Offered::default())),
        Wanted::All => None,
        Wanted::Of(tool) => match tool.split_once("__") {
            Some((server, _)) if tools.get(tool).is_none() => Some(server),
            _ => return Ok((tools, Offered::default())),
        },
    };
    if !has_a_place() {
        return Ok((tools, Offered::default()));
    }
    let (servers, catalog) = match look(workdir, server) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok((tools, Offered::default())),
        Err(error) => {
            exit::note(error.as_ref());
            return Ok((tools, Offered::default()));
        }
    };
    catalog.refresh().await;
    let servers = Offered(Some(servers));
    servers.print_notes();
    let tools = tools.merge(&catalog.snapshot(), CollisionPolicy::KeepFirst)?;
    Ok((tools, servers))
}

/// Finds the servers, or the one of this name, if there are any.
fn look(workdir: &Workdir, server: Option<&str>) -> Result<Option<(McpServers, Catalog)>> {
    let files = McpFiles::read(workdir)?;
    files.print_notes();
    let is_wanted = |name: &str| server.is_none_or(|server| server == name);
    let chosen: Vec<_> = files.startable().filter(|known| is_wanted(known.config.name.as_str())).collect();
    if chosen.is_empty() {
        return Ok(None);
    }
    Ok(Some(set_up(workdir, chosen.into_iter())?))
}

/// Says in one line why the tools of a server are missing, if they are.
fn note(status: &ServerStatus) {
    let is_usable = matches!(status.state, ServerState::Ready | ServerState::Degraded);
    let Some(reason) = status.reason.as_ref().filter(|_| !is_usable || status.tools == 0) else { return };
    let name = &status.name;
    let reason = visible(&reason.lines().collect::<Vec<_>>().join(" / "));
    let advice = match status.state {
        ServerState::NeedsLogin => format!("; run `haft mcp login {name}`"),
        _ => String::new(),
    };
    anstream::eprintln!("{ASKS}note{ASKS:#}: the MCP server `{name}` is left out: {reason}{advice}");
}
