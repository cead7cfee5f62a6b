use super::arguments::ServersOptions;
use super::servers::Running;
use super::status;
use crate::exit::Exit;
use crate::paint::{NAME, QUIET};
use crate::timeline::visible;
use anyhow::Result;
use haft::core::{Exposure, ToolSpec};
use haft::mcp::ServerState;

/// Starts servers and lists their tools.
pub(super) async fn tools(options: &ServersOptions) -> Result<Exit> {
    let running = Running::start(options.workdir.as_deref(), &options.servers).await?;
    let tools = running.catalog.snapshot();
    let statuses = running.servers.statuses();
    running.servers.stop().await;
    let specs: Vec<&ToolSpec> = tools.iter().filter(|spec| spec.exposure() != Exposure::Hidden).collect();
    if options.json {
        outln!("{}", serde_json::to_string_pretty(&specs)?);
    } else {
        let width = specs.iter().map(|spec| spec.name().as_str().len()).max().unwrap_or_default();
        for spec in &specs {
            let description = spec.description().lines().next().unwrap_or_default();
            let name = spec.name().as_str();
            outln!("{NAME}{name:width$}{NAME:#}  {QUIET}{}{QUIET:#}", visible(description));
        }
    }
    let mut exit = Exit::Done;
    for failed in statuses {
        if failed.state != ServerState::Ready {
            if !options.json {
                status::print(&failed);
            }
            if failed.state != ServerState::Degraded {
                exit = Exit::Failed;
            }
        }
    }
    Ok(exit)
}
