use super::Refusal;
use crate::ToolRegistry;
use crate::nearest::listed;
use crate::registry::Entry;
use haft_core::{ErrorKind, Exposure, ReplyStatus, ToolCall, ToolSpec};
use std::sync::Arc;

/// The most tools that are listed where none is near.
const MOST_LISTED: usize = 20;

/// Finds the tool that a call names, by its name or an alias, and its place in the registry.
pub(super) fn resolve<'a>(
    registry: &'a ToolRegistry,
    call: &ToolCall,
) -> Result<(usize, &'a Arc<Entry>), Refusal> {
    registry.find(&call.name).ok_or_else(|| {
        Refusal::new(ReplyStatus::Error(ErrorKind::UnknownTool), unknown(registry, &call.name))
    })
}

fn unknown(registry: &ToolRegistry, name: &str) -> String {
    let wrong = match shown(name) {
        shown if shown.trim().is_empty() => "the call names no tool".to_owned(),
        shown => format!("there is no tool `{shown}`"),
    };
    let near = registry.nearest(name);
    if !near.is_empty() {
        return format!("{wrong}; did you mean {}?", listed(near, "or"));
    }
    let direct = registry.direct_specs();
    // Those that are only found by a search are not listed.
    let is_found = |spec: &ToolSpec| spec.exposure() == Exposure::Deferred;
    let found = if registry.iter().any(is_found) { ", and those that a search for tools finds" } else { "" };
    match direct.len() {
        0 => format!("{wrong}, and there are no others; answer without tools"),
        1 if found.is_empty() => {
            let name = direct[0].name();
            format!("{wrong}; the only tool is `{name}`")
        }
        1..=MOST_LISTED => {
            let names = listed(direct.iter().map(|spec| spec.name().as_str()), "and");
            format!("{wrong}; the tools are {names}{found}")
        }
        _ => format!("{wrong}; use one of the tools you were given"),
    }
}

/// Cuts what a model wrote to what is worth repeating, on one line.
fn shown(name: &str) -> String {
    let mut characters = name.chars().map(|character| if character.is_control() { ' ' } else { character });
    let mut shown: String = characters.by_ref().take(80).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}
