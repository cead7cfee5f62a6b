use crate::problem::PolicyProblem;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Says where something is written: a file as people know it, and the line in it.
///
/// ```
/// use haft_policy::PolicyLoader;
/// use haft_tools_core::RuleLanguage;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("policy.toml");
/// std::fs::write(&path, "[permissions]\ndeny = [\"bash\"]\n\n[[test]]\ntool = \"bash\"\nexpect = \"deny\"\n")?;
/// let report = PolicyLoader::new(RuleLanguage::new()).user(&path).test()?;
/// let place = report.results()[0].place();
/// assert_eq!((place.file(), place.line()), (path.to_str().ok_or("a path of UTF-8")?, 5));
/// assert!(place.to_string().ends_with("policy.toml:5"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    file: Arc<str>,
    line: u32,
}

impl Place {
    /// The file, as people know it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, 1-based.
    pub fn line(&self) -> u32 {
        self.line
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Holds a value with where it is written.
#[derive(Debug, Clone)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// Holds the text of a file, and finds lines in it; clones share the text.
#[derive(Debug, Clone)]
pub(crate) struct SourceText(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: Arc<str>,
    text: Box<str>,
    /// Where each line starts, in bytes.
    starts: Vec<usize>,
}

impl SourceText {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect();
        Self(Arc::new(Inner { name: name.into(), text: text.into(), starts }))
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.0.name
    }

    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    /// Gives the line that a byte is on, 1-based.
    pub(crate) fn line_of(&self, offset: usize) -> u32 {
        u32::try_from(self.index_of(offset) + 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn place(&self, offset: usize) -> Place {
        Place { file: Arc::clone(&self.0.name), line: self.line_of(offset) }
    }

    pub(crate) fn placed<T>(&self, value: T, offset: usize) -> Placed<T> {
        Placed { value, place: self.place(offset) }
    }

    /// Says what is wrong with a part of the text; what is behind the first line of it is not pointed at.
    pub(crate) fn problem(&self, range: &Range<usize>, message: impl Into<String>) -> PolicyProblem {
        let text = self.text();
        let start = floor(text, range.start.min(text.len()));
        let index = self.index_of(start);
        let from = self.0.starts[index];
        let line = text[from..].split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let end = floor(text, range.end.clamp(start, text.len())).min(from + line.len());
        let within = (start - from).min(line.len())..end.saturating_sub(from).min(line.len());
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        PolicyProblem::at(&self.0.name, number, line, within, message.into())
    }

    fn index_of(&self, offset: usize) -> usize {
        self.0.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}

/// Finds the boundary of a character at a byte or before it.
fn floor(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
