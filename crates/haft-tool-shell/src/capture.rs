use std::fmt::Write as _;

use memchr::memchr_iter;

use crate::reduction::{Reduction, Room};

/// How much of the beginning of an output is given.
///
/// With the lines of its end and what stands around them they are fewer than the 2,000 that an executor lets pass by default.
const HEAD: Room = Room { bytes: 16 * 1024, lines: 1_200 };

/// How much of the end of an output is given.
const TAIL: Room = Room { bytes: 12 * 1024, lines: 700 };

/// How much of the end of an output is kept as it came, in bytes: more than is given of it, since it is reduced only then.
const KEPT_BYTES: usize = 32 * 1024;

/// Keeps the beginning and the end of an output while it streams, and counts what lies between.
///
/// Memory is bounded whatever comes: the beginning is reduced as it comes, and the end when it is read.
#[derive(Debug)]
pub(crate) struct Capture {
    head: Reduction,
    /// How much the head took, as it came.
    head_bytes: u64,
    head_newlines: u64,
    /// The end of what the head did not take, as it came; up to twice as long as what is kept of it, so that most pieces are
    /// appended without moving anything.
    tail: String,
    bytes: u64,
    newlines: u64,
}

/// Where all of an output can be found of which something was cut.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whole<'a> {
    /// Nowhere.
    Gone,
    /// In the output of this name, but for as many bytes at its end.
    Kept { output: &'a str, lost: u64 },
}

impl Default for Capture {
    fn default() -> Self {
        let (head, tail) = (Reduction::new(HEAD), String::new());
        Self { head, head_bytes: 0, head_newlines: 0, tail, bytes: 0, newlines: 0 }
    }
}

impl Capture {
    pub(crate) fn push(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.newlines += newlines(text);
        let taken = self.head.push(text);
        self.head_bytes += taken as u64;
        self.head_newlines += newlines(&text[..taken]);
        let rest = &text[taken..];
        if rest.len() >= KEPT_BYTES {
            self.tail.clear();
        } else if self.tail.len() + rest.len() > 2 * KEPT_BYTES {
            let kept = last(&self.tail, KEPT_BYTES - rest.len()).len();
            self.tail.drain(..self.tail.len() - kept);
        }
        self.tail.push_str(last(rest, KEPT_BYTES));
    }

    /// Tells whether nothing is cut when it is read.
    pub(crate) fn is_whole(&self) -> bool {
        let before_tail = self.bytes - self.head_bytes - last(&self.tail, KEPT_BYTES).len() as u64;
        if before_tail > 0 || self.tail.is_empty() {
            return before_tail == 0;
        }
        let mut reduced = Reduction::new(Room { bytes: usize::MAX, lines: usize::MAX });
        reduced.push(&self.tail);
        reduced.end(TAIL).1 == 0
    }

    /// The output as it is read: whole if it is short enough, else its head and tail in whole lines where lines are
    /// short, and between them how much was cut and where that is.
    pub(crate) fn to_text(&self, whole: Whole<'_>) -> String {
        let tail = last(&self.tail, KEPT_BYTES);
        let before_tail = self.bytes - self.head_bytes - tail.len() as u64;
        let mut reduced = Reduction::new(Room { bytes: usize::MAX, lines: usize::MAX });
        // What begins in the middle of a line is read from the next one on, where lines are short.
        let skipped = if before_tail == 0 { 0 } else { part_of_line(tail) };
        reduced.push(&tail[skipped..]);
        let (end, came) = reduced.end(TAIL);
        let tail = &tail[skipped + came..];
        if before_tail == 0 && came == 0 {
            let mut text = self.head.to_text() + &end;
            if let Whole::Kept { .. } = whole {
                end_line(&mut text);
                // Writing to a string cannot fail.
                let _ = writeln!(text, "[reduced from {} bytes{}]", self.bytes, At { whole, line: 1 });
            }
            return text;
        }
        let (mut text, cut) = self.head.to_whole_lines();
        let bytes = self.bytes - self.head_bytes - tail.len() as u64 + cut as u64;
        let lines = self.newlines - self.head_newlines - newlines(tail);
        end_line(&mut text);
        let at = At { whole, line: self.head_newlines + 1 };
        let _ = writeln!(text, "[… {bytes} bytes, {lines} lines cut here{at} …]");
        text + &end
    }

    /// The last whole lines of the output so far, at most this many bytes of them.
    pub(crate) fn newest(&self, most_bytes: usize) -> String {
        let room = Room { bytes: most_bytes, lines: usize::MAX };
        let mut text = if self.tail.len() < 2 * most_bytes { self.head.to_text() } else { String::new() };
        let begins = text.is_empty() && !self.tail.is_empty();
        text.push_str(last(&self.tail, 2 * most_bytes));
        let skipped = if begins { part_of_line(&text) } else { 0 };
        let mut reduced = Reduction::new(Room { bytes: usize::MAX, lines: usize::MAX });
        reduced.push(&text[skipped..]);
        reduced.end(room).0
    }
}

/// Says where something can be found.
struct At<'a> {
    whole: Whole<'a>,
    line: u64,
}

impl std::fmt::Display for At<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.whole {
            Whole::Gone => f.write_str(": write long output to a file and look at parts of it"),
            Whole::Kept { output, lost } => {
                write!(f, ": `read_output` gives them, with output \"{output}\" and offset {}", self.line)?;
                if lost > 0 {
                    write!(f, "; its last {lost} bytes could not be kept")?;
                }
                Ok(())
            }
        }
    }
}

fn newlines(text: &str) -> u64 {
    memchr_iter(b'\n', text.as_bytes()).count() as u64
}

/// The end of a text, at most this many bytes of it.
fn last(text: &str, most_bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most_bytes))..]
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// How long a part of a line at the beginning of a text is, unless it is more than half of that.
fn part_of_line(text: &str) -> usize {
    match memchr::memchr(b'\n', text.as_bytes()) {
        Some(newline) if newline < text.len() / 2 => newline + 1,
        _ => 0,
    }
}

#[cfg(test)]
#[expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]
mod tests;
