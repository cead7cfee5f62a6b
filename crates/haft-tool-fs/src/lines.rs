//! Counting lines.

/// Counts the line feeds of a text.
pub(crate) fn line_feeds(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Counts the lines of a text; one that has no line feed at its end counts too.
pub(crate) fn lines_of(text: &[u8]) -> u64 {
    line_feeds(text) + u64::from(text.last().is_some_and(|byte| *byte != b'\n'))
}

/// Gives the number, 1-based, of the line that a place is in.
pub(crate) fn line_at(text: &[u8], place: usize) -> u64 {
    line_feeds(&text[..place]) + 1
}

#[cfg(test)]
mod tests {
    use super::{line_at, lines_of};

    #[test]
    fn counts_lines_with_and_without_an_end() {
        assert_eq!(["", "a", "a\n", "\n\n", "a\nb"].map(|text| lines_of(text.as_bytes())), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn numbers_the_line_of_a_place() {
        assert_eq!([0, 1, 2, 4].map(|place| line_at(b"a\nb\n", place)), [1, 1, 2, 3]);
    }
}
