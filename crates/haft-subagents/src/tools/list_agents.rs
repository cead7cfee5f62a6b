use super::outcome::{line, structured};
use super::{closed, schema, spec};
use crate::supervisor::{Caller, WeakSupervisor};
use async_trait::async_trait;
use haft_core::{ToolError, ToolHints, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool};
use serde_json::{Value, json};

const DESCRIPTION: &str = "Lists the agents that you have delegated to, with how far each is.";

/// The most runs that are listed.
const MOST: usize = 100;

pub(super) struct ListAgents {
    spec: ToolSpec,
    supervisor: WeakSupervisor,
}

impl ListAgents {
    pub(super) fn new(supervisor: &WeakSupervisor) -> Self {
        let input = schema(json!({ "type": "object", "properties": {}, "additionalProperties": false }));
        let spec = spec("list_agents", "List agents", DESCRIPTION, input).with_hints(ToolHints {
            read_only: true,
            idempotent: true,
            ..ToolHints::default()
        });
        Self { spec, supervisor: supervisor.clone() }
    }
}

impl Tool for ListAgents {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, _: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        Ok(Prepared::new(Accesses::none(), List(self.supervisor.clone())))
    }
}

struct List(WeakSupervisor);

#[async_trait]
impl Action for List {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let supervisor = self.0.upgrade().ok_or_else(closed)?;
        let house = supervisor.house();
        Caller::new(&cx, house).catch_up(house).await;
        let children = house.children(cx.scope()).await?;
        let shown = &children[children.len().saturating_sub(MOST)..];
        let mut lines: Vec<String> = shown.iter().map(line).collect();
        if shown.len() < children.len() {
            lines.push(format!("and {} before these", children.len() - shown.len()));
        }
        if lines.is_empty() {
            lines.push("you have delegated to no agent".to_owned());
        }
        Ok(ToolOutput::text(lines.join("\n")).with_structured(structured(shown)))
    }
}
