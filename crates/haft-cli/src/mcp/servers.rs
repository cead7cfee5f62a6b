use super::eras::EraFiles;
use super::files::{Known, McpFiles, Untrusted, pins};
use crate::exit::UsageError;
use crate::opened_workdir::OpenedWorkdir;
use crate::own_tools;
use crate::progress::Working;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use haft::Workdir;
use haft::mcp::{FileCredentials, McpServer, McpServers, McpServersBuilder, Root};
use haft::tools_core::Catalog;
use haft::workdir::RootAccess;
use std::path::Path;

/// Says to a server how deep it is below the command that a person has started.
const DEPTH: &str = "HAFT_SERVER_DEPTH";

/// A server that is this command, and reads the configuration which names it, would start itself without end.
const MOST_DEPTH: u32 = 2;

/// Holds servers that are being used, with their tools.
pub(super) struct Running {
    pub(super) opened: OpenedWorkdir,
    pub(super) servers: McpServers,
    pub(super) catalog: Catalog,
}

impl Running {
    /// Starts servers, all that may be by default, and reads their tools; one that fails takes no other down.
    pub(super) async fn start(workdir: Option<&Path>, names: &[String]) -> Result<Self> {
        let running = Self::configured(workdir, names)?;
        let _working = Working::on("starting the servers");
        running.catalog.refresh().await;
        Ok(running)
    }

    /// Sets servers up, all that may be started by default, and starts none.
    pub(super) fn configured(workdir: Option<&Path>, names: &[String]) -> Result<Self> {
        let mut opened = OpenedWorkdir::of(workdir, Vec::new())?;
        let files = opened.configuration.servers?;
        files.print_notes();
        for name in names {
            check(&files, name)?;
        }
        let chosen = files
            .startable()
            .filter(|known| names.is_empty() || names.iter().any(|name| name == known.config.name.as_str()));
        let (servers, catalog) = set_up(&opened.workdir, chosen)?;
        opened.configuration.servers = Ok(files);
        Ok(Self { opened, servers, catalog })
    }

    /// Gives a server that was asked for by its name.
    ///
    /// What may not be started was refused before, so that only servers are missing that are left out as too deep.
    pub(super) fn server(&self, name: &str) -> Result<&McpServer> {
        self.servers.get(name).with_context(|| {
            UsageError(format!(
                "the server `{name}` is left out, as the note says; run this in a shell of your own"
            ))
        })
    }
}

/// Makes servers, none of which is started before the catalog is refreshed.
pub(super) fn set_up<'a>(
    workdir: &Workdir,
    chosen: impl Iterator<Item = &'a Known>,
) -> Result<(McpServers, Catalog)> {
    let catalog = Catalog::builder().build()?;
    Ok((attach(workdir, McpServers::builder(), chosen, &catalog)?, catalog))
}

/// Makes servers, and adds their tools behind those of a catalog.
pub(super) fn attach<'a>(
    workdir: &Workdir,
    builder: McpServersBuilder,
    chosen: impl Iterator<Item = &'a Known>,
    catalog: &Catalog,
) -> Result<McpServers> {
    let state = UserDirectories::from_environment().state()?.join("mcp-eras");
    attach_with(workdir, builder.pins(pins()?).eras(EraFiles::new(state)), chosen, catalog)
}

/// As [`attach`], for a builder that knows where it is kept what servers were found to be.
pub(super) fn attach_with<'a>(
    workdir: &Workdir,
    builder: McpServersBuilder,
    chosen: impl Iterator<Item = &'a Known>,
    catalog: &Catalog,
) -> Result<McpServers> {
    // They cannot be told of a directory that it is for reading only.
    let others = workdir.other_roots().into_iter().filter(|(_, access)| *access == RootAccess::ReadWrite);
    let roots = std::iter::once(workdir.root_path()).chain(others.map(|(path, _)| path));
    let roots: Vec<Root> = roots.filter_map(Root::directory).collect();
    let directories = UserDirectories::from_environment();
    let state = directories.state()?;
    let depth = depth();
    let is_too_deep = depth >= MOST_DEPTH;
    let mut chosen = chosen.peekable();
    if is_too_deep && chosen.peek().is_some() {
        let message = "the MCP servers are left out: this haft was itself started as a server, by one that was; remove \
                       what starts `haft serve` from the configuration that it reads, or give it `--no-mcp`";
        crate::exit::note(&UsageError(message.to_owned()));
    }
    let builder = builder
        .environment(own_tools::environment().with(DEPTH, (depth + 1).to_string())?)
        .credentials(FileCredentials::new(state.join("mcp-logins")))
        .roots(roots)
        .asking_people();
    let chosen = chosen.filter(|_| !is_too_deep);
    let servers = chosen.fold(builder, |builder, known| builder.server(known.config.clone())).build()?;
    for source in servers.sources() {
        catalog.attach(source)?;
    }
    Ok(servers)
}

/// Tells how many of those before this process, each started as a server by the one before it, are this command.
fn depth() -> u32 {
    std::env::var(DEPTH).ok().and_then(|depth| depth.parse().ok()).unwrap_or_default()
}

/// Says why a server cannot be started, if it cannot.
fn check(files: &McpFiles, name: &str) -> Result<()> {
    let is_of = |names: &[String]| names.iter().any(|known| known == name);
    if files.startable().any(|known| known.config.name.as_str() == name) {
        return Ok(());
    }
    let untrusted = files.untrusted.iter().find(|server| server.name == name);
    let message = if let Some(Untrusted { file, .. }) = untrusted {
        let (file, trusted_by) = (file.name(), file.trusted_by());
        format!("`{name}` is of `{file}`, which is not trusted; look at it, then run `{trusted_by}`")
    } else if is_of(&files.refused) {
        format!("something is wrong with the configuration of `{name}`; correct it as the note says")
    } else if is_of(&files.disabled) {
        format!("`{name}` is disabled; remove `disabled` from its configuration")
    } else {
        let names = files.servers.iter().map(|known| known.config.name.as_str());
        let near = haft::tools_core::listed(haft::tools_core::nearest(name, names), "or");
        let instead = if near.is_empty() {
            "`haft mcp list` has those there are".to_owned()
        } else {
            format!("did you mean {near}?")
        };
        format!("there is no server `{name}`; {instead}")
    };
    Err(UsageError(message).into())
}
