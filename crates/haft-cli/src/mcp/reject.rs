use super::arguments::RejectOptions;
use super::files::pins;
use super::servers::Running;
use crate::exit::{Exit, UsageError};
use crate::paint::{BAD, NAME};
use crate::printed::print_json;
use crate::timeline::visible;
use anyhow::Result;
use haft::mcp::{PinStore as _, ServerIdentity};
use schemars::JsonSchema;
use serde::Serialize;

/// Accepts tools of a server no more, which is not started for that.
pub(super) fn reject(options: &RejectOptions) -> Result<Exit> {
    let names = std::slice::from_ref(&options.server);
    let running = Running::configured(options.workdir.as_deref(), names)?;
    let server = running.server(&options.server)?;
    let identity = ServerIdentity::of(server.config());
    let store = pins()?;
    let rejected: Vec<String> = if options.all {
        // What cannot be read is replaced all the same.
        let before = store.read(&identity).ok().flatten().unwrap_or_default();
        store.reject_all(&identity)?;
        before.accepted().keys().cloned().collect()
    } else {
        let before = store.read(&identity)?.unwrap_or_default();
        for tool in &options.tools {
            if !before.accepted().contains_key(tool) {
                let near = haft::tools_core::listed(
                    haft::tools_core::nearest(tool, before.accepted().keys().map(String::as_str)),
                    "or",
                );
                let instead = if near.is_empty() { String::new() } else { format!("; did you mean {near}?") };
                return Err(UsageError(format!("no tool `{tool}` is accepted{instead}")).into());
            }
        }
        store.change(&identity, &mut |pins| {
            for tool in &options.tools {
                pins.reject(tool);
            }
        })?;
        options.tools.clone()
    };
    if options.json {
        let told = rejected.into_iter().map(|tool| RejectedTool { tool, rejected: true });
        print_json(&told.collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    for tool in &rejected {
        outln!("{BAD}rejected{BAD:#} {NAME}{}{NAME:#}", visible(tool));
    }
    if options.all {
        outln!("No tool of `{}` is accepted; what it lists waits to be.", options.server);
    }
    Ok(Exit::Done)
}

/// A tool of a server that is accepted no more.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RejectedTool {
    /// The tool, as the server calls it.
    tool: String,
    /// Always so.
    rejected: bool,
}
