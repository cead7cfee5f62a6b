use schemars::JsonSchema;
use serde::Serialize;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// It is as it should be.
    Ok,
    /// Somebody may want to know it.
    Note,
    /// It works, and something is weaker or missing.
    Warning,
    /// What is configured, or what haft needs, does not work.
    Error,
}

/// One thing that was found, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Finding {
    /// How much it matters.
    pub(crate) severity: Severity,
    /// What was looked at, in a word or two.
    pub(crate) about: String,
    /// What it is.
    pub(crate) text: String,
    /// What it comes from, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) because: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

impl Finding {
    pub(crate) fn new(severity: Severity, about: impl Into<String>, text: impl Into<String>) -> Self {
        Self { severity, about: about.into(), text: text.into(), because: Vec::new(), next: None }
    }

    pub(crate) fn ok(about: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Severity::Ok, about, text)
    }

    pub(crate) fn note(about: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Severity::Note, about, text)
    }

    pub(crate) fn warning(about: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Severity::Warning, about, text)
    }

    pub(crate) fn error(about: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Severity::Error, about, text)
    }

    /// Tells an error with all that it comes from.
    pub(crate) fn of_error(about: impl Into<String>, error: &anyhow::Error) -> Self {
        let mut told = error.chain().map(ToString::to_string);
        let text = told.next().unwrap_or_default();
        Self { because: told.collect(), ..Self::error(about, text) }
    }

    pub(crate) fn because(mut self, cause: impl Into<String>) -> Self {
        self.because.push(cause.into());
        self
    }

    pub(crate) fn next(mut self, step: impl Into<String>) -> Self {
        self.next = Some(step.into());
        self
    }
}
