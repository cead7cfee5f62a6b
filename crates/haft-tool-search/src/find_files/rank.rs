use frizbee::{Config, Matcher, Pattern, PatternConfig};
use haft_core::ToolError;
use haft_workdir::WorkdirPath;
use std::cmp::Reverse;

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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Whether it is not the name that fits, but only the path.
    by_path: bool,
    score: Reverse<u32>,
    length: usize,
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

    /// Prepares to compare; `with_typos` takes also what lacks a few of the characters.
    pub(super) fn ranking(&self, with_typos: bool) -> Ranking {
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
    /// Ranks a file by its name and its path below the start; nothing where it does not fit.
    pub(super) fn rank(
        &mut self,
        name: &str,
        relative: &str,
        path: impl FnOnce() -> WorkdirPath,
    ) -> Option<Rank> {
        let by_name = self.name.as_mut().and_then(|matcher| matcher.match_one(name, 0));
        let (found, by_path) = match by_name {
            Some(found) => (found, false),
            None => (self.path.match_one(relative, 0)?, true),
        };
        let score = Reverse(found.score.into());
        Some(Rank { by_path, score, length: relative.len(), path: path() })
    }
}
