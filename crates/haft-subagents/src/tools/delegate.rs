use super::outcome::{reply, started};
use super::{closed, filled, schema, spec};
use crate::supervisor::{Attended, Caller, House, Wanted, WeakSupervisor};
use crate::{AgentSpec, ChildRecord};
use async_trait::async_trait;
use futures_util::future::try_join_all;
use haft_core::{ToolError, ToolErrorKind, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Action, CallContext, CallScope, PendingCall, Prepared, Preview, Resource, Scheme, Tool, one_line,
    parse_input,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

const DESCRIPTION: &str = "Has agents work on tasks, each in a run of its own, and gives their results. Several tasks are \
    worked on at once, so give those together that do not need each other's results. An agent knows nothing of this \
    conversation but what its task says, unless its description says otherwise: write down what it needs to know and what it \
    is to give back. With `background` you go on at once, and are told when an agent is done; `wait_agents` waits for it.";

/// Runs are started in the name of agents.
const AGENT: Scheme = Scheme::new("agent");

/// The most agents that the model is told of, and the most characters of the description of each.
const MOST_AGENTS: usize = 40;
const MOST_DESCRIPTION: usize = 300;

/// The most characters of a task.
const MOST_TASK: usize = 50_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    tasks: Vec<Task>,
    #[serde(default)]
    background: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    agent: String,
    task: String,
}

pub(super) struct Delegate {
    spec: ToolSpec,
    supervisor: WeakSupervisor,
}

impl Delegate {
    pub(super) fn new(supervisor: &WeakSupervisor, house: &House) -> Self {
        let input = schema(json!({
            "type": "object",
            "properties": {
                "tasks": {
                    "type": "array",
                    "description": "The tasks, which are worked on at once.",
                    "minItems": 1,
                    "maxItems": house.limits.tasks.max(1),
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
                "background": {
                    "type": "boolean",
                    "description": "Whether to go on without waiting for the results; false by default.",
                },
            },
            "required": ["tasks"],
            "additionalProperties": false,
        }));
        let agents = described(house.agents.values().map(|agent| &**agent));
        let description = format!("{DESCRIPTION}\n\n{agents}");
        Self { spec: spec("delegate", "Delegate", description, input), supervisor: supervisor.clone() }
    }
}

/// Lists agents for a model, one a line.
fn described<'a>(agents: impl ExactSizeIterator<Item = &'a AgentSpec>) -> String {
    let count = agents.len();
    if count == 0 {
        return "There are no agents.".to_owned();
    }
    let mut text = "The agents:".to_owned();
    for agent in agents.take(MOST_AGENTS) {
        let _ = write!(text, "\n- {}: {}", agent.name, one_line(&agent.description, MOST_DESCRIPTION));
    }
    if count > MOST_AGENTS {
        let _ =
            write!(text, "\n- and {} more; a wrong name is answered with those near it", count - MOST_AGENTS);
    }
    text
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { tasks, background } = parse_input(input)?;
        let supervisor = self.supervisor.upgrade().ok_or_else(closed)?;
        let house = supervisor.house();
        house.deep_enough(scope)?;
        let most = house.limits.tasks;
        if tasks.is_empty() || tasks.len() > most {
            return Err(ToolError::invalid_input(format!(
                "a call has from 1 to {most} tasks, not {}; {}",
                tasks.len(),
                if tasks.is_empty() { "write down what is to be done" } else { "make several calls" }
            )));
        }
        let mut accesses: Vec<Access> = Vec::new();
        let mut wanted = Vec::with_capacity(tasks.len());
        for Task { agent, task } in tasks {
            let spec = Arc::clone(house.agent(&agent)?);
            let task = filled(&task, "a task")?;
            if task.chars().count() > MOST_TASK {
                return Err(ToolError::invalid_input(format!(
                    "a task has {MOST_TASK} characters at most; put the rest where the agent can read it, and say where"
                )));
            }
            let resource = Resource::exact(AGENT, spec.name.as_str());
            if accesses.iter().all(|access| access.resource() != Some(&resource)) {
                accesses.push(Access::delegate(resource));
            }
            wanted.push(Wanted { spec, task: task.to_owned() });
        }
        let supervisor = self.supervisor.clone();
        Ok(Prepared::new(accesses, Start { supervisor, wanted, background }))
    }

    /// Ends the runs that the call has left to wait.
    async fn given_up(&self, waited: &PendingCall, scope: &CallScope) {
        let Some(supervisor) = self.supervisor.upgrade() else { return };
        supervisor.house().give_up(waited, scope).await;
    }
}

struct Start {
    supervisor: WeakSupervisor,
    wanted: Vec<Wanted>,
    background: bool,
}

#[async_trait]
impl Action for Start {
    async fn preview(&self) -> Preview {
        let mut text = String::new();
        for Wanted { spec, task } in &self.wanted {
            let _ = writeln!(text, "{}:\n{task}\n", spec.name);
        }
        Preview::Text(text)
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let supervisor = self.supervisor.upgrade().ok_or_else(closed)?;
        let house = supervisor.house();
        let caller = Caller::new(&cx, house);
        caller.catch_up(house).await;
        let records = house.wanted(&caller, &self.wanted, self.background).await?;
        let sharers = records.iter().filter(|record| !record.has_ended()).count() as u64;
        if self.background {
            for record in records.iter().filter(|record| !record.has_ended()) {
                // The run that goes on shares with those it has started.
                supervisor.spawn(caller.apart(record.clone(), sharers + 1));
            }
            return Ok(started(&records));
        }
        let work: Vec<Attended> = records
            .into_iter()
            .map(|record| supervisor.attend(caller.attended(record, sharers.max(1))))
            .collect();
        let work = try_join_all(work.into_iter().map(Attended::wait));
        let records: Vec<ChildRecord> = house.away(&cx, work).await?;
        let waiting: Vec<PendingCall> =
            records.iter().flat_map(|record| record.pending().iter().cloned()).collect();
        if !waiting.is_empty() {
            let waits = cx.wait_for(waiting);
            if waits.kind() != ToolErrorKind::Denied {
                // It is too much to be waited for, and nobody else would go on with it.
                for record in records.iter().filter(|record| !record.has_ended()) {
                    house.give_up_run(record).await?;
                }
            }
            return Err(waits);
        }
        if cx.cancellation().is_cancelled() {
            return Err(ToolError::cancelled(
                "the agents were cancelled before they were done; see with `list_agents` how far each got before you delegate again",
            ));
        }
        house.tell(&records, &caller.told_by()).await;
        reply(&records)
    }
}
