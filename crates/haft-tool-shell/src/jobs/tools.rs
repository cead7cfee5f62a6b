//! The tools by which a model works with its jobs.

mod list;
mod poll;
mod signal;
mod wait;
mod write;

use std::sync::Arc;

use haft_core::{Origin, Schema, ToolHints, ToolName, ToolSpec};
use haft_tools_core::{Access, Resource, Scheme, Tool};

use super::{Job, Jobs};

/// Names jobs as resources, for the order of calls and for those that are asked: `job:j1`.
const JOB: Scheme = Scheme::new("job");

pub(super) fn all(jobs: &Jobs) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(list::JobList::new(jobs)),
        Arc::new(poll::JobPoll::new(jobs)),
        Arc::new(signal::JobSignal::new(jobs)),
        Arc::new(wait::JobWait::new(jobs)),
        Arc::new(write::JobWrite::new(jobs)),
    ]
}

fn spec(name: &str, title: &str, description: &str, input: Schema, reads: bool) -> ToolSpec {
    let hints = ToolHints { read_only: reads, ..ToolHints::default() };
    ToolSpec::new(ToolName::project(name), description, input)
        .with_title(title)
        .with_origin(Origin::Builtin)
        .with_hints(hints)
}

/// Says that something is put into a job.
fn executed(job: &str) -> Access {
    Access::execute(Resource::exact(JOB, job))
}
