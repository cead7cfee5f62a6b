//! The tools by which a model starts runs and looks after them.

mod cancel_agent;
mod delegate;
mod list_agents;
mod outcome;
mod send_agent;
mod wait_agents;

pub(crate) use outcome::news;

use crate::supervisor::{House, WeakSupervisor};
use haft_agent::DelegateAgents;
use haft_core::{Origin, Schema, ToolError, ToolHints, ToolName, ToolSpec};
use haft_tools_core::{RegistryError, Selector, Tool, ToolRegistry};
use serde_json::Value;
use std::sync::Arc;

/// Tells whether a tool is of no use to a run that may not delegate.
pub(crate) fn of_delegation(name: &str) -> bool {
    let of_changes = ["show_changes", "apply_changes"];
    let of_runs = [DelegateAgents::NAME, "wait_agents", "send_agent", "cancel_agent", "list_agents"];
    of_runs.contains(&name) || of_changes.contains(&name)
}

/// The names of the tools whose calls find what they began, so that they can be made again.
pub(crate) const MADE_AGAIN: [&str; 2] = [DelegateAgents::NAME, "wait_agents"];

/// The names of the tools whose calls say something new each time, though nothing is asked anew.
pub(crate) const MAY_REPEAT: [&str; 2] = ["wait_agents", "list_agents"];

pub(crate) fn registry(supervisor: &WeakSupervisor, house: &House) -> Result<ToolRegistry, RegistryError> {
    let tools: [Arc<dyn Tool>; 5] = [
        Arc::new(delegate::Delegate::new(supervisor, house)),
        Arc::new(wait_agents::WaitAgents::new(supervisor)),
        Arc::new(send_agent::SendAgent::new(supervisor)),
        Arc::new(cancel_agent::CancelAgent::new(supervisor)),
        Arc::new(list_agents::ListAgents::new(supervisor)),
    ];
    ToolRegistry::of(tools)
}

/// Chooses the tools that reach nothing but runs of the same tree.
pub(crate) fn looking_after() -> Selector {
    let names = "wait_agents, send_agent, cancel_agent, list_agents, report";
    names.parse().expect("the names of tools are a selector")
}

fn spec(name: &str, title: &str, description: impl Into<String>, input: Schema) -> ToolSpec {
    ToolSpec::new(ToolName::project(name), description, input)
        .with_title(title)
        .with_origin(Origin::Builtin)
        .with_hints(ToolHints::default())
}

/// Tells a model that the program which drives agents has given that up.
fn closed() -> ToolError {
    ToolError::unavailable("this program drives no agents any more; do it yourself")
}

pub(crate) fn schema(value: Value) -> Schema {
    Schema::new(value).expect("the schema of a tool's input is an object")
}
