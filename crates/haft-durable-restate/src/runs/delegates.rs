use super::run_wire::{Delegated, Delegation};
use async_trait::async_trait;
use haft_core::{Origin, Schema, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_durable::Pool;
use haft_tools_core::{
    Access, Action, CallContext, CallScope, Prepared, Preview, Resource, Scheme, Tool, listed, one_line,
    parse_input,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

const NAME: &str = "delegate";

const DESCRIPTION: &str = "Has agents work on tasks, each in a run of its own, and gives their results. Several tasks are \
    worked on at once, so give those together that do not need each other's results. An agent knows nothing of this \
    conversation but what its task says: write down what it needs to know and what it is to give back.";

/// Runs are started in the name of agents.
const AGENT: Scheme = Scheme::new("agent");

/// The most characters of the description of an agent that the model is told.
const MOST_DESCRIPTION: usize = 300;

/// The most characters of a task.
const MOST_TASK: usize = 50_000;

/// The most tasks of a call.
const MOST_TASKS: usize = 16;

/// Names the agents whose runs other runs can have begun below them, and makes the tool `delegate` of them.
///
/// The tool belongs on the workers that make calls, where each delegation is decided as any call is (`call agent:NAME`), and in
/// the registry of the agents that may use it. The run below is a workflow of its own in the pool of its agent, called by the
/// one above: both outlive their workers. It begins with its task alone, it draws on the budget of the run above, with the
/// tasks of one call sharing what is left, and it lies no deeper than both the limits of the scope and
/// [`Delegates::depth`] allow.
///
/// ```
/// use haft_durable_restate::Delegates;
/// use haft_tools_core::ToolRegistry;
///
/// let delegates = Delegates::new()
///     .agent("explorer".parse()?, "Finds where things are in the code.", "explorer".parse()?)
///     .depth(2);
/// let tools = ToolRegistry::new().with(delegates.tool())?;
/// # let _ = tools;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nobody can delegate without the tool of it"]
pub struct Delegates {
    agents: BTreeMap<ToolName, Delegate>,
    depth: u32,
}

#[derive(Debug, Clone)]
struct Delegate {
    description: String,
    pool: Pool,
}

impl Delegates {
    /// Names no agent, and lets runs below lie one deep.
    pub fn new() -> Self {
        Self { agents: BTreeMap::new(), depth: 1 }
    }

    /// Names an agent: what the model is told of it, and the pool whose workers drive its runs.
    pub fn agent(mut self, name: ToolName, description: impl Into<String>, pool: Pool) -> Self {
        self.agents.insert(name, Delegate { description: description.into(), pool });
        self
    }

    /// How many runs may be above a run that is begun so; 1 by default, so that runs below begin none.
    pub fn depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }

    /// Makes the tool.
    pub fn tool(&self) -> impl Tool + use<> {
        DelegateTool { spec: self.spec(), delegates: Arc::new(self.clone()) }
    }

    fn spec(&self) -> ToolSpec {
        let mut description = format!("{DESCRIPTION}\n\nThe agents:");
        for (name, agent) in &self.agents {
            let _ = write!(description, "\n- {name}: {}", one_line(&agent.description, MOST_DESCRIPTION));
        }
        let text = |about: &str, most: usize| json!({ "type": "string", "description": about, "minLength": 1, "maxLength": most });
        let task = json!({
            "type": "object",
            "properties": {
                "agent": text("The name of the agent.", 64),
                "task": text("What it is to do, and all that it needs to know for that.", MOST_TASK),
            },
            "required": ["agent", "task"],
            "additionalProperties": false,
        });
        let tasks = json!({
            "type": "array",
            "description": "The tasks, which are worked on at once.",
            "minItems": 1,
            "maxItems": MOST_TASKS,
            "items": task,
        });
        let input = Schema::new(json!({
            "type": "object",
            "properties": { "tasks": tasks },
            "required": ["tasks"],
            "additionalProperties": false,
        }));
        // It only says what is to be begun, so saying it twice changes nothing.
        let hints = ToolHints { idempotent: true, ..ToolHints::default() };
        ToolSpec::new(ToolName::project(NAME), description, input.expect("the schema is an object"))
            .with_title("Delegate")
            .with_origin(Origin::Builtin)
            .with_hints(hints)
    }
}

impl Default for Delegates {
    fn default() -> Self {
        Self::new()
    }
}

/// Tells whether the replies of a tool may be answered by runs below: no tool of a server or of a host has this origin.
pub(super) fn is_delegate(tool: &ToolSpec) -> bool {
    tool.name().as_str() == NAME && matches!(tool.origin(), Origin::Builtin)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    agent: String,
    task: String,
}

struct DelegateTool {
    spec: ToolSpec,
    delegates: Arc<Delegates>,
}

impl DelegateTool {
    fn delegated(&self, task: &Task) -> Result<Delegated, ToolError> {
        let agents = &self.delegates.agents;
        let known = task.agent.parse::<ToolName>().ok().filter(|name| agents.contains_key(name));
        let Some(agent) = known else {
            let names = listed(agents.keys().map(ToolName::as_str).take(20), "and");
            let next = match agents.len() {
                0 => "there are none at all; do it yourself".to_owned(),
                1 => format!("the only agent is {names}"),
                2..=20 => format!("the agents are {names}"),
                _ => format!("among the agents are {names}"),
            };
            let shown = one_line(&task.agent, 64);
            return Err(ToolError::invalid_input(format!("there is no agent `{shown}`; {next}")));
        };
        let text = task.task.trim();
        if text.is_empty() {
            return Err(ToolError::invalid_input("a task is empty; write what is to be done"));
        }
        if text.chars().count() > MOST_TASK {
            return Err(ToolError::invalid_input(format!(
                "a task has {MOST_TASK} characters at most; put the rest where the agent can read it, and say where"
            )));
        }
        Ok(Delegated { pool: agents[&agent].pool.clone(), agent, task: text.to_owned() })
    }
}

#[async_trait]
impl Tool for DelegateTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let depth = self.delegates.depth;
        if scope.depth() >= depth {
            return Err(ToolError::failed(format!(
                "a run may have {depth} runs above it at most, and this one has {} already, so it cannot delegate; do the work \
                 yourself",
                scope.depth()
            )));
        }
        let Input { tasks } = parse_input(input)?;
        if tasks.is_empty() || tasks.len() > MOST_TASKS {
            return Err(ToolError::invalid_input(format!(
                "a call has from 1 to {MOST_TASKS} tasks, not {}; make several calls where there are more",
                tasks.len()
            )));
        }
        let tasks: Vec<Delegated> =
            tasks.iter().map(|task| self.delegated(task)).collect::<Result<_, _>>()?;
        let mut accesses: Vec<Access> = Vec::new();
        for task in &tasks {
            let resource = Resource::exact(AGENT, task.agent.as_str());
            if accesses.iter().all(|access| access.resource() != Some(&resource)) {
                accesses.push(Access::delegate(resource));
            }
        }
        Ok(Prepared::new(accesses, Begin(Delegation { tasks, depth })))
    }
}

/// Says what is to be begun; the workflow of the run that called begins it.
struct Begin(Delegation);

#[async_trait]
impl Action for Begin {
    async fn preview(&self) -> Preview {
        let mut text = String::new();
        for Delegated { agent, task, .. } in &self.0.tasks {
            let _ = writeln!(text, "{agent}:\n{task}\n");
        }
        Preview::Text(text)
    }

    async fn run(self: Box<Self>, _: CallContext) -> Result<ToolOutput, ToolError> {
        // What is read where nobody takes it up, as in a run that an agent drives in its own process.
        let text = "no agent was begun: only a run that an engine keeps can begin others in this way; do the work yourself";
        Ok(ToolOutput::text(text).with_details(self.0.details()))
    }
}
