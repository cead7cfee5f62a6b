use crate::text::line;
use std::fmt;

/// The most bytes of a place.
const MOST_PLACE_BYTES: usize = 400;

/// The most bytes of what is wrong there.
const MOST_MESSAGE_BYTES: usize = 400;

/// Says what is wrong at a place of a document.
///
/// ```
/// use haft_openapi::{Document, LoadOptions};
/// use serde_json::json;
///
/// let value = json!({ "openapi": "3.1.0", "paths": { "/pets": 3 } });
/// let document = Document::from_value(value, &LoadOptions::default())?;
/// let problem = &document.problems()[0];
/// assert_eq!((problem.operation(), problem.pointer()), (None, "/paths/~1pets"));
/// assert_eq!(problem.to_string(), "a path must be an object (at `/paths/~1pets`)");
/// # Ok::<(), haft_openapi::LoadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OpenApiProblem {
    severity: Severity,
    operation: Option<String>,
    pointer: String,
    message: String,
}

/// Says what an [`OpenApiProblem`] costs.
///
/// A check of documents fails for what is left out, and passes over the rest:
///
/// ```
/// use haft_openapi::{Document, LoadOptions, Severity};
/// use serde_json::json;
///
/// let value = json!({ "openapi": "3.1.0", "paths": { "pets": { "get": {} }, "/shops": [] } });
/// let document = Document::from_value(value, &LoadOptions::default())?;
/// let of = |severity| document.problems().iter().filter(move |problem| problem.severity() == severity);
/// assert_eq!(of(Severity::Note).map(|note| note.pointer()).collect::<Vec<_>>(), ["/paths/pets"]);
/// assert_eq!(of(Severity::Skipped).map(|skipped| skipped.pointer()).collect::<Vec<_>>(), ["/paths/~1shops"]);
/// # Ok::<(), haft_openapi::LoadError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Something was read in the way that is most likely meant; everything can be used.
    Note,
    /// The operation, or what else stands at the place, is left out.
    Skipped,
}

/// Keeps problems up to a bound and counts the others.
#[derive(Debug)]
pub(crate) struct Problems {
    kept: Vec<OpenApiProblem>,
    most: usize,
    left_out: usize,
}

impl Problems {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Vec::new(), most, left_out: 0 }
    }

    pub(crate) fn push(&mut self, problem: OpenApiProblem) {
        self.push_with(|| problem);
    }

    /// Adds one that is not made where it would not be kept.
    pub(crate) fn push_with(&mut self, problem: impl FnOnce() -> OpenApiProblem) {
        if self.kept.len() < self.most {
            self.kept.push(problem());
        } else {
            self.left_out += 1;
        }
    }

    /// Lists those that were kept, and a word on how many were not.
    pub(crate) fn done(mut self) -> Vec<OpenApiProblem> {
        match self.left_out {
            0 => {}
            1 => self.kept.push(OpenApiProblem::note("", "there is 1 more problem, which is not listed")),
            more => {
                self.kept.push(OpenApiProblem::note(
                    "",
                    format!("there are {more} more problems, which are not listed"),
                ));
            }
        }
        self.kept
    }
}

impl Extend<OpenApiProblem> for Problems {
    fn extend<I: IntoIterator<Item = OpenApiProblem>>(&mut self, problems: I) {
        problems.into_iter().for_each(|problem| self.push(problem));
    }
}

impl OpenApiProblem {
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

impl fmt::Display for OpenApiProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = &self.operation {
            write!(f, "{operation}: ")?;
        }
        write!(f, "{} (at `{}`)", self.message, self.pointer)
    }
}
