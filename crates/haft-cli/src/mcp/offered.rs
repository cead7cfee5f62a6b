use super::files::{Known, McpFiles};
use super::listed::ListedTools;
use super::servers::{attach, set_up};
use crate::exit;
use crate::paint::ASKS;
use crate::progress::Working;
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use anyhow::Result;
use haft::core::ToolSpec;
use haft::mcp::{ClientSampler, McpServers, ServerState, ServerStatus};
use haft::tools_core::{Catalog, CollisionPolicy};
use haft::{ToolRegistry, Workdir};

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
pub(crate) struct Offered(pub(super) Option<McpServers>);

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
pub(crate) fn offer_live(workdir: &Workdir, servers: &Result<McpFiles>, catalog: &Catalog) -> Offered {
    if !has_a_place() {
        return Offered::default();
    }
    let Some(files) = told(servers) else { return Offered::default() };
    let builder = McpServers::builder().sampler(ClientSampler::new());
    let mut startable = files.startable().peekable();
    let attached = startable.peek().is_some().then(|| attach(workdir, builder, startable, catalog));
    match attached.transpose() {
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
    servers: &Result<McpFiles>,
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
    let is_wanted = |known: &&Known| server.is_none_or(|server| server == known.config.name.as_str());
    let Some(files) = told(servers) else { return Ok((tools, Offered::default())) };
    let chosen: Vec<&Known> = files.startable().filter(is_wanted).collect();
    start(workdir, &chosen, tools.clone()).await.or_else(|error| {
        exit::note(error.as_ref());
        Ok((tools, Offered::default()))
    })
}

/// Is the tools of servers that need not be started to be listed.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    pub(crate) tools: Vec<ToolSpec>,
    /// Since when the first of them is known, in milliseconds since the Unix epoch.
    pub(crate) since_ms: Option<u64>,
}

/// As [`offer`] of all servers, for whoever only lists the tools: servers are started that have not listed theirs lately, or all
/// if that is wanted.
pub(crate) async fn list(
    workdir: &Workdir,
    servers: &Result<McpFiles>,
    tools: ToolRegistry,
    asks_all: bool,
) -> Result<(ToolRegistry, Offered, Remembered)> {
    let mut remembered = Remembered::default();
    if !has_a_place() {
        return Ok((tools, Offered::default(), remembered));
    }
    let Some(files) = told(servers) else { return Ok((tools, Offered::default(), remembered)) };
    let listed = ListedTools::open()?;
    let mut unknown = Vec::new();
    for known in files.startable() {
        match listed.of(known).filter(|_| !asks_all) {
            Some((at_ms, tools)) => {
                remembered.tools.extend(tools);
                remembered.since_ms = Some(remembered.since_ms.map_or(at_ms, |since| since.min(at_ms)));
            }
            None => unknown.push(known),
        }
    }
    let (tools, servers) = start(workdir, &unknown, tools).await?;
    remembered.tools.retain(|spec| tools.get(spec.name().as_str()).is_none());
    Ok((tools, servers, remembered))
}

/// Says what is wrong or odd in the files, and gives the servers if they are known.
fn told(servers: &Result<McpFiles>) -> Option<&McpFiles> {
    match servers {
        Ok(files) => {
            files.print_notes();
            Some(files)
        }
        Err(error) => {
            exit::note(error.as_ref());
            None
        }
    }
}

/// Starts servers, and adds their tools to others, which keep their names.
async fn start(workdir: &Workdir, chosen: &[&Known], tools: ToolRegistry) -> Result<(ToolRegistry, Offered)> {
    if chosen.is_empty() {
        return Ok((tools, Offered::default()));
    }
    let (servers, catalog) = set_up(workdir, chosen.iter().copied())?;
    let working = Working::on("starting the servers");
    catalog.refresh().await;
    drop(working);
    let found = catalog.snapshot();
    ListedTools::open()?.remember(chosen.iter().copied(), &servers, &found);
    let servers = Offered(Some(servers));
    servers.print_notes();
    let tools = tools.merge(&found, CollisionPolicy::KeepFirst)?;
    Ok((tools, servers))
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
    errln!("{ASKS}note{ASKS:#}: the MCP server `{name}` is left out: {reason}{advice}");
}
