#[cfg(test)]
mod tests;

use super::{DelegateCall, DelegateTask};
use haft_core::{Origin, Schema, ToolError, ToolName, ToolSpec};
use haft_tools_core::{CallScope, listed, nearest, one_line, parse_input};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const DESCRIPTION: &str = "Has agents work on tasks, each in a run of its own, and gives their results. Several tasks are \
    worked on at once, so give those together that do not need each other's results. An agent knows nothing of this \
    conversation but what its task says, unless its description says otherwise: write down what it needs to know and what it \
    is to give back.";

/// The most agents that the model is told of, and the most characters of the description of each.
const MOST_AGENTS: usize = 40;
const MOST_DESCRIPTION: usize = 300;

/// The most agents that are named to one who names none of them.
const MOST_NAMED: usize = 20;

/// The most characters of a task.
const MOST_TASK: usize = 50_000;

/// Holds the agents that a call of the tool `delegate` can name, and makes of them what a model is told and may ask for.
///
/// It is what tools of that name have in common, whoever begins the runs. A name that is not known is answered with those that
/// are like it.
///
/// ```
/// use haft_agent::DelegateAgents;
/// use serde_json::json;
///
/// let agents = DelegateAgents::new().agent("explorer".parse()?, "Finds where things are.");
/// let spec = agents.spec();
/// assert_eq!(spec.name().as_str(), DelegateAgents::NAME);
/// assert!(spec.description().ends_with("The agents:\n- explorer: Finds where things are."));
///
/// let call = agents.read(&json!({ "tasks": [{ "agent": "explorer", "task": "Where are the tests?" }] }))?;
/// assert_eq!(call.tasks[0].task, "Where are the tests?");
/// let error = agents.read(&json!({ "tasks": [{ "agent": "explorr", "task": "Look." }] })).unwrap_err();
/// assert_eq!(error.message(), "there is no agent `explorr`; did you mean `explorer`?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "agents alone are no tool"]
pub struct DelegateAgents {
    agents: BTreeMap<ToolName, String>,
    most_tasks: usize,
    /// What the model is told of tasks that are worked on in the background, if any can be.
    background: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    tasks: Vec<Task>,
    background: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    agent: String,
    task: String,
}

impl DelegateAgents {
    /// The name of the tool.
    pub const NAME: &str = "delegate";

    /// Names no agent, and lets a call have 16 tasks.
    pub fn new() -> Self {
        Self { agents: BTreeMap::new(), most_tasks: 16, background: None }
    }

    /// Names an agent, and what the model is told of it; one of the same name is replaced.
    pub fn agent(mut self, name: ToolName, description: impl Into<String>) -> Self {
        self.agents.insert(name, description.into());
        self
    }

    /// How many tasks a call may have; with 0 each call is refused.
    pub fn tasks(mut self, most: usize) -> Self {
        self.most_tasks = most;
        self
    }

    /// Lets calls go on without waiting; `told` says to the model, in a sentence, what becomes of the tasks then.
    pub fn in_background(mut self, told: impl Into<String>) -> Self {
        self.background = Some(told.into());
        self
    }

    /// Makes what the model is told.
    ///
    /// # Panics
    ///
    /// Never: the schema is one of an object.
    pub fn spec(&self) -> ToolSpec {
        let mut description = DESCRIPTION.to_owned();
        if let Some(background) = &self.background {
            let _ = write!(description, " {background}");
        }
        let _ = write!(description, "\n\n{}", self.described());
        let input = Schema::new(self.schema()).expect("the schema is one of an object");
        ToolSpec::new(ToolName::project(Self::NAME), description, input)
            .with_title("Delegate")
            .with_origin(Origin::Builtin)
    }

