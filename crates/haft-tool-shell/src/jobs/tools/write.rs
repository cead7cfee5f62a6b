use std::sync::Arc;

use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Preview, Tool, input_schema, parse_input,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Job, Jobs, executed, spec};

/// How much is written at once, in bytes: what a pipe holds.
const MOST_BYTES: usize = 64 * 1024;

/// How much of a text stands where it is said that nobody knows what is made of it, in bytes.
const BEGINNING_BYTES: usize = 200;

const DESCRIPTION: &str = "Writes to the standard input of a job that was started with `stdin` or `pty`, as it stands: end a line \
with a line feed. Into a terminal it types: `\\r` is the enter key, `\\u0003` Ctrl-C, `\\u001b[A` the upward arrow.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The job, such as `j1`.
    job: String,
    /// What to write.
    #[serde(default)]
    text: String,
    /// Whether the standard input is closed afterwards, so that the job sees its end.
    #[serde(default)]
    close: bool,
}

pub(super) struct JobWrite {
    spec: ToolSpec,
    jobs: Jobs,
}

impl JobWrite {
    pub(super) fn new(jobs: &Jobs) -> Self {
        let spec = spec("job_write", "Write to a job", DESCRIPTION, input_schema::<Input>(), false);
        Self { spec, jobs: jobs.clone() }
    }
}

impl Tool for JobWrite {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Declares that something is executed, and that it cannot be told what, if there is text: what a program makes of it
    /// nobody knows, so that what was decided of one text says nothing of the next.
    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let input: Input = parse_input(input)?;
        if input.text.len() > MOST_BYTES {
            return Err(ToolError::invalid_input(format!(
                "`text` has {} bytes, and {MOST_BYTES} can be written at once; write it in parts",
                input.text.len()
            )));
        }
        let job = self.jobs.find(scope, &input.job)?;
        let told = (!input.text.is_empty()).then(|| Access::opaque(made_of(&job, &input.text)));
        let execute = executed(job.name()).with_detail(job.identity());
        let accesses: Accesses = [execute].into_iter().chain(told).collect();
        Ok(Prepared::new(accesses, Write { job, input }))
    }
}

/// Says what cannot be told, for the person who is asked; all of the text is in the preview.
fn made_of(job: &Job, text: &str) -> String {
    let beginning = &text[..text.floor_char_boundary(BEGINNING_BYTES)];
    let more = if beginning.len() < text.len() { "…" } else { "" };
    format!("what the job `{}`, `{}`, makes of: {beginning}{more}", job.name(), job.identity())
}

struct Write {
    job: Arc<Job>,
    input: Input,
}

#[async_trait]
impl Action for Write {
    async fn preview(&self) -> Preview {
        Preview::Text(self.input.text.clone())
    }

    async fn run(self: Box<Self>, _: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { job, input } = *self;
        job.write(&input.text, input.close).await?;
        Ok(ToolOutput::text(format!("[written; `job_poll` shows what the job `{}` does]", job.name())))
    }
}
