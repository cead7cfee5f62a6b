use super::outcome::told;
use super::{closed, schema, spec};
use crate::supervisor::{Caller, WeakSupervisor, child};
use crate::{ChildEnd, ChildRecord, ChildStatus};
use async_trait::async_trait;
use haft_agent::SteerWhen;
use haft_core::{ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, parse_input};
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "Says something to an agent that you have delegated to: a correction, or what it should know besides. \
    One that has ended takes it up as a further task in the background, knowing all that it has done.";

/// The most characters of a message.
const MOST_MESSAGE: usize = 50_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    agent: String,
    message: String,
    #[serde(default)]
    now: bool,
}

pub(super) struct SendAgent {
    spec: ToolSpec,
    supervisor: WeakSupervisor,
}

impl SendAgent {
    pub(super) fn new(supervisor: &WeakSupervisor) -> Self {
        let input = schema(json!({
            "type": "object",
            "properties": {
                "agent": {
                    "type": "string",
                    "description": "Its name as `delegate` gave it, such as `explorer-0a1b2c3d4e5f`.",
                },
                "message": {
                    "type": "string",
                    "description": "What it is told.",
                    "minLength": 1,
                    "maxLength": MOST_MESSAGE,
                },
                "now": {
                    "type": "boolean",
                    "description": "Whether it leaves out what it was about to do; false by default.",
                },
            },
            "required": ["agent", "message"],
            "additionalProperties": false,
        }));
        let spec = spec("send_agent", "Send to an agent", DESCRIPTION, input);
        Self { spec, supervisor: supervisor.clone() }
    }
}

impl Tool for SendAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let Input { agent, message, now } = parse_input(input)?;
        let message = message.trim();
        if message.is_empty() {
            return Err(ToolError::invalid_input("the message is empty; write what is to be done"));
        }
        if message.chars().count() > MOST_MESSAGE {
            return Err(ToolError::invalid_input(format!(
                "a message has {MOST_MESSAGE} characters at most; put the rest into a file, and say where"
            )));
        }
        let message = message.to_owned();
        let when = if now { SteerWhen::Now } else { SteerWhen::AfterTurn };
        let supervisor = self.supervisor.clone();
        Ok(Prepared::new(Accesses::none(), Send { supervisor, agent, message, when }))
    }
}

struct Send {
    supervisor: WeakSupervisor,
    agent: String,
    message: String,
    when: SteerWhen,
}

#[async_trait]
impl Action for Send {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { supervisor, agent, message, when } = *self;
        let supervisor = supervisor.upgrade().ok_or_else(closed)?;
        let house = supervisor.house();
        let children = house.children(cx.scope()).await?;
        let record = child(&children, &agent)?;
        if let Some(refused) = over(record) {
            return Err(refused);
        }
        let runner = house.runner.get().ok_or_else(closed)?;
        if record.status == ChildStatus::Running && runner.steer(&record.run, &message, when) {
            return Ok(ToolOutput::text(format!("`{}` is told.", record.run)));
        }
        let mut before = None;
        let record = house
            .change(&record.run, |record| {
                if over(record).is_some() {
                    return;
                }
                record.inbox.push(message);
                if record.has_ended() {
                    before = Some(record.clone());
                    // Nobody waits for what it does from now on.
                    record.background = true;
                    record.begin_again();
                }
            })
            .await?;
        if let Some(refused) = over(&record) {
            return Err(refused);
        }
        let Some(before) = before else {
            return Ok(ToolOutput::text(match record.status {
                ChildStatus::Running => {
                    format!("`{}` is told when it is done with what it is at.", record.run)
                }
                _ => format!("`{}` is told when it goes on.", record.run),
            }));
        };
        supervisor.spawn(Caller::new(&cx, house).apart(record.clone(), 2));
        let mut text = format!(
            "`{}` goes on with that in the background. You are told when it is done; `wait_agents` waits for it.",
            record.run
        );
        if before.is_untold() {
            text = format!("{}\n\n{text}", told(&before));
        }
        Ok(ToolOutput::text(text))
    }
}

/// Says of a run that has ended so that it cannot be gone on with what to do instead.
fn over(record: &ChildRecord) -> Option<ToolError> {
    let end = &record.result()?.end;
    if matches!(end, ChildEnd::Done | ChildEnd::Stopped { .. }) {
        return None;
    }
    Some(ToolError::invalid_input(format!(
        "`{}` has ended ({}) and cannot be gone on with; delegate the task anew",
        record.run,
        end.name()
    )))
}
