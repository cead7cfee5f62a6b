//! The tools by which a model starts runs and looks after them.

mod cancel_agent;
mod delegate;
mod list_agents;
mod outcome;
mod send_agent;
mod wait_agents;

pub(crate) use outcome::news;

use crate::supervisor::{House, WeakSupervisor};
use haft_core::{Origin, Schema, ToolError, ToolHints, ToolName, ToolSpec};
use haft_tools_core::{RegistryError, Tool, ToolRegistry};
use serde_json::Value;
use std::sync::Arc;

/// The names of the tools, which a run has none of where it may not delegate.
pub(crate) const NAMES: [&str; 5] = ["delegate", "wait_agents", "send_agent", "cancel_agent", "list_agents"];

/// The names of the tools whose calls find what they began, so that they can be made again.
pub(crate) const MADE_AGAIN: [&str; 2] = ["delegate", "wait_agents"];

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

/// Refuses a text of which nothing is left when blanks are taken away.
fn filled<'a>(text: &'a str, what: &str) -> Result<&'a str, ToolError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ToolError::invalid_input(format!("{what} is empty; write what is to be done")));
    }
    Ok(text)
}

pub(crate) fn schema(value: Value) -> Schema {
    Schema::new(value).expect("the schema of a tool's input is an object")
}
