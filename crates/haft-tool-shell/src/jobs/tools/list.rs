use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Jobs, spec};
use crate::jobs::report::line;

const DESCRIPTION: &str = "Lists your jobs: what runs in the background, and what has ended there.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {}

pub(super) struct JobList {
    spec: ToolSpec,
    jobs: Jobs,
}

impl JobList {
    pub(super) fn new(jobs: &Jobs) -> Self {
        let spec = spec("job_list", "List jobs", DESCRIPTION, input_schema::<Input>(), true);
        Self { spec, jobs: jobs.clone() }
    }
}

impl Tool for JobList {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let Input {} = parse_input(input)?;
        Ok(Prepared::new(Accesses::none(), List(self.jobs.clone())))
    }
}

struct List(Jobs);

#[async_trait]
impl Action for List {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let jobs = self.0.of_run(cx.scope().run());
        let lines: Vec<String> = jobs.iter().map(|job| line(job)).collect();
        for job in jobs.iter().filter(|job| job.is_over()) {
            job.end_is_known();
        }
        Ok(ToolOutput::text(if lines.is_empty() { "(no jobs)".to_owned() } else { lines.join("\n") }))
    }
}
