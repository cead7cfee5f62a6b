use crate::text::line;
use std::fmt;

/// The most bytes of a place.
const MOST_PLACE_BYTES: usize = 400;

/// The most bytes of what is wrong there.
const MOST_MESSAGE_BYTES: usize = 400;

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
    pub(crate) fn note(pointer: impl AsRef<str>, message: impl AsRef<str>) -> Self {
        Self::new(Severity::Note, pointer.as_ref(), message.as_ref())
    }

    pub(crate) fn skipped(pointer: impl AsRef<str>, message: impl AsRef<str>) -> Self {
        Self::new(Severity::Skipped, pointer.as_ref(), message.as_ref())
    }

    pub(crate) fn of(self, operation: &str) -> Self {
        Self { operation: Some(line(operation, MOST_PLACE_BYTES)), ..self }
    }

    /// What a document says is in all of them, so they are cleaned and bounded.
    fn new(severity: Severity, pointer: &str, message: &str) -> Self {
        Self {
            severity,
            operation: None,
            pointer: line(pointer, MOST_PLACE_BYTES),
            message: line(message, MOST_MESSAGE_BYTES),
        }
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
