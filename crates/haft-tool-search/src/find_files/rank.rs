use super::letters::Letters;
use super::search::Closeness;
use frizbee::{Config, Matcher, Pattern, PatternConfig};
use haft_core::ToolError;
use haft_workdir::WorkdirPath;

/// The longest query accepted, in bytes.
const LONGEST: usize = 200;

/// For how many characters of a query one may be wrong, where nothing has them all.
const CHARACTERS_FOR_A_TYPO: usize = 4;

/// What names are compared with.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) text: String,
    /// Whether it is about the whole path.
    is_path: bool,
}

/// How well a file fits, the best first.
///
/// A name that fits comes before a path that does, a higher score before a lower one, and a shorter path before a longer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit(u64);

impl Fit {
    fn of(by_path: bool, score: u16, length: usize) -> Self {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Self((u64::from(by_path) << 48) | (u64::from(u16::MAX - score) << 32) | u64::from(length))
    }

    /// A number that is less for what fits better.
    pub(super) fn as_number(self) -> u64 {
        self.0
    }
}

/// A file that fits, the best first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) fit: Fit,
    pub(super) path: WorkdirPath,
}

/// Compares names with a query, on one thread.
pub(super) struct Ranking {
    name: Option<Matcher>,
    path: Matcher,
}

impl Query {
    /// Parses a model-given query.
    pub(super) fn parse(given: &str) -> Result<Self, ToolError> {
        let text = given.trim().trim_start_matches("./").to_owned();
        if text.trim_matches('/').is_empty() {
            let text = "`query` is empty; write a part of a name, or use `glob` with `*` to list all files";
            return Err(ToolError::invalid_input(text));
        }
        if text.len() > LONGEST {
            let text = format!("`query` is longer than {LONGEST} bytes; write a part of the name");
            return Err(ToolError::invalid_input(text));
        }
        let is_path = text.contains(['/', ' ']);
        Ok(Self { text, is_path })
    }

    /// Tells whether hidden files are asked for by naming one.
    pub(super) fn names_hidden(&self) -> bool {
        self.text.split(['/', ' ']).any(|name| name.starts_with('.') && name.len() > 1)
    }

    /// Prepares to look for all its characters, before anything is compared.
    pub(super) fn letters(&self) -> Letters {
        Letters::of(&self.text)
    }

    /// Prepares to compare.
    pub(super) fn ranking(&self, closeness: Closeness) -> Ranking {
        let with_typos = closeness == Closeness::WithTypos;
        let patterns: Vec<Pattern> = self
            .text
            .split_whitespace()
            .map(|part| {
                let typos = if with_typos { part.chars().count() / CHARACTERS_FOR_A_TYPO } else { 0 };
                let typos = u16::try_from(typos).unwrap_or(u16::MAX);
                Pattern::new(part, PatternConfig::default().max_typos(Some(typos)))
            })
            .collect();
        let matcher = || Matcher::from_patterns(&patterns, &Config::default());
        Ranking { name: (!self.is_path).then(matcher), path: matcher() }
    }
}

impl Ranking {
    /// Tells how well a file fits by its name and its path below the start; nothing where it does not.
    pub(super) fn fit(&mut self, name: &str, relative: &str) -> Option<Fit> {
        let by_name = self.name.as_mut().and_then(|matcher| matcher.match_one(name, 0));
        let (found, by_path) = match by_name {
            Some(found) => (found, false),
            None => (self.path.match_one(relative, 0)?, true),
        };
        Some(Fit::of(by_path, found.score, relative.len()))
    }
}
