use haft_core::ToolName;
use haft_tools_core::{Access, Preview, Resource, Scheme};
use std::fmt::Write as _;

/// Runs are started in the name of agents.
const AGENT: Scheme = Scheme::new("agent");

/// Holds what one call of `delegate` asks for, as [`DelegateAgents::read`](crate::DelegateAgents::read) gives it.
///
/// ```
/// use haft_agent::DelegateAgents;
/// use serde_json::json;
///
/// let agents = DelegateAgents::new().agent("explorer".parse()?, "Finds where things are.");
/// let task = json!({ "agent": "explorer", "task": "Where are the tests?" });
/// let call = agents.read(&json!({ "tasks": [task, task] }))?;
/// let accesses: Vec<String> = call.accesses().iter().map(ToString::to_string).collect();
/// assert_eq!((call.tasks.len(), accesses), (2, vec!["call agent:explorer".to_owned()]));
/// assert!(call.preview().as_text().starts_with("explorer:\nWhere are the tests?\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DelegateCall {
    /// The tasks, of which there is one at least.
    pub tasks: Vec<DelegateTask>,
    /// Whether the call goes on without waiting for the results.
    pub background: bool,
}

/// Is one task of a call of `delegate`.
///
/// ```
/// use haft_agent::{DelegateAgents, DelegateTask};
/// use serde_json::json;
///
/// let agents = DelegateAgents::new().agent("explorer".parse()?, "Finds where things are.");
/// let call = agents.read(&json!({ "tasks": [{ "agent": "explorer", "task": " Look.\n" }] }))?;
/// let DelegateTask { agent, task, .. } = &call.tasks[0];
/// assert_eq!((agent.as_str(), task.as_str()), ("explorer", "Look."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DelegateTask {
    /// Who works on it.
    pub agent: ToolName,
    /// What it is told, without blanks around it.
    pub task: String,
}

impl DelegateCall {
    /// What the call touches: each of the agents, once.
    pub fn accesses(&self) -> Vec<Access> {
        let mut accesses: Vec<Access> = Vec::new();
        for DelegateTask { agent, .. } in &self.tasks {
            let resource = Resource::exact(AGENT, agent.as_str());
            if accesses.iter().all(|access| access.resource() != Some(&resource)) {
                accesses.push(Access::delegate(resource));
            }
        }
        accesses
    }

    /// What a person is shown who is asked about it.
    pub fn preview(&self) -> Preview {
        let mut text = String::new();
        for DelegateTask { agent, task } in &self.tasks {
            let _ = writeln!(text, "{agent}:\n{task}\n");
        }
        Preview::Text(text)
    }
}
