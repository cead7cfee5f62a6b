use async_trait::async_trait;
use haft_agent::RunHandle;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, parse_input};
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "Gives the result of your task and ends it: call it once, when all is done. The result is a text, or the \
    JSON object that you were asked for.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    result: Value,
}

/// Makes the tool `report`, by which a run that another one started gives its result and ends.
///
/// [`AgentRunner`](crate::AgentRunner) gives it to every run. A run that says its result as its last message needs it not. It
/// declares no accesses: a policy that does not allow what no rule speaks of has to allow it by name.
///
/// ```
/// use haft_subagents::report;
/// use haft_tools_core::{Policy, Rule, ToolRegistry};
///
/// let tools = ToolRegistry::new().with(report())?;
/// let policy = Policy::new().allow(Rule::tools("report".parse()?));
/// # let _ = (tools, policy);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn report() -> impl Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "result": {
                "type": ["string", "object"],
                "description": "The result: a text, or the JSON object that was asked for.",
            },
        },
        "required": ["result"],
        "additionalProperties": false,
    });
    let spec = ToolSpec::new(ToolName::project("report"), DESCRIPTION, crate::tools::schema(input))
        .with_title("Report the result")
        .with_origin(Origin::Builtin)
        .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() });
    Report { spec }
}

struct Report {
    spec: ToolSpec,
}

impl Tool for Report {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let Input { result } = parse_input(input)?;
        let text = match result {
            Value::String(text) => text,
            other => other.to_string(),
        };
        if text.trim().is_empty() {
            return Err(ToolError::invalid_input("the result is empty; write what came out"));
        }
        Ok(Prepared::new(Accesses::none(), Conclude(text)))
    }
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
