use super::TopLevel;
use memchr::memchr;
use serde_json::Value;
use std::ops::Range;

/// How much is read at once, in bytes: what a pipe holds on Linux (pipe(7)).
const READ: usize = 64 * 1024;

/// The largest buffer that is kept when it is empty, in bytes.
const MOST_IDLE: usize = 1024 * 1024;

/// Splits what is read into lines, and passes over those that are too long.
///
/// It never holds more than the longest line and one reading.
#[derive(Debug)]
pub(crate) struct Lines {
    buffer: Vec<u8>,
    /// Where the line begins that was not found yet.
    start: usize,
    /// Up to where no end of it is.
    searched: usize,
    most: usize,
    passing: Option<Passing>,
}

/// Is a line that is passed over.
#[derive(Debug, Default)]
struct Passing {
    top_level: TopLevel,
    bytes: u64,
}

/// Is a line that was found.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    /// Where it stands, without its end; it stands there until more is looked for.
    Line(Range<usize>),
    /// It was too long and is gone.
    Oversize {
        /// The id of the request that it answers, as far as it tells.
        id: Option<Value>,
        /// The id of the request that it is, as far as it tells.
        request: Option<Value>,
        /// How long it was, in bytes.
        bytes: u64,
    },
}

impl Lines {
    /// Makes one for lines of at most so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, searched: 0, most, passing: None }
    }

    /// Looks for the next line in what was read.
    pub(crate) fn find(&mut self) -> Option<Found> {
        let end = memchr(b'\n', &self.buffer[self.searched..]).map(|at| self.searched + at);
        let line = self.start..end.unwrap_or(self.buffer.len());
        self.searched = line.end;
        if self.passing.is_none() && line.len() > self.most {
            self.passing = Some(Passing::default());
        }
        if let Some(passing) = &mut self.passing {
            passing.top_level.pass(&self.buffer[line.clone()]);
            passing.bytes += line.len() as u64;
            self.start = line.end;
        }
        end?;
        self.start = line.end + 1;
        self.searched = self.start;
        Some(match self.passing.take() {
            Some(Passing { top_level, bytes }) => {
                Found::Oversize { id: top_level.answered(), request: top_level.asked(), bytes }
            }
            None => Found::Line(line),
        })
    }

    /// The bytes of a line that was found just now.
    pub(crate) fn line(&self, line: Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    /// Where more is to be put, behind what is there; what was found before is gone.
    pub(crate) fn room(&mut self) -> &mut Vec<u8> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            if self.buffer.capacity() > MOST_IDLE {
                self.buffer = Vec::new();
            }
        } else if self.buffer.capacity() - self.buffer.len() < READ {
            self.buffer.drain(..self.start);
        } else {
            return &mut self.buffer;
        }
        self.searched = self.searched.saturating_sub(self.start);
        self.start = 0;
        self.grow();
        &mut self.buffer
    }

    /// Takes what was read as the whole of the last line.
    pub(crate) fn end(&mut self) {
        if self.start < self.buffer.len() || self.passing.is_some() {
            self.buffer.push(b'\n');
        }
    }

    /// Makes room for one reading, by doubling up to what the longest line needs.
    fn grow(&mut self) {
        let (held, capacity) = (self.buffer.len(), self.buffer.capacity());
        if capacity - held < READ {
            let wanted = (capacity * 2).min(self.most.saturating_add(READ)).max(held + READ);
            self.buffer.reserve_exact(wanted - held);
        }
    }

    /// How much memory is held, in bytes.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.buffer.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const MOST: usize = 20;

    /// Reads a text in pieces of each size, and expects the same lines.
    fn check(text: &str, expected: &[&str]) {
        for size in 1..=text.len() {
            let mut lines = Lines::new(MOST);
            let mut found = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                lines.room().extend_from_slice(piece);
                collect(&mut lines, &mut found);
            }
            lines.end();
            collect(&mut lines, &mut found);
            assert_eq!(found, expected, "{text:?} in pieces of {size}");
        }
    }

    fn collect(lines: &mut Lines, found: &mut Vec<String>) {
        while let Some(next) = lines.find() {
            found.push(match next {
                Found::Line(line) => String::from_utf8_lossy(lines.line(line)).into_owned(),
                Found::Oversize { id, bytes, .. } => format!("{bytes} bytes of {id:?}"),
            });
        }
    }

    #[test]
    fn splits_lines() {
        check("one\ntwo\n\nthree\n", &["one", "two", "", "three"]);
        check("one\ntwo", &["one", "two"]);
        check("12345678901234567890\n1\n", &["12345678901234567890", "1"]);
    }

    #[test]
    fn passes_over_lines_that_are_too_long() {
        let long = format!("{{\"result\":\"{}\",\"id\":7}}", "x".repeat(100));
        let passed = format!("{} bytes of {:?}", long.len(), Some(json!(7)));
        check(&format!("one\n{long}\ntwo\n{long}\n"), &["one", &passed, "two", &passed]);
        check(&format!("one\n{long}"), &["one", &passed]);
    }

    #[test]
    fn holds_no_more_than_the_longest_line_and_a_reading() {
        let most = 200 * 1024;
        let mut lines = Lines::new(most);
        let piece = vec![b'x'; READ];
        for _ in 0..1_000 {
            lines.room().extend_from_slice(&piece);
            assert_eq!(lines.find(), None);
            assert!(lines.held() <= most + READ, "{}", lines.held());
        }
        lines.room().push(b'\n');
        assert_eq!(
            lines.find(),
            Some(Found::Oversize { id: None, request: None, bytes: 1_000 * READ as u64 })
        );
    }
}
