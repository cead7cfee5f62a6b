//! What a check hands back: how it ended and, if it failed, how to repair it.

use std::fmt;

/// How a check ended that found nothing wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was looked at and is in order.
    Done,
    /// Nothing was looked at, for the reason given.
    Skipped(String),
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What is wrong, in one or more lines; empty when the child process has already said it.
    pub(crate) problem: String,
    /// One sentence that tells how to repair it.
    pub(crate) repair: String,
}

impl Failure {
    pub(crate) fn new(problem: impl Into<String>, repair: impl Into<String>) -> Self {
        Self { problem: problem.into(), repair: repair.into() }
    }

    /// Wraps an error that kept the check from being made at all.
    pub(crate) fn from_error(error: &anyhow::Error, repair: &str) -> Self {
        Self::new(format!("error: {error:#}"), repair)
    }

    /// Turns a list of complaints into one failure, or into nothing if there are none.
    pub(crate) fn unless_empty(problems: &[String], repair: &str) -> StepResult {
        if problems.is_empty() { Ok(Outcome::Done) } else { Err(Self::new(problems.join("\n"), repair)) }
    }
}

/// The problem first, the repair as the last line.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.problem.is_empty() {
            writeln!(f, "{}", self.problem)?;
        }
        f.write_str(&self.repair)
    }
}

pub(crate) type StepResult = Result<Outcome, Failure>;
