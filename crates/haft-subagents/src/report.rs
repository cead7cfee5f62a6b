//! The tool by which a run ends its task.

use crate::AgentSpec;
use async_trait::async_trait;
use haft_agent::RunHandle;
use haft_core::{Origin, Schema, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool};
use serde_json::{Value, json};

/// Makes the tool `report`, by which an agent gives its result and ends its run.
///
/// Its arguments are the result itself where the agent has a [schema](AgentSpec::output) for it, so that the executor checks
/// them as it does those of any call; otherwise it takes one text, `result`. Once all calls of the turn are answered the run is
/// over, as completed, with that as what it said last. It declares no accesses, so a policy lets it run by naming it. In a run
/// that no [`haft_agent::Agent`] drives it says that the result has to be said instead.
///
/// ```
/// use haft_subagents::{AgentSpec, report};
/// use haft_tools_core::{Tool, ToolRegistry};
///
/// let spec = AgentSpec::new("reader".parse()?, "Finds things.");
/// let tools = ToolRegistry::new().with(report(&spec))?;
/// assert!(tools.get("report").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn report(spec: &AgentSpec) -> impl Tool {
    let (input, is_data) = match &spec.output {
        Some(schema) => (schema.clone(), true),
        None => (text_schema(), false),
    };
    let description = if is_data {
        "Gives the result of your task and ends it: the arguments are the result. Call it once, when you are done, and nothing \
         beside it."
    } else {
        "Gives the result of your task and ends it. Call it once, when you are done, and nothing beside it; whoever gave you \
         the task reads nothing else of what you did."
    };
    let spec = ToolSpec::new(ToolName::project("report"), description, input)
        .with_title("Report")
        .with_origin(Origin::Builtin)
        .with_hints(ToolHints { read_only: true, ..ToolHints::default() });
    Report { spec, is_data }
}

fn text_schema() -> Schema {
    let schema = json!({
        "type": "object",
        "properties": { "result": { "type": "string", "minLength": 1, "description": "The result, in full." } },
        "required": ["result"],
        "additionalProperties": false,
    });
    Schema::new(schema).unwrap_or_else(|_| Schema::empty())
}

struct Report {
    spec: ToolSpec,
    is_data: bool,
}

impl Tool for Report {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let text = match input.get("result").and_then(Value::as_str) {
            Some(text) if !self.is_data => text.to_owned(),
            _ => input.to_string(),
        };
        if text.trim().is_empty() {
            return Err(ToolError::invalid_input(
                "the result is empty; say what came out, or why nothing did",
            ));
        }
        Ok(Prepared::new(Accesses::none(), Reporting { text }))
    }
}

struct Reporting {
    text: String,
}

#[async_trait]
impl Action for Reporting {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Some(run) = RunHandle::of(cx.scope()) else {
            return Err(ToolError::failed(
                "this run is not ended by a call; say the result as your last message",
            ));
        };
        run.conclude(self.text).map_err(|error| {
            ToolError::failed("this run is over already; say the result as your last message")
                .with_source(error)
        })?;
        Ok(ToolOutput::text("reported"))
    }
}

#[cfg(test)]
mod tests;
