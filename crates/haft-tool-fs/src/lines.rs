//! Counting lines, and what ends them.

/// What ends the lines of a file, as far as they are told apart by it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// A line feed, whether a carriage return is before it or not.
    #[default]
    Feed,
    /// A carriage return, in a file that has no line feed.
    Return,
}

impl LineEnd {
    /// Finds what ends the lines of a text.
    pub(crate) fn of(text: &[u8]) -> Self {
        let is_return =
            memchr::memchr2(b'\n', b'\r', text).is_some() && memchr::memchr(b'\n', text).is_none();
        if is_return { Self::Return } else { Self::Feed }
    }

    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Feed => b'\n',
            Self::Return => b'\r',
        }
    }

    /// Counts those of a text.
    pub(crate) fn count(self, text: &[u8]) -> u64 {
        memchr::memchr_iter(self.byte(), text).count() as u64
    }
}

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
    use super::{LineEnd, line_at, lines_of};

    #[test]
    fn counts_lines_with_and_without_an_end() {
        assert_eq!(["", "a", "a\n", "\n\n", "a\nb"].map(|text| lines_of(text.as_bytes())), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn lines_end_in_returns_where_there_is_nothing_else() {
        let ends =
            ["", "a", "a\n", "a\r", "a\rb", "a\rb\n", "a\r\n"].map(|text| LineEnd::of(text.as_bytes()));
        let [feed, by_return] = [LineEnd::Feed, LineEnd::Return];
        assert_eq!(ends, [feed, feed, feed, by_return, by_return, feed, feed]);
    }

    #[test]
    fn numbers_the_line_of_a_place() {
        assert_eq!([0, 1, 2, 4].map(|place| line_at(b"a\nb\n", place)), [1, 1, 2, 3]);
    }
}
