//! Patterns for paths, in the manner of `.gitignore` and `rg --glob`, matched by `globset`.

mod fault;

use crate::wording::Quoted;
use fault::{Fault, find_fault};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use haft_core::ToolError;
use std::path::Path;

/// The longest pattern accepted, in bytes; no path a person would write comes near it.
pub(crate) const LONGEST: usize = 1000;

/// A pattern for paths below the directory where a search starts.
///
/// `*` and `?` stay within one name, `**` goes through directories, `[..]` and `{a,b}` choose. A pattern without a `/`
/// (other than at its end) matches at any depth, one with a `/` from the start of the search; a final `/` asks for
/// directories. `?` and `[..]` stand for one byte, as they do in ripgrep.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    /// Nothing where everything matches.
    matcher: Option<GlobSet>,
    /// Matches what was probably meant: at any depth and whatever the letter case.
    relaxed: GlobSet,
    wants_directories: bool,
    names_hidden: bool,
}

/// Says why a text is no pattern.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PathPatternError {
    /// Nothing is left that could match a name.
    Empty,
    /// It is longer than [`LONGEST`].
    TooLong,
    /// It has a `..`, which leads out of where the search starts.
    Parent,
    /// Something is wrong at a place, counted in characters from 1.
    At { character: usize, fault: Fault },
    /// The pattern cannot be compiled.
    Compile { reason: String },
}

impl PathPattern {
    /// Parses a model-given pattern.
    pub(crate) fn parse(given: &str) -> Result<Self, PathPatternError> {
        if given.len() > LONGEST {
            return Err(PathPatternError::TooLong);
        }
        if let Some((character, fault)) = find_fault(given) {
            return Err(PathPatternError::At { character, fault });
        }
        let segments: Vec<&str> = given.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
        if segments.contains(&"..") {
            return Err(PathPatternError::Parent);
        }
        let plain = segments.join("/");
        if plain.is_empty() {
            return Err(PathPatternError::Empty);
        }
        let anywhere = format!("**/{plain}");
        let is_anchored = given.trim_start_matches("./").trim_end_matches('/').contains('/');
        let pattern = if is_anchored { &plain } else { &anywhere };
        Ok(Self {
            matcher: (!matches!(pattern.as_str(), "**/*" | "**/**" | "**"))
                .then(|| compile(pattern, Case::Exact))
                .transpose()?,
            relaxed: compile(&anywhere, Case::Ignored)?,
            wants_directories: given.ends_with('/'),
            names_hidden: names_hidden(&plain),
        })
    }

    /// Tells whether a path, relative to where the search starts, matches.
    pub(crate) fn matches(&self, path: &str) -> bool {
        self.matcher.as_ref().is_none_or(|matcher| matcher.is_match(Path::new(path)))
    }

    /// Tells whether a path would match at another depth or with other letter case.
    pub(crate) fn nearly_matches(&self, path: &str) -> bool {
        self.relaxed.is_match(Path::new(path))
    }

    /// Tells whether the pattern ends in `/` and thus asks for directories.
    pub(crate) fn wants_directories(&self) -> bool {
        self.wants_directories
    }

    /// Tells whether a name in the pattern starts with a dot, which asks for hidden entries, as it does in a shell.
    pub(crate) fn names_hidden(&self) -> bool {
        self.names_hidden
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Exact,
    Ignored,
}

fn compile(pattern: &str, case: Case) -> Result<GlobSet, PathPatternError> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .empty_alternates(true)
        .backslash_escape(true)
        .case_insensitive(case == Case::Ignored)
        .build();
    // A set knows shapes such as `*.rs`, for which it needs no regular expression.
    match glob.and_then(|glob| GlobSetBuilder::new().add(glob).build()) {
        Ok(matcher) => Ok(matcher),
        Err(error) => Err(PathPatternError::Compile { reason: error.kind().to_string() }),
    }
}

fn names_hidden(pattern: &str) -> bool {
    let starts_a_name = |before: Option<char>| matches!(before, None | Some('/' | '{' | ','));
    let mut before = None;
    for character in pattern.chars() {
        if character == '.' && starts_a_name(before) {
            return true;
        }
        before = Some(character);
    }
    false
}

impl PathPatternError {
    /// Makes the error for the model, about the pattern `given` in the argument `argument`.
    pub(crate) fn refuse(&self, argument: &str, given: &str) -> ToolError {
        let pattern = Quoted(given);
        ToolError::invalid_input(match self {
            Self::Empty => {
                format!("`{argument}` is empty; write a pattern such as `*.rs` or `src/**/*.rs`")
            }
            Self::TooLong => {
                format!("`{argument}` is longer than {LONGEST} bytes; write a shorter pattern")
            }
            Self::Parent => format!(
                "`{argument}` {pattern} has a `..`; leave it out and set `path` to the directory to start in"
            ),
            Self::At { character, fault } => {
                format!(
                    "`{argument}` {pattern} is not a pattern: {} at character {character}; {}",
                    fault.what(),
                    fault.remedy()
                )
            }
            Self::Compile { reason } => {
                format!("`{argument}` {pattern} cannot be used: {reason}; write a simpler pattern")
            }
        })
    }
}

/// Which files a search takes: those that match a pattern, or those that do not (`!pattern`).
///
/// A pattern that ends in `/` stands for everything in the directories that match. What is excluded is excluded with
/// everything below it, as in `.gitignore`.
#[derive(Debug, Clone)]
pub(crate) struct PathFilter {
    pattern: PathPattern,
    excludes: bool,
}

impl PathFilter {
    /// Parses a model-given filter.
    pub(crate) fn parse(given: &str) -> Result<Self, PathPatternError> {
        match given.strip_prefix('!') {
            Some(pattern) => Ok(Self { pattern: PathPattern::parse(pattern)?, excludes: true }),
            None => Ok(Self { pattern: PathPattern::parse(given)?, excludes: false }),
        }
    }

    /// Tells whether a file, by its path relative to where the search starts, is taken.
    pub(crate) fn takes(&self, path: &str) -> bool {
        let mut directories =
            path.match_indices('/').map(|(end, _)| &path[..end]).filter(|path| self.pattern.matches(path));
        if self.excludes {
            directories.next().is_none() && (self.pattern.wants_directories() || !self.pattern.matches(path))
        } else if self.pattern.wants_directories() {
            directories.next().is_some()
        } else {
            self.pattern.matches(path)
        }
    }

    /// Tells whether the filter asks for hidden entries by naming one.
    pub(crate) fn names_hidden(&self) -> bool {
        !self.excludes && self.pattern.names_hidden()
    }
}

#[cfg(test)]
mod tests;
