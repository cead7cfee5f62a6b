use super::{REDACTED, SecretError};
use crate::rewrite::Rewrite;
use aho_corasick::{AhoCorasick, Input, MatchKind};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// Finds a set of secrets; made anew for each that is added.
pub(super) struct Secrets {
    /// In order, each once.
    sorted: Box<[Box<str>]>,
    longest: usize,
    /// Whether one of them can be within a number.
    any_digits: bool,
    automaton: AhoCorasick,
}

impl Secrets {
    /// Adds a secret to those there are, in every way in which it is found.
    pub(super) fn with(known: Option<&Self>, secret: &str) -> Result<Self, SecretError> {
        let mut sorted: Vec<Box<str>> = known.map(|known| known.sorted.to_vec()).unwrap_or_default();
        sorted.extend(writings(secret));
        sorted.sort_unstable();
        sorted.dedup();
        let longest = sorted.iter().map(|secret| secret.len()).max().unwrap_or_default();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(sorted.iter().map(|secret| secret.as_bytes()))
            .map_err(|_| SecretError::TooMany)?;
        let in_number = |byte: u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
        let any_digits = sorted.iter().any(|secret| secret.bytes().all(in_number));
        Ok(Self { sorted: sorted.into(), longest, any_digits, automaton })
    }

    /// Tells whether a secret is among them, in every way in which it is found.
    pub(super) fn has(&self, secret: &str) -> bool {
        writings(secret).iter().all(|writing| self.sorted.binary_search(writing).is_ok())
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

    /// Gives at most so many bytes from the end of a text without secrets, at a price that does not grow with the text.
    pub(super) fn tail(&self, text: &str, most: usize) -> String {
        // A secret that is there at the first place that is given begins behind where the search begins.
        let given_from = text.floor_char_boundary(text.len().saturating_sub(most));
        let searched_from = text.floor_char_boundary(given_from.saturating_sub(self.longest));
        let searched = &text[searched_from..];
        let mut done = given_from - searched_from;
        let mut tail = String::new();
        for found in self.find_all(searched).filter(|found| found.end > given_from - searched_from) {
            tail.push_str(searched.get(done..found.start).unwrap_or_default());
            tail.push_str(REDACTED);
            done = found.end;
        }
        tail.push_str(&searched[done..]);
        if tail.len() > most {
            tail.drain(..tail.ceil_char_boundary(tail.len() - most));
        }
        tail
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

    fn number(&self, number: &Number) -> Option<String> {
        if !self.any_digits {
            return None;
        }
        match self.redact(&number.to_string()) {
            Cow::Borrowed(_) => None,
            Cow::Owned(_) => Some(REDACTED.to_owned()),
        }
    }
}

/// The fewest bytes that a line has which tells something of a secret of several lines.
const LEAST_LINE: usize = 16;

/// Writes a secret in every way in which it is found: with either kind of line ends, and as it is or as JSON writes it. Of a
/// secret of several lines, as a private key is, also each line that is one word: tools number lines, and give some of them.
fn writings(secret: &str) -> Vec<Box<str>> {
    let lines = secret.replace("\r\n", "\n");
    let mut writings: Vec<Box<str>> = Vec::new();
    for secret in [secret, &lines, &lines.replace('\n', "\r\n")] {
        let quoted = Value::from(secret).to_string();
        let json = &quoted[1..quoted.len() - 1];
        writings.push(secret.into());
        for json in [json, &ascii(json, false), &ascii(json, true)] {
            writings.extend([json.into(), json.replace('/', "\\/").into()]);
        }
    }
    if lines.contains('\n') {
        let tells = |line: &&str| {
            line.len() >= LEAST_LINE && !line.contains(char::is_whitespace) && !line.starts_with("-----")
        };
        for line in lines.lines().map(str::trim).filter(tells) {
            writings.extend([line.into(), line.replace('/', "\\/").into()]);
        }
    }
    writings
}

/// Writes what is not ASCII as JSON can, in UTF-16 and with digits of either case.
fn ascii(json: &str, upper: bool) -> String {
    let mut written = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            written.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = if upper { write!(written, "\\u{unit:04X}") } else { write!(written, "\\u{unit:04x}") };
        }
    }
    written
}
