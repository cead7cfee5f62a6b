use crate::AgentSpec;
use async_trait::async_trait;
use haft_agent::RunHandle;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, parse_input};
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "Gives the result of your task and ends it: call it once, when all is done.";

/// Makes the tool `report`, by which a run that another one started gives its result and ends.
///
/// Its input is what the agent's result [looks like](AgentSpec::output), so that a result which does not fit is answered like
/// any arguments that do not; for an agent that answers in text, it is one text.
///
/// [`AgentRunner`](crate::AgentRunner) gives it to every run. A run that says its result as its last message needs it not. It
/// declares no accesses: a policy that does not allow what no rule speaks of has to allow it by name.
///
/// ```
/// use haft_subagents::{AgentSpec, report};
/// use haft_tools_core::{Policy, Rule, ToolRegistry};
///
/// let explorer = AgentSpec::new("explorer".parse()?, "Finds where things are in the code.");
/// let tools = ToolRegistry::new().with(report(&explorer))?;
/// let policy = Policy::new().allow(Rule::tools("report".parse()?));
/// # let _ = (tools, policy);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn report(spec: &AgentSpec) -> impl Tool {
    let is_text = spec.output.is_none();
    let input = spec.output.clone().unwrap_or_else(|| {
        crate::tools::schema(json!({
            "type": "object",
            "properties": { "result": { "type": "string", "description": "The result.", "minLength": 1 } },
            "required": ["result"],
            "additionalProperties": false,
        }))
    });
    let spec = ToolSpec::new(ToolName::project("report"), DESCRIPTION, input)
        .with_title("Report the result")
        .with_origin(Origin::Builtin)
        .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() });
    Report { spec, is_text }
}

struct Report {
    spec: ToolSpec,
    is_text: bool,
}

impl Tool for Report {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        if !self.is_text {
            return Ok(Prepared::new(Accesses::none(), Conclude(input.to_string())));
        }
        let Text { result } = parse_input(input)?;
        if result.trim().is_empty() {
            return Err(ToolError::invalid_input("the result is empty; write what came out"));
        }
        Ok(Prepared::new(Accesses::none(), Conclude(result)))
    }
}

#[derive(Deserialize)]
struct Text {
    result: String,
}

struct Conclude(String);

#[async_trait]
impl Action for Conclude {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let over = || ToolError::failed("there is no run to end here; say the result as your last message");
        let run = RunHandle::of(cx.scope()).ok_or_else(over)?;
        run.conclude(self.0).map_err(|error| over().with_source(error))?;
        Ok(ToolOutput::text("the result is given"))
    }
}
