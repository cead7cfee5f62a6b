use std::fmt;

/// Says what is wrong at a place of a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    severity: Severity,
    operation: Option<String>,
    pointer: String,
    message: String,
}

/// Says what a [`Problem`] costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Something was read in the way that is most likely meant; everything can be used.
    Note,
    /// The operation, or what else stands at the place, is left out.
    Skipped,
}

impl Problem {
    pub(crate) fn note(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Note, operation: None, pointer: pointer.into(), message: message.into() }
    }

    pub(crate) fn skipped(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Skipped,
            operation: None,
            pointer: pointer.into(),
            message: message.into(),
        }
    }

    pub(crate) fn of(self, operation: impl Into<String>) -> Self {
        Self { operation: Some(operation.into()), ..self }
    }

    /// What it costs.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The operation that it is about, as `GET /path`; `None` where it is about the document.
    pub fn operation(&self) -> Option<&str> {
        self.operation.as_deref()
    }

    /// The place as a JSON pointer, behind the name of the file and `#` where that is not the document's own.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is wrong, for people, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = &self.operation {
            write!(f, "{operation}: ")?;
        }
        write!(f, "{} (at `{}`)", self.message, self.pointer)
    }
}
