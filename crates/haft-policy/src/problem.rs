use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use haft_core::{Visible, is_hidden};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The most problems that are told; more than these nobody reads.
const MOST_PROBLEMS: usize = 100;

/// The longest line that is shown, in bytes.
const LONGEST_LINE: usize = 1_000;

/// The most characters of a message, which quotes what is written in the file.
const LONGEST_MESSAGE: usize = 600;

/// Lists everything that is wrong with policy files: where, what, and what to write instead.
///
/// Printed, it shows each line in question with what is wrong in it underlined:
///
/// ```
/// use haft_policy::PolicyFile;
/// use haft_tools_core::RuleLanguage;
///
/// let text = "[permissions]\nalow = [\"bash\"]\n";
/// let error = PolicyFile::parse(text, "policy.toml", &RuleLanguage::new()).unwrap_err();
/// assert_eq!(error.to_string(), "\
/// error: `alow` is not a key of `[permissions]`; write `allow`
///  --> policy.toml:2:1
///   |
/// 2 | alow = [\"bash\"]
///   | ^^^^");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFileError {
    problems: Vec<PolicyProblem>,
    more: usize,
}

/// Says one thing that is wrong with a policy file.
///
/// An editor marks each where it is:
///
/// ```
/// use haft_policy::PolicyFile;
/// use haft_tools_core::RuleLanguage;
///
/// let text = "profile = \"readonly\"\n\n[sandbox]\nmode = \"on\"\n";
/// let error = PolicyFile::parse(text, "policy.toml", &RuleLanguage::new()).unwrap_err();
/// let marks: Vec<_> = error.problems().iter().map(|problem| (problem.line(), problem.column())).collect();
/// assert_eq!(marks, [(Some(1), Some(12)), (Some(4), Some(9))]);
/// assert_eq!(error.problems()[0].message(), "`readonly` is not a profile; write `read_only`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyProblem {
    file: Arc<str>,
    position: Option<(u32, u32)>,
    message: String,
    notes: Vec<String>,
    /// The line as it is shown, with what is pointed at in it.
    shown: Option<(String, Range<usize>)>,
}

impl PolicyProblem {
    /// Points at a part of a line.
    pub(crate) fn at(
        file: &Arc<str>,
        number: u32,
        line: &str,
        within: Range<usize>,
        message: String,
    ) -> Self {
        let before = line.get(..within.start).unwrap_or(line);
        let column = u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX);
        let shown = (line.len() <= LONGEST_LINE).then(|| {
            // The renderer counts characters, so each that cannot be seen gives its place to one that can.
            let visible = |text: &str| -> String {
                let seen = |character| {
                    if is_hidden(character) && character != '\t' { '\u{fffd}' } else { character }
                };
                text.chars().map(seen).collect()
            };
            let marked = visible(line.get(within.clone()).unwrap_or_default());
            let start = visible(before).len();
            (visible(line), start..start + marked.len())
        });
        Self { file: Arc::clone(file), position: Some((number, column)), message, notes: Vec::new(), shown }
    }

    /// Is about a file as a whole.
    pub(crate) fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.into(), position: None, message: message.into(), notes: Vec::new(), shown: None }
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The file, as people know it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, 1-based; `None` for what is about a file as a whole.
    pub fn line(&self) -> Option<u32> {
        self.position.map(|(line, _)| line)
    }

    /// The column in characters, 1-based; `None` for what is about a file as a whole.
    pub fn column(&self) -> Option<u32> {
        self.position.map(|(_, column)| column)
    }

    /// What is wrong, with what to write instead.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What belongs to it besides, such as the explanation of a decision.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Cuts a text to what is worth reading, and shows what cannot be seen in it.
fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", Visible::line(&text[..end])),
        None => Visible::line(text).to_string(),
    }
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = shown(&self.file);
        let title = match self.position {
            Some(_) => shown(&self.message),
            None => format!("{file}: {}", shown(&self.message)),
        };
        let mut group = Level::ERROR.primary_title(title).elements(None::<Origin<'_>>);
        group = match (&self.shown, self.position) {
            (Some((line, within)), Some((number, _))) => group.element(
                Snippet::source(line.as_str())
                    .line_start(number as usize)
                    .path(file.as_str())
                    .annotation(AnnotationKind::Primary.span(within.clone())),
            ),
            (None, Some((line, column))) => {
                group.element(Origin::path(file.as_str()).line(line as usize).char_column(column as usize))
            }
            (_, None) => group,
        };
        group = group.elements(self.notes.iter().map(|note| Level::NOTE.message(shown(note))));
        f.write_str(&Renderer::plain().render(&[group]))
    }
}

impl PolicyFileError {
    /// What is wrong, in the order of the files and of the lines in them; at most 100, the others are only counted.
    pub fn problems(&self) -> &[PolicyProblem] {
        &self.problems
    }

    /// How many more there are than [`problems`](Self::problems) lists.
    pub fn more(&self) -> usize {
        self.more
    }
}

impl fmt::Display for PolicyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, problem) in self.problems.iter().enumerate() {
            if place > 0 {
                f.write_str("\n\n")?;
            }
            problem.fmt(f)?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n\nand {more} more"),
        }
    }
}

impl std::error::Error for PolicyFileError {}

impl From<PolicyProblem> for PolicyFileError {
    fn from(problem: PolicyProblem) -> Self {
        Self { problems: vec![problem], more: 0 }
    }
}

/// Gathers what is wrong, as much of it as is worth telling.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<PolicyProblem>,
    more: usize,
}

impl Problems {
    pub(crate) fn add(&mut self, problem: PolicyProblem) {
        if self.found.len() < MOST_PROBLEMS {
            self.found.push(problem);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn extend(&mut self, error: PolicyFileError) {
        self.more += error.more;
        error.problems.into_iter().for_each(|problem| self.add(problem));
    }

    /// Lists the lines that something is wrong with.
    pub(crate) fn lines(&self) -> Vec<u32> {
        self.found.iter().filter_map(PolicyProblem::line).collect()
    }

    /// Gives the value if nothing is wrong with it.
    pub(crate) fn unless_any<T>(self, value: T) -> Result<T, PolicyFileError> {
        if self.found.is_empty() {
            return Ok(value);
        }
        Err(PolicyFileError { problems: self.found, more: self.more })
    }

    /// Puts the problems of one file into the order of its lines.
    pub(crate) fn in_order(mut self) -> Self {
        self.found.sort_by_key(|problem| problem.position);
        self
    }
}
