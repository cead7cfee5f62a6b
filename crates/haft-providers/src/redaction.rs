//! Takes keys out of what a service says.

use haft_core::Visible;
use std::sync::Arc;

/// How much of what a service says is shown, in bytes.
const MOST_BYTES: usize = 600;

/// How long a key is at least that is a secret, in bytes.
const SHORTEST_SECRET: usize = 8;

/// What stands where a secret was.
const REDACTED: &str = "[redacted]";

/// Knows the keys that must not be shown.
#[derive(Clone)]
pub(crate) struct Redaction(Vec<Arc<str>>);

impl Redaction {
    /// Leaves out what is short: a server without keys is given it, and it may well be a word in what that says.
    pub(crate) fn of<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        Self(secrets.into_iter().filter(|secret| secret.len() >= SHORTEST_SECRET).map(Arc::from).collect())
    }

    /// Makes a text fit to be shown: short, on one line, without keys and without what cannot be seen.
    ///
    /// A service may repeat a key in part (`sk-pr***wxyz`), so whatever begins like a key is taken out, too.
    pub(crate) fn show(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = text.replace(&**secret, REDACTED);
        }
        let mut shown = String::with_capacity(text.len().min(MOST_BYTES));
        for (index, word) in
            text.split_inclusive(|c: char| c.is_whitespace() || "\"'`,;()".contains(c)).enumerate()
        {
            if shown.len() + word.len() > MOST_BYTES {
                if index == 0 {
                    shown.extend(word.chars().take(MOST_BYTES / 4));
                }
                shown.push('…');
                break;
            }
            match word.find("sk-").filter(|at| word[..*at].bytes().all(|byte| !byte.is_ascii_alphanumeric()))
            {
                Some(at) => {
                    let end = word.find(|c: char| c.is_whitespace() || "\"'`,;()".contains(c));
                    shown.push_str(&word[..at]);
                    shown.push_str(REDACTED);
                    shown.push_str(end.map_or("", |end| &word[end.max(at)..]));
                }
                None => shown.push_str(word),
            }
        }
        Visible::line(shown.trim_end()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Redaction::of(["topsecret"]).show(text), expected);
    }

    #[test]
    fn takes_keys_out_whole_and_in_part() {
        check("no topsecret here", "no [redacted] here");
        check("Incorrect API key provided: sk-pr***wxyz.", "Incorrect API key provided: [redacted]");
        check("key='sk-abc', ask-me", "key='[redacted]', ask-me");
    }

    #[test]
    fn keeps_what_is_shown_short_and_visible() {
        check("a\u{1b}[31m\nb", r"a\u{1b}[31m\nb");
        let long = Redaction::of([]).show(&"word ".repeat(1000));
        assert!(long.len() <= MOST_BYTES + 3 && long.ends_with('…'), "{long}");
        let one = Redaction::of([]).show(&"x".repeat(100_000));
        assert_eq!(one.len(), MOST_BYTES / 4 + 3);
    }
}
