//! Tools that a step needs and that cargo does not bring along.

use crate::step::{Failure, Outcome, StepResult};

/// Says what becomes of a step that lacks something: a person may do without it; the build host may not, or nobody would notice
/// that a step is never run.
pub(crate) fn missing(on_ci: bool, problem: &str, install: &str) -> StepResult {
    if on_ci {
        Err(Failure::new(problem, install))
    } else {
        Ok(Outcome::Skipped(format!("{problem}; {install}")))
    }
}

/// As [`missing`], of a tool that cargo installs.
pub(crate) fn missing_tool(on_ci: bool, tool: &str) -> StepResult {
    let problem = format!("{tool} is not installed");
    let install = format!("`cargo install --locked {tool}`");
    if on_ci {
        Err(Failure::new(problem, format!("Install it with {install}.")))
    } else {
        Ok(Outcome::Skipped(format!("{problem}; {install}")))
    }
}