    fn schema(&self) -> Value {
        let mut properties = json!({
            "tasks": {
                "type": "array",
                "description": "The tasks, which are worked on at once.",
                "minItems": 1,
                // No list is both empty and of at least one task.
                "maxItems": self.most_tasks.max(1),
                "items": {
                    "type": "object",
                    "properties": {
                        "agent": { "type": "string", "description": "The name of the agent." },
                        "task": {
                            "type": "string",
                            "description": "What it is to do, and all that it needs to know for that.",
                            "minLength": 1,
                            "maxLength": MOST_TASK,
                        },
                    },
                    "required": ["agent", "task"],
                    "additionalProperties": false,
                },
            },
        });
        if self.background.is_some() {
            properties["background"] = json!({
                "type": "boolean",
                "description": "Whether to go on without waiting for the results; false by default.",
            });
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": ["tasks"],
            "additionalProperties": false,
        })
    }

    /// Lists the agents for a model, one a line.
    fn described(&self) -> String {
        let count = self.agents.len();
        if count == 0 {
            return "There are no agents.".to_owned();
        }
        let mut text = "The agents:".to_owned();
        for (name, description) in self.agents.iter().take(MOST_AGENTS) {
            let _ = write!(text, "\n- {name}: {}", one_line(description, MOST_DESCRIPTION));
        }
        if count > MOST_AGENTS {
            let more = count - MOST_AGENTS;
            let _ = write!(text, "\n- and {more} more; a wrong name is answered with those near it");
        }
        text
    }

    /// Reads what a call asks for.
    ///
    /// # Errors
    ///
    /// For the model: when the arguments are not those of the tool, name no agent, or have no task, too many or too long ones.
    pub fn read(&self, input: &Value) -> Result<DelegateCall, ToolError> {
        let Input { tasks, background } = parse_input(input)?;
        if background.is_some() && self.background.is_none() {
            return Err(ToolError::invalid_input("all tasks are waited for here; leave `background` out"));
        }
        let most = self.most_tasks;
        if most == 0 {
            return Err(ToolError::invalid_input("no tasks can be given here; do the work yourself"));
        }
        if tasks.is_empty() || tasks.len() > most {
            return Err(ToolError::invalid_input(format!(
                "a call has from 1 to {most} tasks, not {}; {}",
                tasks.len(),
                if tasks.is_empty() { "write down what is to be done" } else { "make several calls" }
            )));
        }
        let tasks = tasks.iter().map(|task| self.task(task)).collect::<Result<_, _>>()?;
        Ok(DelegateCall { tasks, background: background.unwrap_or_default() })
    }

    fn task(&self, Task { agent, task }: &Task) -> Result<DelegateTask, ToolError> {
        let agent = self.named(agent)?.clone();
        let task = task.trim();
        if task.is_empty() {
            return Err(ToolError::invalid_input("a task is empty; write what is to be done"));
        }
        if task.chars().count() > MOST_TASK {
            return Err(ToolError::invalid_input(format!(
                "a task has {MOST_TASK} characters at most; put the rest where the agent can read it, and say where"
            )));
        }
        Ok(DelegateTask { agent, task: task.to_owned() })
    }

    /// Finds an agent by its name.
    fn named(&self, name: &str) -> Result<&ToolName, ToolError> {
        let known = name.parse::<ToolName>().ok().and_then(|name| self.agents.get_key_value(&name));
        if let Some((name, _)) = known {
            return Ok(name);
        }
        let names = || self.agents.keys().map(ToolName::as_str);
        let near = nearest(name, names());
        let hint = match (near.is_empty(), self.agents.len()) {
            (false, _) => format!("did you mean {}?", listed(near, "or")),
            (true, 0) => "there are none at all; do it yourself".to_owned(),
            (true, count) => {
                let those = match count {
                    1 => "the only agent is",
                    2..=MOST_NAMED => "the agents are",
                    _ => "among the agents are",
                };
                format!("{those} {}", listed(names().take(MOST_NAMED), "and"))
            }
        };
        let shown: String = one_line(name, 64);
        Err(ToolError::not_found(format!("there is no agent `{shown}`; {hint}")))
    }

    /// Refuses to have a run of this scope begin others, where so many runs may be above one.
    ///
    /// ```
    /// use haft_agent::DelegateAgents;
    /// use haft_tools_core::CallScope;
    ///
    /// let scope = CallScope::new("run-1".parse()?);
    /// assert!(DelegateAgents::deep_enough(&scope, 1).is_ok());
    /// assert!(DelegateAgents::deep_enough(&scope.child("run-2".parse()?), 1).is_err());
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// For the model: when there are so many above it already.
    pub fn deep_enough(scope: &CallScope, depth: u32) -> Result<(), ToolError> {
        if scope.depth() < depth {
            return Ok(());
        }
        Err(ToolError::denied(match depth {
            0 => "nothing can be delegated here; do it yourself".to_owned(),
            _ => format!("agents may work {depth} deep at most, and you are that deep; do it yourself"),
        }))
    }
}

impl Default for DelegateAgents {
    fn default() -> Self {
        Self::new()
    }
}
