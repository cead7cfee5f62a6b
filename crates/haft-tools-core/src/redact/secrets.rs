use super::{REDACTED, SecretError};
use crate::rewrite::Rewrite;
use aho_corasick::{AhoCorasick, Input, MatchKind};
use std::borrow::Cow;
use std::ops::Range;

/// Finds a set of secrets; made anew for each that is added.
pub(super) struct Secrets {
    /// In order, each once.
    sorted: Box<[Box<str>]>,
    longest: usize,
    automaton: AhoCorasick,
}

impl Secrets {
    /// Adds a secret to those there are, as it is and as JSON writes it.
    pub(super) fn with(known: Option<&Self>, secret: &str) -> Result<Self, SecretError> {
        let mut sorted: Vec<Box<str>> = known.map(|known| known.sorted.to_vec()).unwrap_or_default();
        sorted.push(secret.into());
        let written = serde_json::Value::from(secret).to_string();
        sorted.push(written[1..written.len() - 1].into());
        sorted.sort_unstable();
        sorted.dedup();
        let longest = sorted.iter().map(|secret| secret.len()).max().unwrap_or_default();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(sorted.iter().map(|secret| secret.as_bytes()))
            .map_err(|_| SecretError::TooMany)?;
        Ok(Self { sorted: sorted.into(), longest, automaton })
    }

    /// Finds the first secret at or behind a place.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        self.automaton.find(Input::new(text).span(from..text.len())).map(|found| found.range())
    }

    /// Finds all secrets, none of which overlap.
    pub(super) fn find_all<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        self.automaton.find_iter(text).map(|found| found.range())
    }

    pub(super) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut kept_from = 0;
        let mut redacted = String::new();
        for found in self.find_all(text) {
            if redacted.is_empty() {
                redacted.reserve(text.len());
            }
            redacted.push_str(&text[kept_from..found.start]);
            redacted.push_str(REDACTED);
            kept_from = found.end;
        }
        if kept_from == 0 {
            return Cow::Borrowed(text);
        }
        redacted.push_str(&text[kept_from..]);
        Cow::Owned(redacted)
    }

    /// Finds where the end of a text begins that is the beginning of a secret, and no whole one.
    ///
    /// Looks no further back than `from`; gives the end of the text where there is none.
    pub(super) fn unfinished(&self, text: &str, from: usize) -> usize {
        let earliest = text.len().saturating_sub(self.longest.saturating_sub(1)).max(from);
        let candidates = earliest..text.len();
        candidates.into_iter().find(|at| self.is_beginning(&text.as_bytes()[*at..])).unwrap_or(text.len())
    }

    fn is_beginning(&self, bytes: &[u8]) -> bool {
        // What begins with the bytes and is longer follows them in the order, without anything between.
        let next = self.sorted.partition_point(|secret| secret.as_bytes() <= bytes);
        self.sorted.get(next).is_some_and(|secret| secret.as_bytes().starts_with(bytes))
    }
}

impl Rewrite for Secrets {
    fn rewrite<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact(text)
    }
}
