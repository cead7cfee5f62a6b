use super::run_wire::{Delegated, Delegation};
use async_trait::async_trait;
use haft_agent::{DelegateAgents, DelegateCall, DelegateTask};
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_durable::Pool;
use haft_tools_core::{Action, CallContext, CallScope, Prepared, Preview, Tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    agents: DelegateAgents,
    pools: BTreeMap<ToolName, Pool>,
    depth: u32,
}

impl Delegates {
    /// Names no agent, and lets runs below lie one deep.
    pub fn new() -> Self {
        Self { agents: DelegateAgents::new(), pools: BTreeMap::new(), depth: 1 }
    }

    /// Names an agent: what the model is told of it, and the pool whose workers drive its runs.
    pub fn agent(mut self, name: ToolName, description: impl Into<String>, pool: Pool) -> Self {
        self.pools.insert(name.clone(), pool);
        self.agents = self.agents.agent(name, description);
        self
    }

    /// How many runs may be above a run that is begun so; 1 by default, so that runs below begin none.
    pub fn depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }

    /// Makes the tool.
    pub fn tool(&self) -> impl Tool + use<> {
        // It only says what is to be begun, so saying it twice changes nothing.
        let hints = ToolHints { idempotent: true, ..ToolHints::default() };
        DelegateTool { spec: self.agents.spec().with_hints(hints), delegates: Arc::new(self.clone()) }
    }
}

impl Default for Delegates {
    fn default() -> Self {
        Self::new()
    }
}

/// Tells whether the replies of a tool may be answered by runs below: no tool of a server or of a host has this origin.
pub(super) fn is_delegate(tool: &ToolSpec) -> bool {
    tool.name().as_str() == DelegateAgents::NAME && matches!(tool.origin(), Origin::Builtin)
}

struct DelegateTool {
    spec: ToolSpec,
    delegates: Arc<Delegates>,
}

#[async_trait]
impl Tool for DelegateTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        DelegateAgents::deep_enough(scope, self.delegates.depth)?;
        let call = self.delegates.agents.read(input)?;
        let accesses = call.accesses();
        Ok(Prepared::new(accesses, Begin { call, delegates: Arc::clone(&self.delegates) }))
    }
}

/// Says what is to be begun; the workflow of the run that called begins it.
struct Begin {
    call: DelegateCall,
    delegates: Arc<Delegates>,
}

#[async_trait]
impl Action for Begin {
    async fn preview(&self) -> Preview {
        self.call.preview()
    }

    async fn run(self: Box<Self>, _: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { call, delegates } = *self;
        let Delegates { pools, depth, .. } = &*delegates;
        let delegated = |DelegateTask { agent, task, .. }| {
            let pool = pools.get(&agent)?.clone();
            Some(Delegated { agent, pool, task })
        };
        // Each agent was named with its pool.
        let tasks = call.tasks.into_iter().filter_map(delegated).collect();
        // What is read where nobody takes it up, as in a run that an agent drives in its own process.
        let text = "no agent was begun: only a run that an engine keeps can begin others in this way; do the work yourself";
        Ok(ToolOutput::text(text).with_details(Delegation { tasks, depth: *depth }.details()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_model_is_told_of_a_few_of_many_agents_and_of_those_near_a_wrong_name() {
        let named = |delegates: Delegates, number: u32| {
            let name = format!("agent-{number:02}").parse().unwrap();
            delegates.agent(name, format!("Is number {number}."), "pool".parse().unwrap())
        };
        let delegates = (1..=50).fold(Delegates::new(), named);
        let tool = delegates.tool();
        let description = tool.spec().description();
        assert_eq!(description.lines().filter(|line| line.starts_with("- agent-")).count(), 40);
        assert!(description.ends_with("- and 10 more; a wrong name is answered with those near it"));

        let input = |agent: &str| json!({ "tasks": [{ "agent": agent, "task": "Look." }] });
        let scope = CallScope::new("r".parse().unwrap());
        let prepared = tool.prepare(&input("agent-44"), &scope).unwrap();
        assert_eq!(
            prepared.accesses().iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["call agent:agent-44"]
        );
        let told =
            |input: &Value, scope: &CallScope| tool.prepare(input, scope).err().unwrap().message().to_owned();
        assert!(told(&input("agent-444"), &scope).contains("did you mean `agent-44`"));
        let below = scope.child("s".parse().unwrap());
        assert_eq!(
            told(&input("agent-44"), &below),
            "agents may work 1 deep at most, and you are that deep; do it yourself"
        );
    }
}
