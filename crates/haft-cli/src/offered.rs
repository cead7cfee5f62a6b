//! Tools that a person has configured, beside those of this command.

use crate::arguments::ToolsOptions;
use crate::config::{Settings, narrowed};
use crate::mcp::named::KnownServers;
use crate::mcp::offered::{Offered, Remembered, Wanted};
use crate::openapi::named::KnownDocuments;
use crate::{mcp, openapi};
use anyhow::Result;
use haft::{Tool, ToolRegistry, Workdir};
use std::cell::OnceCell;
use std::sync::Arc;

/// Says which tools are wanted beside those of this command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WantedTools<'a> {
    /// Those of MCP servers.
    pub(crate) mcp: Wanted<'a>,
    /// Those of OpenAPI documents.
    pub(crate) openapi: Wanted<'a>,
}

impl<'a> WantedTools<'a> {
    /// Wants the same of both, but for what is left out.
    pub(crate) fn new(wanted: Wanted<'a>, no_mcp: bool, no_openapi: bool) -> Self {
        let unless = |left_out: bool| if left_out { Wanted::Nothing } else { wanted };
        Self { mcp: unless(no_mcp), openapi: unless(no_openapi) }
    }
}

/// Adds the tools that are wanted to those of this command, which keep their names, and leaves out those that `haft.toml`
/// does not choose.
pub(crate) async fn offer(
    workdir: &Workdir,
    tools: ToolRegistry,
    wanted: WantedTools<'_>,
) -> Result<(ToolRegistry, Offered)> {
    let (tools, servers) = mcp::offered::offer(workdir, tools, wanted.mcp).await?;
    let tools = openapi::offered::offer(workdir, tools, wanted.openapi).await?;
    Ok((narrowed(tools, &Settings::read(workdir)?.select), servers))
}

/// As [`offer`] of all that are not left out, for whoever only lists the tools.
pub(crate) async fn list(
    workdir: &Workdir,
    tools: ToolRegistry,
    options: &ToolsOptions,
) -> Result<(ToolRegistry, Offered, Remembered)> {
    let (tools, servers, mut remembered) = if options.no_mcp {
        (tools, Offered::default(), Remembered::default())
    } else {
        mcp::offered::list(workdir, tools, options.refresh).await?
    };
    let wanted = if options.no_openapi { Wanted::Nothing } else { Wanted::All };
    let tools = openapi::offered::offer(workdir, tools, wanted).await?;
    let select = Settings::read(workdir)?.select;
    remembered.tools.retain(|spec| select.iter().all(|selector| selector.matches(spec)));
    Ok((narrowed(tools, &select), servers, remembered))
}

/// Knows the tools that are configured by their names, and reads what is configured when it is first asked.
pub(crate) struct NamedTools<'a> {
    workdir: &'a Workdir,
    known: OnceCell<(KnownServers, KnownDocuments)>,
}

impl<'a> NamedTools<'a> {
    pub(crate) fn new(workdir: &'a Workdir) -> Self {
        Self { workdir, known: OnceCell::new() }
    }

    /// Gives what stands for a tool.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let read = || (KnownServers::read(self.workdir), KnownDocuments::read(self.workdir));
        let (servers, documents) = self.known.get_or_init(read);
        let of_server = servers.tool(name).map(|tool| Arc::new(tool) as Arc<dyn Tool>);
        of_server.or_else(|| documents.tool(name))
    }
}
