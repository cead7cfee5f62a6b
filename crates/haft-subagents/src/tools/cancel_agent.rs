use super::outcome::line;
use super::{closed, schema, spec};
use crate::supervisor::{Caller, Supervised, WeakSupervisor, child};
use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, parse_input};
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "Cancels an agent that you have delegated to, with all that it has delegated itself. What it has done stays done.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    agent: String,
}

pub(super) struct CancelAgent {
    spec: ToolSpec,
    supervisor: WeakSupervisor,
}

impl CancelAgent {
    pub(super) fn new(supervisor: &WeakSupervisor) -> Self {
        let input = schema(json!({
            "type": "object",
            "properties": {
                "agent": {
                    "type": "string",
                    "description": "Its name as `delegate` gave it, such as `explorer-0a1b2c3d4e5f`.",
                },
            },
            "required": ["agent"],
            "additionalProperties": false,
        }));
        let spec = spec("cancel_agent", "Cancel an agent", DESCRIPTION, input);
        Self { spec, supervisor: supervisor.clone() }
    }
}

impl Tool for CancelAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let Input { agent } = parse_input(input)?;
        Ok(Prepared::new(Accesses::none(), Cancel { supervisor: self.supervisor.clone(), agent }))
    }
}

struct Cancel {
    supervisor: WeakSupervisor,
    agent: String,
}

#[async_trait]
impl Action for Cancel {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let supervisor = self.supervisor.upgrade().ok_or_else(closed)?;
        let house = supervisor.house();
        let children = house.children(cx.scope()).await?;
        let record = child(&children, &self.agent)?;
        if record.has_ended() {
            return Ok(ToolOutput::text(format!("it has ended before: {}", line(record))));
        }
        // Whoever cancels it need not be told that it has ended.
        let _waited: Supervised = house.live.wait_for(&record.run);
        let mut changes = house.live.changes();
        house.give_up_run(record).await?;
        loop {
            let known = house.record(&record.run).await?;
            if known.has_ended() || !house.live.is_driven(&record.run) {
                let by = Caller::new(&cx, house).told_by();
                house.tell(std::slice::from_ref(&known), &by).await;
                return Ok(ToolOutput::text(line(&known)));
            }
            // The supervisor lives as long as this does, so there is always a next change.
            let _ = changes.changed().await;
        }
    }
}
