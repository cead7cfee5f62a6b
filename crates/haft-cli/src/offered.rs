//! Tools that a person has configured, beside those of this command.

use crate::arguments::ToolsOptions;
use crate::config::{Configuration, narrowed};
use crate::mcp::offered::{Offered, Remembered, Wanted};
use crate::opened_workdir::OpenedWorkdir;
use crate::{mcp, openapi};
use anyhow::Result;
use haft::{Tool, ToolRegistry};
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
    OpenedWorkdir { workdir, configuration, settings, .. }: &OpenedWorkdir,
    tools: ToolRegistry,
    wanted: WantedTools<'_>,
) -> Result<(ToolRegistry, Offered)> {
    let (tools, servers) = mcp::offered::offer(workdir, &configuration.servers, tools, wanted.mcp).await?;
    let tools = openapi::offered::offer(&configuration.documents, tools, wanted.openapi).await?;
    Ok((narrowed(tools, &settings.select), servers))
}

/// As [`offer`] of all that are not left out, for whoever only lists the tools.
pub(crate) async fn list(
    OpenedWorkdir { workdir, configuration, settings, .. }: &OpenedWorkdir,
    tools: ToolRegistry,
    options: &ToolsOptions,
) -> Result<(ToolRegistry, Offered, Remembered)> {
    let (tools, servers, mut remembered) = if options.no_mcp {
        (tools, Offered::default(), Remembered::default())
    } else {
        mcp::offered::list(workdir, &configuration.servers, tools, options.refresh).await?
    };
    let wanted = if options.no_openapi { Wanted::Nothing } else { Wanted::All };
    let tools = openapi::offered::offer(&configuration.documents, tools, wanted).await?;
    let select = &settings.select;
    remembered.tools.retain(|spec| select.iter().all(|selector| selector.matches(spec)));
    Ok((narrowed(tools, select), servers, remembered))
}

/// Gives what stands for a tool that is configured, by its name; what is wrong with servers and documents is told where they
/// are needed.
pub(crate) fn named_tool(configuration: &Configuration, name: &str) -> Option<Arc<dyn Tool>> {
    let of_server = configuration.servers.as_ref().ok().and_then(|servers| servers.named_tool(name));
    let of_document = || configuration.documents.as_ref().ok()?.named_tool(name);
    of_server.map(|tool| Arc::new(tool) as Arc<dyn Tool>).or_else(of_document)
}
