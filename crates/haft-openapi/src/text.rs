//! Texts of documents as models and people are shown them.

use haft_core::Visible;

/// Cleans a text of any number of lines: nothing hidden in it, no more than one empty line, cut to so many bytes.
pub(crate) fn cleaned(text: &str, most: usize) -> String {
    let start = &text[..text.floor_char_boundary(4 * most)];
    let mut lines: Vec<&str> = Vec::new();
    for line in start.lines().map(str::trim_end) {
        let is_repeated_gap = line.is_empty() && lines.last().is_none_or(|last| last.is_empty());
        if !is_repeated_gap {
            lines.push(line);
        }
    }
    let joined = lines.join("\n");
    let joined = joined.trim();
    let is_cut = joined.len() > most || start.len() < text.len();
    let kept = joined[..joined.floor_char_boundary(most)].trim_end();
    let mut shown = Visible::new(kept).to_string();
    if is_cut {
        shown.push_str(" […]");
    }
    shown
}

/// Cleans a text to one line.
pub(crate) fn line(text: &str, most: usize) -> String {
    let start = &text[..text.floor_char_boundary(4 * most)];
    let joined = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept = &joined[..joined.floor_char_boundary(most)];
    let mut shown = Visible::line(kept).to_string();
    if kept.len() < joined.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{cleaned, line};

    #[test]
    fn texts_are_visible_and_bounded() {
        assert_eq!(cleaned("\n\n a \t\n\n\n\nb\u{202e}\n", 100), "a\n\nb\\u{202e}");
        assert_eq!(cleaned("ab cd", 3), "ab […]");
        assert_eq!(cleaned(&"é".repeat(1000), 5), "éé […]");
        assert_eq!(line(" a\n\n b ", 100), "a b");
        assert_eq!(line("abcdef", 3), "abc…");
    }
}
