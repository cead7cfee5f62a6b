use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput, ToolSpec};
use haft_process::ProcessSignal;
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Jobs, spec};

const DESCRIPTION: &str = "Sends a signal to all processes of a job. With `end`, which is meant if no signal is given, they are \
asked to end, and killed half a second later.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The job, such as `j1`.
    job: String,
    /// What to send.
    #[serde(default)]
    signal: Sent,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sent {
    #[default]
    End,
    Interrupt,
    Terminate,
    Kill,
    HangUp,
    User1,
    User2,
    Stop,
    Continue,
}

impl Sent {
    fn signal(self) -> Option<ProcessSignal> {
        Some(match self {
            Self::End => return None,
            Self::Interrupt => ProcessSignal::Interrupt,
            Self::Terminate => ProcessSignal::Terminate,
            Self::Kill => ProcessSignal::Kill,
            Self::HangUp => ProcessSignal::HangUp,
            Self::User1 => ProcessSignal::User1,
            Self::User2 => ProcessSignal::User2,
            Self::Stop => ProcessSignal::Stop,
            Self::Continue => ProcessSignal::Continue,
        })
    }
}

pub(super) struct JobSignal {
    spec: ToolSpec,
    jobs: Jobs,
}

impl JobSignal {
    pub(super) fn new(jobs: &Jobs) -> Self {
        let spec = spec("job_signal", "Signal a job", DESCRIPTION, input_schema::<Input>(), false);
        Self { spec, jobs: jobs.clone() }
    }
}

impl Tool for JobSignal {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Declares nothing: what is ended is the run's own, and each run may end what it has started.
    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let input = parse_input(input)?;
        Ok(Prepared::new(Accesses::none(), Send { jobs: self.jobs.clone(), input }))
    }
}

struct Send {
    jobs: Jobs,
    input: Input,
}

#[async_trait]
impl Action for Send {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { jobs, input } = *self;
        let job = jobs.find(cx.scope(), &input.job)?;
        if job.is_over() {
            return Ok(ToolOutput::text(format!("[job `{}`: {} already]", job.name(), job.state())));
        }
        if let Some(signal) = input.signal.signal() {
            job.signal(signal)?;
            return Ok(ToolOutput::text(format!(
                "[sent to the job `{}`; `job_poll` shows what it does]",
                job.name()
            )));
        }
        job.stop();
        job.over().await;
        Ok(ToolOutput::text(format!("[job `{}`: {}]", job.name(), job.state())))
    }
}
