use crate::source_text::Place;
use crate::{Profile, SandboxMode};
use haft_tools_core::{Limits, LocalExecutorBuilder, Mode, Policy, Selector, ToolLimits, Widths};
use std::fmt;

/// Holds what all layers of policy files come to.
///
/// ```
/// use haft_policy::{PolicyLoader, SandboxMode};
/// use haft_tools_core::{LocalExecutor, RuleLanguage, ToolRegistry};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("policy.toml");
/// std::fs::write(&path, "[permissions]\ndeny = [\"bash\"]\n\n[limits]\ntimeout = \"2min\"\n")?;
/// let loaded = PolicyLoader::new(RuleLanguage::new()).user(&path).load()?;
/// assert_eq!(loaded.limits.timeout.as_secs(), 120);
/// if loaded.sandbox == SandboxMode::Require {
///     return Err("there is no sandbox here".into());
/// }
/// let executor = loaded.apply(LocalExecutor::builder(ToolRegistry::new())).build();
/// # let _ = executor;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use haft_policy::{PolicyLoader, Trust};
/// use haft_tools_core::RuleLanguage;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("haft.toml");
/// std::fs::write(&path, "profile = \"full_access\"\n")?;
/// let loaded = PolicyLoader::new(RuleLanguage::new()).workspace(&path, Trust::Untrusted).load()?;
/// let note = &loaded.notes[0];
/// assert_eq!(note.place().line(), 1);
/// assert_eq!(
///     note.text(),
///     "the profile `full_access` is ignored, because the file is not trusted and what holds without it is `read_only`"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
