use std::time::Duration;

use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

use super::{Jobs, spec};
use crate::jobs::report::{looked_at, polled};
use crate::script::REPORT_TIME;

/// How long something new is waited for at most, in seconds.
const MOST_SECONDS: u32 = 60;

const DESCRIPTION: &str = "Gives what a job has printed since you last saw it, about 24 KiB at a time, and whether it still \
runs. Of a job with a terminal it gives what stands on the screen. Nothing is left out: with `cursor` you can look at any part again, and `read_output` searches in all of it.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The job, such as `j1`.
    job: String,
    /// The byte from which on to give what was printed; if it is left out, from where you last saw it to.
    #[serde(default)]
    #[schemars(with = "u64", skip_serializing_if = "Option::is_none")]
    cursor: Option<u64>,
    /// How many seconds to wait for something new, if there is nothing.
    #[serde(default)]
    #[schemars(range(max = MOST_SECONDS))]
    wait: u32,
}

pub(super) struct JobPoll {
    spec: ToolSpec,
    jobs: Jobs,
}

impl JobPoll {
    pub(super) fn new(jobs: &Jobs) -> Self {
        let spec = spec("job_poll", "Look at a job", DESCRIPTION, input_schema::<Input>(), true);
        Self { spec, jobs: jobs.clone() }
    }
}

impl Tool for JobPoll {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let input: Input = parse_input(input)?;
        let most = Duration::from_secs(input.wait.min(MOST_SECONDS).into());
        Ok(Prepared::new(Accesses::none(), Poll { jobs: self.jobs.clone(), input, most })
            .with_timeout(most + REPORT_TIME))
    }
}

struct Poll {
    jobs: Jobs,
    input: Input,
    most: Duration,
}

#[async_trait]
impl Action for Poll {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { jobs, input, most } = *self;
        let job = jobs.find(cx.scope(), &input.job)?;
        // Whether there was something new in time is seen below.
        let _ = timeout(most, job.more_than(input.cursor)).await;
        if input.cursor.is_none()
            && let Some(seen) = job.look()
        {
            return Ok(looked_at(&job, seen));
        }
        let shown = job.show(input.cursor).await?;
        Ok(polled(&job, shown))
    }
}
