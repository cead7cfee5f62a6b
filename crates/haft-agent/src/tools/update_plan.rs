use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec, Visible};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const DESCRIPTION: &str = "Sets the checklist of this task, which the user watches. Give all steps each time, in their order; \
    at most one is in progress. Use it for work of several steps: at the beginning, and whenever a step is done or the plan \
    changes.";

/// Holds the steps of a task, as a model has written them down.
///
/// It is the structured output of the tool [`update_plan`], in its replies and in the events of its calls.
///
/// ```
/// use haft_agent::{Plan, StepStatus};
/// use serde_json::json;
///
/// let structured = json!({ "steps": [
///     { "text": "Find the fault", "status": "done" },
///     { "text": "Mend it", "status": "in_progress" },
/// ] });
/// let plan: Plan = serde_json::from_value(structured)?;
/// let done = plan.steps.iter().filter(|step| step.status == StepStatus::Done).count();
/// assert_eq!((done, plan.steps.len()), (1, 2));
/// # Ok::<(), serde_json::Error>(())
/// ```
// A description is given to this and the two below, since their comments would be told to a model with the examples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, description = "Holds the steps of a task, as a model has written them down.")]
#[non_exhaustive]
pub struct Plan {
    /// The steps, in their order.
    #[schemars(length(max = 50))]
    pub steps: Vec<PlanStep>,
}

/// Is one step of a plan.
///
/// ```
/// use haft_agent::{PlanStep, StepStatus};
///
/// let step: PlanStep = serde_json::from_str(r#"{"text": "Mend it", "status": "in_progress"}"#)?;
/// let mark = if step.status == StepStatus::Done { "x" } else { " " };
/// assert_eq!(format!("[{mark}] {}", step.text), "[ ] Mend it");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, description = "Is one step of a plan.")]
#[non_exhaustive]
pub struct PlanStep {
    /// What is to be done, in a few words.
    #[schemars(length(min = 1, max = 200))]
    pub text: String,
    /// How far it is.
    pub status: StepStatus,
}

/// Says how far a step of a plan is.
///
/// ```
/// use haft_agent::StepStatus;
///
/// assert_eq!(serde_json::to_string(&StepStatus::InProgress)?, r#""in_progress""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "Says how far a step of a plan is.")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepStatus {
    /// Nobody has begun with it.
    Pending,
    /// It is being done.
    InProgress,
    /// It is done.
    Done,
}

/// Makes the tool `update_plan`, by which a model keeps a checklist that people can watch.
///
/// Each call replaces the whole. Observers see it while the call runs, as an [update](haft_core::EventKind::Updated) with a
/// [`Plan`] as structured output, and in its reply. It keeps nothing and declares no accesses.
///
/// ```
/// use haft_agent::update_plan;
/// use haft_tools_core::{Policy, Rule, ToolRegistry};
///
/// let tools = ToolRegistry::new().with(update_plan())?;
/// let policy = Policy::new().allow(Rule::tools("update_plan".parse()?));
/// # let _ = (tools, policy);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update_plan() -> impl Tool {
    let spec = ToolSpec::new(ToolName::project("update_plan"), DESCRIPTION, input_schema::<Plan>())
        .with_title("Update the plan")
        .with_origin(Origin::Builtin)
        .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() });
    UpdatePlan { spec }
}

struct UpdatePlan {
    spec: ToolSpec,
}

impl Tool for UpdatePlan {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let mut plan: Plan = parse_input(input)?;
        // People watch it, so nothing in it may look like something else.
        for step in &mut plan.steps {
            step.text = Visible::line(&step.text).to_string();
        }
        let at_once = plan.steps.iter().filter(|step| step.status == StepStatus::InProgress).count();
        if at_once > 1 {
            return Err(ToolError::invalid_input(format!(
                "{at_once} steps are in progress; let all but one be `pending` or `done`"
            )));
        }
        Ok(Prepared::new(Accesses::none(), Update(plan)))
    }
}

struct Update(Plan);

#[async_trait]
impl Action for Update {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Plan { steps } = &self.0;
        let done = steps.iter().filter(|step| step.status == StepStatus::Done).count();
        let output = ToolOutput::text(format!("the plan is set: {done} of {} steps are done", steps.len()))
            .with_structured(json!(self.0));
        let shown = output.clone();
        cx.update(|| shown);
        Ok(output)
    }
}
