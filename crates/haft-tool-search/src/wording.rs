//! How numbers, paths and patterns are written into texts for the model.

use haft_workdir::Skipped;
use std::fmt;

/// How much text results may take, in bytes: with what is said after them it stays below 28 KiB, and so below the 32 KiB
/// that an executor lets pass by default.
pub(crate) const TEXT_BYTES: usize = 26 << 10;

/// How much room a line takes at least, in bytes: what fills the text has less than the 2,000 lines that an executor lets
/// pass by default.
const LINE_ROOM: usize = 14;

/// Counts the room that lines take of [`TEXT_BYTES`].
pub(crate) fn room_of(lines: &str) -> usize {
    lines.split_inclusive('\n').map(|line| line.len().max(LINE_ROOM)).sum()
}

/// How much of a pattern a text repeats, in characters.
const QUOTED_CHARACTERS: usize = 120;

/// Writes a number with its noun: `1 file`, `2 files`, `3 matches`, `4 entries`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ if noun.ends_with("ch") => format!("{number} {noun}es"),
        _ => format!("{number} {noun}s"),
    }
}

/// Says what was not searched, from numbers with their nouns and what is said of them; empty where that is nothing.
pub(crate) fn not_searched(parts: &[(u64, &str, &str)]) -> String {
    let parts = parts.iter().filter(|(number, ..)| *number > 0);
    let parts: Vec<String> =
        parts.map(|(number, noun, rest)| format!("{}{rest}", counted(*number, noun))).collect();
    if parts.is_empty() { String::new() } else { format!("not searched: {}", parts.join(", ")) }
}

/// What a walk could not look at, for [`not_searched`].
pub(crate) fn not_walked(skipped: Skipped) -> [(u64, &'static str, &'static str); 3] {
    [
        (skipped.unreadable, "directory", " that cannot be listed"),
        (skipped.not_unicode, "entry", " with a name that is not UTF-8"),
        (skipped.held_back, "entry", " that the policy denies"),
    ]
}

/// Says what a search for names could not look at; empty where that is nothing.
pub(crate) fn not_listed(skipped: Skipped) -> String {
    not_searched(&not_walked(skipped))
}

/// Adds a line, unless it is empty.
pub(crate) fn push_line(text: &mut String, line: &str) {
    if !line.is_empty() {
        text.push('\n');
        text.push_str(line);
    }
}

/// Writes `a`, `b` or `c` as one phrase.
pub(crate) fn either<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| Quoted(item).to_string()).collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [start @ .., last] => format!("{} or {last}", start.join(", ")),
    }
}

/// Something the model wrote, as texts repeat it: in backticks, bounded, on one line.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(QUOTED_CHARACTERS) {
            Some((end, _)) => write!(f, "`{}…`", OneLine(&self.0[..end])),
            None => write!(f, "`{}`", OneLine(self.0)),
        }
    }
}

/// A path as results name it: whole, but with control characters escaped, so that no name can look like two results.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.contains(char::is_control) {
            return f.write_str(self.0);
        }
        self.0.chars().try_for_each(|character| {
            if character.is_control() {
                write!(f, "{}", character.escape_default())
            } else {
                write!(f, "{character}")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_in_words() {
        assert_eq!(counted(1, "match"), "1 match");
        assert_eq!(counted(0, "match"), "0 matches");
        assert_eq!(counted(2, "file"), "2 files");
        assert_eq!(counted(2, "entry"), "2 entries");
    }

    #[test]
    fn quotes_on_one_line_and_bounded() {
        assert_eq!(Quoted("a\nb\u{1b}").to_string(), r"`a\nb\u{1b}`");
        assert_eq!(Quoted(&"é".repeat(121)).to_string(), format!("`{}…`", "é".repeat(120)));
    }

    #[test]
    fn lists_alternatives() {
        assert_eq!(either([]), "");
        assert_eq!(either(["a"]), "`a`");
        assert_eq!(either(["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
