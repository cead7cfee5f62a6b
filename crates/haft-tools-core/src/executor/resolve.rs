use super::Refusal;
use crate::ToolRegistry;
use crate::nearest::listed;
use crate::registry::Entry;
use haft_core::{ErrorKind, ReplyStatus, ToolCall};
use std::sync::Arc;

/// The most tools that are listed where none is near.
const MOST_LISTED: usize = 20;

/// Finds the tool that a call names, by its name or an alias.
pub(super) fn resolve<'a>(registry: &'a ToolRegistry, call: &ToolCall) -> Result<&'a Arc<Entry>, Refusal> {
    registry.entry(&call.name).ok_or_else(|| {
        Refusal::new(ReplyStatus::Error(ErrorKind::UnknownTool), unknown(registry, &call.name))
    })
}

fn unknown(registry: &ToolRegistry, name: &str) -> String {
    let shown: String = name.chars().take(80).collect();
    let near = registry.nearest(name);
    if !near.is_empty() {
        return format!("there is no tool `{shown}`; did you mean {}?", listed(near, "or"));
    }
    let direct = registry.direct_specs();
    match direct.len() {
        0 => format!("there is no tool `{shown}`, and no other either; answer without tools"),
        1..=MOST_LISTED => {
            let names = listed(direct.iter().map(|spec| spec.name().as_str()), "and");
            format!("there is no tool `{shown}`; the tools are {names}")
        }
        _ => format!("there is no tool `{shown}`; use one of the tools you were given"),
    }
}
