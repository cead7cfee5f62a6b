use crate::source_text::Place;
use crate::{Profile, SandboxMode};
use haft_tools_core::{Limits, LocalExecutorBuilder, Mode, Policy, Selector, ToolLimits, Widths};
use std::fmt;

/// Holds what all layers of policy files come to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedPolicy {
    /// The rules of all layers and agents.
    pub policy: Policy,
    /// The bounds on all calls.
    pub limits: Limits,
    /// How many calls of each class run at once.
    pub widths: Widths,
    /// The bounds on the calls of chosen tools; the first that concerns a tool counts.
    pub tool_limits: Vec<(Selector, ToolLimits)>,
    /// Whether what is run has to be kept within a sandbox; a program without one must refuse
    /// [`SandboxMode::Require`].
    pub sandbox: SandboxMode,
    /// The mode that runs start in.
    pub mode: Mode,
    /// The profile that the rules build on, if there is one.
    pub profile: Option<Profile>,
    /// The files that were read, as people know them, each before those that include it.
    pub files: Vec<String>,
    /// What was ignored of files that are not trusted, and which tests were not run.
    pub notes: Vec<Note>,
    /// How many tests of the files passed.
    pub tests_passed: usize,
    /// How many tests were not run, which the notes say more of.
    pub tests_not_run: usize,
}

/// Says something about a policy file that people should know, and that is no fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    text: String,
    place: Place,
}

impl Note {
    pub(crate) fn new(text: impl Into<String>, place: Place) -> Self {
        Self { text: text.into(), place }
    }

    /// What there is to know.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where that is written.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// Reads as `policy.toml:3: the mode …`.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

impl LoadedPolicy {
    /// Gives an executor the policy, the limits and the widths; the mode and the sandbox are left to the program.
    pub fn apply(&self, executor: LocalExecutorBuilder) -> LocalExecutorBuilder {
        let executor = executor.policy(self.policy.clone()).limits(self.limits.clone()).widths(&self.widths);
        self.tool_limits
            .iter()
            .fold(executor, |executor, (tools, limits)| executor.tool_limits(tools.clone(), limits.clone()))
    }
}
