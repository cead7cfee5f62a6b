use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::{join_all, select_all};
use haft_core::{ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{
    Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, listed, parse_input,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Job, Jobs, spec};
use crate::jobs::report::line;
use crate::report::with_whole_lines;
use crate::script::REPORT_TIME;

/// How long is waited at most, in seconds.
const MOST_SECONDS: u32 = 3600;

/// How much of the end of what each job printed is shown, in bytes.
const NEWEST_BYTES: usize = 2 * 1024;

const DESCRIPTION: &str = "Waits until jobs have ended, and says how; `job_poll` gives all that they printed. Without `jobs` it \
waits for all that run. With `until` = `any` it comes back when the first of them has ended.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The jobs, such as `j1`.
    #[serde(default)]
    #[schemars(length(max = 64))]
    jobs: Vec<String>,
    /// Whether to wait for the first of them or for all.
    #[serde(default)]
    until: Until,
    /// How many seconds to wait at most.
    #[serde(default = "usual")]
    #[schemars(range(max = MOST_SECONDS))]
    timeout: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Until {
    Any,
    #[default]
    All,
}

fn usual() -> u32 {
    600
}

pub(super) struct JobWait {
    spec: ToolSpec,
    jobs: Jobs,
}

impl JobWait {
    pub(super) fn new(jobs: &Jobs) -> Self {
        let spec = spec("job_wait", "Wait for jobs", DESCRIPTION, input_schema::<Input>(), true);
        Self { spec, jobs: jobs.clone() }
    }
}

impl Tool for JobWait {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let input: Input = parse_input(input)?;
        let most = Duration::from_secs(input.timeout.min(MOST_SECONDS).into());
        Ok(Prepared::new(Accesses::none(), Wait { jobs: self.jobs.clone(), input, most })
            .with_timeout(most + REPORT_TIME))
    }
}

struct Wait {
    jobs: Jobs,
    input: Input,
    most: Duration,
}

#[async_trait]
impl Action for Wait {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { jobs, input, most } = *self;
        let chosen: Vec<Arc<Job>> = if input.jobs.is_empty() {
            jobs.of_run(cx.scope().run()).into_iter().filter(|job| !job.is_over()).collect()
        } else {
            let found: Result<Vec<_>, _> =
                input.jobs.iter().map(|name| jobs.find(cx.scope(), name)).collect();
            found?
        };
        if chosen.is_empty() {
            return Ok(ToolOutput::text("no job is running; `job_list` lists those that have ended"));
        }
        let ends = chosen.iter().map(|job| Box::pin(job.over()));
        let in_time = match input.until {
            Until::All => timeout(most, async { drop(join_all(ends).await) }).await.is_ok(),
            Until::Any => timeout(most, select_all(ends)).await.is_ok(),
        };
        let (mut text, mut run) = (String::new(), Vec::new());
        for job in &chosen {
            let state = job.state();
            let _ = writeln!(text, "[{}]", line(job));
            text.push_str(&state.remarks);
            if state.is_over {
                job.end_is_known();
                text.push_str(&with_whole_lines(job.newest(NEWEST_BYTES)));
            } else {
                run.push(job.name());
            }
        }
        if !in_time && !run.is_empty() {
            let (names, seconds) = (listed(run.iter().copied(), "and"), most.as_secs());
            let (still, them) = if run.len() == 1 { ("still runs", "it") } else { ("still run", "them") };
            let _ = write!(text, "[after {seconds} s {names} {still}; wait again, or go on without {them}]");
        }
        let over: Vec<&str> = chosen.iter().filter(|job| job.is_over()).map(|job| job.name()).collect();
        Ok(ToolOutput::text(text.trim_end_matches('\n')).with_details(json!({ "over": over })))
    }
}
