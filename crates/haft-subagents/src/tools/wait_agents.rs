use super::outcome::{line, told};
use super::{closed, schema, spec};
use crate::supervisor::{Caller, Supervised, WeakSupervisor, child};
use crate::{ChildRecord, ChildStatus, Supervisor, ToldBy};
use async_trait::async_trait;
use haft_core::{Content, ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, PendingCall, Prepared, Tool, parse_input};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

const DESCRIPTION: &str = "Waits for agents that work in the background, and gives their results. Without `agents` it waits for \
    all that you have not been told of. With `until` = `any` it comes back when the first of them is done.";

/// How long is waited, in seconds, where nothing is said, and at most.
const USUAL_SECONDS: u64 = 600;
const MOST_SECONDS: u64 = 7_200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    agents: Vec<String>,
    #[serde(default)]
    until: Until,
    #[serde(default = "usual")]
    timeout_s: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Until {
    Any,
    #[default]
    All,
}

fn usual() -> u64 {
    USUAL_SECONDS
}

pub(super) struct WaitAgents {
    spec: ToolSpec,
    supervisor: WeakSupervisor,
}

impl WaitAgents {
    pub(super) fn new(supervisor: &WeakSupervisor) -> Self {
        let input = schema(json!({
            "type": "object",
            "properties": {
                "agents": {
                    "type": "array",
                    "description": "Their names as `delegate` gave them, such as `explorer-0a1b2c3d4e5f`.",
                    "items": { "type": "string" },
                    "maxItems": 256,
                },
                "until": {
                    "type": "string",
                    "enum": ["any", "all"],
                    "description": "Whether to wait for the first of them or for all; `all` by default.",
                },
                "timeout_s": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": MOST_SECONDS,
                    "description": "How long to wait, in seconds; 600 by default, 0 to look only.",
                },
            },
            "additionalProperties": false,
        }));
        let spec = spec("wait_agents", "Wait for agents", DESCRIPTION, input);
        Self { spec, supervisor: supervisor.clone() }
    }
}

impl Tool for WaitAgents {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let mut input: Input = parse_input(input)?;
        input.timeout_s = input.timeout_s.min(MOST_SECONDS);
        Ok(Prepared::new(Accesses::none(), Wait { supervisor: self.supervisor.clone(), input }))
    }
}

struct Wait {
    supervisor: WeakSupervisor,
    input: Input,
}

#[async_trait]
impl Action for Wait {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { supervisor, input } = *self;
        let supervisor = supervisor.upgrade().ok_or_else(closed)?;
        let house = supervisor.house();
        let caller = Caller::new(&cx, house);
        let children = house.children(cx.scope()).await?;
        house.charge(cx.scope(), &children).await;
        let by = caller.told_by();
        let chosen = chosen(children, &input.agents, &by)?;
        if chosen.is_empty() {
            return Ok(ToolOutput::text(
                "no agent works in the background, and you were told of all that did",
            ));
        }
        let _waited: Vec<Supervised> = chosen.iter().map(|record| house.live.wait_for(&record.run)).collect();
        let records = wait(&supervisor, &caller, &cx, chosen, &input).await?;
        let waiting: Vec<PendingCall> =
            records.iter().flat_map(|record| record.pending().iter().cloned()).collect();
        let is_met = match input.until {
            Until::Any => records.iter().any(ChildRecord::has_ended),
            Until::All => records.iter().all(ChildRecord::has_ended),
        };
        let is_at_work = |record: &ChildRecord| !record.has_ended() && record.pending().is_empty();
        if !is_met && !waiting.is_empty() && !records.iter().any(is_at_work) {
            return Err(cx.wait_for(waiting));
        }
        let ended: Vec<ChildRecord> = records.iter().filter(|record| record.has_ended()).cloned().collect();
        house.tell(&ended, &by).await;
        Ok(reply(&records, is_met, &input))
    }
}

/// Finds the runs that are waited for.
fn chosen(
    mut children: Vec<ChildRecord>,
    names: &[String],
    by: &ToldBy,
) -> Result<Vec<ChildRecord>, ToolError> {
    if !names.is_empty() {
        let mut chosen: Vec<ChildRecord> = Vec::with_capacity(names.len());
        for name in names {
            let record = child(&children, name)?;
            if chosen.iter().all(|known| known.run != record.run) {
                chosen.push(record.clone());
            }
        }
        return Ok(chosen);
    }
    // A call that is made again, since its answer was lost, gives the same again.
    let was_told =
        |record: &ChildRecord| record.has_ended() && record.told && record.told_by.as_ref() != Some(by);
    children.retain(|record| record.background && !was_told(record));
    Ok(children)
}

/// Waits until it is met what is waited for, nothing is at work any more, or the time is over; gives how things are then.
async fn wait(
    supervisor: &Supervisor,
    caller: &Caller<'_>,
    cx: &CallContext,
    chosen: Vec<ChildRecord>,
    input: &Input,
) -> Result<Vec<ChildRecord>, ToolError> {
    let house = supervisor.house();
    let mut changes = house.live.changes();
    // What was answered meanwhile lets those go on that waited for it, and what a process that ended left goes on, too.
    for record in chosen.iter().filter(|record| !record.has_ended()) {
        supervisor.spawn(caller.apart(record.clone(), chosen.len() as u64 + 1));
    }
    let until = Instant::now() + Duration::from_secs(input.timeout_s);
    let watch = async {
        let mut records = chosen;
        loop {
            for record in &mut records {
                *record = house.record(&record.run).await?;
            }
            let is_met = match input.until {
                Until::Any => records.iter().any(ChildRecord::has_ended),
                Until::All => records.iter().all(ChildRecord::has_ended),
            };
            let is_at_work =
                records.iter().any(|record| !record.has_ended() && house.live.is_driven(&record.run));
            if is_met || !is_at_work {
                return Ok(records);
            }
            // The supervisor lives as long as this does, so there is always a next change.
            let change = async { changes.changed().await.is_ok() };
            tokio::select! {
                biased;
                () = cx.cancellation().cancelled() => {
                    return Err(ToolError::cancelled("the waiting was cancelled; the agents go on"));
                }
                come = timeout_at(until, change) => if come != Ok(true) {
                    return Ok(records);
                }
            }
        }
    };
    house.away(cx, watch).await
}

fn reply(records: &[ChildRecord], is_met: bool, input: &Input) -> ToolOutput {
    let mut parts: Vec<Content> = records
        .iter()
        .filter(|record| record.has_ended())
        .map(|record| Content::text(told(record)))
        .collect();
    let open: Vec<String> = records.iter().filter(|record| !record.has_ended()).map(line).collect();
    if !open.is_empty() {
        let waits = records.iter().any(|record| matches!(record.status, ChildStatus::Waiting { .. }));
        let next = match (is_met, waits) {
            (true, _) => "The others go on.",
            (false, true) => "Some wait for the user. Go on with something else, and wait again later.",
            (false, false) if input.timeout_s == 0 => "They go on.",
            (false, false) => {
                "The time is over, and they go on. Wait again, or cancel them with `cancel_agent`."
            }
        };
        parts.push(Content::text(format!("{}\n{next}", open.join("\n"))));
    }
    ToolOutput::new(parts).with_structured(super::outcome::structured(records))
}
