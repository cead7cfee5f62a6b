//! What is left of an output when somebody reads it who has no terminal.

mod line;

use std::fmt::Write as _;

use line::Line;
use memchr::memchr;

/// How often a line is written that comes several times in a row; how often it comes besides is told.
const WRITTEN: u64 = 3;

/// How much is compared at once, in bytes, when many equal lines come together.
const COMPARED_BYTES: usize = 4096;

/// How much is kept at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) bytes: usize,
    pub(crate) lines: usize,
}

/// Reduces text to what a terminal shows in the end: colours are left out, a line that was written over is what it became,
/// and a line that comes again and again is written three times.
///
/// It takes text until its room is used, and no more.
#[derive(Debug)]
pub(crate) struct Reduction {
    room: Room,
    text: String,
    lines: usize,
    line: Line,
    /// Where the last line begins in the text, how often it is there in a row, and how often it came besides.
    last: usize,
    written: u64,
    folded: u64,
    /// How much was taken, as it came, and where in that the line begins that has not ended.
    taken_bytes: usize,
    line_start: usize,
    /// Where lines begin, in the text and in what came.
    starts: Vec<(usize, usize)>,
    is_full: bool,
}

impl Reduction {
    pub(crate) fn new(room: Room) -> Self {
        Self {
            room,
            text: String::new(),
            lines: 0,
            line: Line::default(),
            last: 0,
            written: 0,
            folded: 0,
            taken_bytes: 0,
            line_start: 0,
            starts: Vec::new(),
            is_full: false,
        }
    }

    /// Takes the next text, and tells how many bytes of it there was room for.
    pub(crate) fn push(&mut self, text: &str) -> usize {
        let mut taken = 0;
        while taken < text.len() && !self.is_full {
            let step = self.take(&text[taken..]);
            taken += step;
            self.taken_bytes += step;
        }
        taken
    }

    /// The text as far as it has come, with a line that has not ended.
    pub(crate) fn to_text(&self) -> String {
        let mut text = self.text.clone();
        self.tell_folded(&mut text);
        self.line.write_to(&mut text);
        text
    }

    /// The text without a line that is cut, and how long that is, unless nothing much would be left.
    pub(crate) fn to_whole_lines(&self) -> (String, usize) {
        match self.line.plain_bytes() {
            Some(cut) if cut < self.text.len() => {
                let mut text = self.text.clone();
                self.tell_folded(&mut text);
                (text, cut)
            }
            _ => (self.to_text(), 0),
        }
    }

    /// The end of the text within a room, in whole lines unless one is too long, and where that begins in what came.
    pub(crate) fn end(&self, room: Room) -> (String, usize) {
        let text = self.to_text();
        let is_within = |start: usize, after: usize| text.len() - start <= room.bytes && after <= room.lines;
        let begun = (!self.line.is_empty()).then_some((self.written_bytes(), self.line_start));
        let starts: Vec<(usize, usize)> = self.starts.iter().copied().chain(begun).collect();
        let first = (0..starts.len()).find(|index| is_within(starts[*index].0, starts.len() - index));
        if let Some((start, came)) = first.map(|index| starts[index])
            && (start == 0 || (text.len() - start) * 2 >= room.bytes || starts.len() >= room.lines)
        {
            return (text[start..].to_owned(), came);
        }
        let start = text.ceil_char_boundary(text.len().saturating_sub(room.bytes));
        (text[start..].to_owned(), self.taken_bytes.saturating_sub(text.len() - start))
    }

    /// How long the text is without the line that has not ended.
    fn written_bytes(&self) -> usize {
        let mut note = String::new();
        self.tell_folded(&mut note);
        self.text.len() + note.len()
    }

    /// Takes a part of a text that is not empty.
    fn take(&mut self, text: &str) -> usize {
        if self.line.is_empty() {
            let repeated = self.repeated(text);
            if repeated > 0 {
                return repeated;
            }
        }
        let newline = memchr(b'\n', text.as_bytes());
        let whole = &text[..newline.unwrap_or(text.len())];
        let left = self.room.bytes.saturating_sub(self.text.len() + self.line.bytes());
        let piece = &whole[..whole.floor_char_boundary(left.max(4))];
        let ends = piece.len() == whole.len() && newline.is_some();
        self.line.push(piece, ends);
        let taken = piece.len() + usize::from(ends);
        if ends {
            self.end_line(taken);
        } else {
            self.is_full = self.text.len() + self.line.bytes() >= self.room.bytes;
        }
        taken
    }

    /// Folds the last line where it comes again, and tells how many bytes that takes.
    fn repeated(&mut self, text: &str) -> usize {
        let last = &self.text[self.last..];
        if self.written < WRITTEN || last.is_empty() || !text.starts_with(last) {
            return 0;
        }
        // What equals itself behind one line goes on in the same lines.
        let (line, bytes) = (last.len(), text.as_bytes());
        let most = bytes.len() - line;
        let mut same = 0;
        while same < most {
            let here = same..most.min(same + COMPARED_BYTES);
            let (before, behind) = (&bytes[here.clone()], &bytes[here.start + line..here.end + line]);
            if before != behind {
                same += before.iter().zip(behind).take_while(|(one, other)| one == other).count();
                break;
            }
            same = here.end;
        }
        let times = (same + line) / line;
        self.folded += times as u64;
        self.line_start = self.taken_bytes + times * line;
        times * line
    }

    fn end_line(&mut self, taken: usize) {
        let line = std::mem::take(&mut self.line).into_text();
        let start = std::mem::replace(&mut self.line_start, self.taken_bytes + taken);
        let is_last = self.text[self.last..].strip_suffix('\n') == Some(&line);
        if is_last && self.written > 0 {
            if self.written >= WRITTEN {
                self.folded += 1;
                return;
            }
        } else {
            let mut text = std::mem::take(&mut self.text);
            self.tell_folded(&mut text);
            self.text = text;
            (self.written, self.folded) = (0, 0);
        }
        self.last = self.text.len();
        self.starts.push((self.last, start));
        self.text.push_str(&line);
        self.text.push('\n');
        self.written += 1;
        self.lines += 1;
        self.is_full = self.text.len() >= self.room.bytes || self.lines >= self.room.lines;
    }

    fn tell_folded(&self, text: &mut String) {
        match self.folded {
            0 => {}
            1 => text.push_str("[the line above comes once more]\n"),
            times => {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "[the line above comes {times} more times]");
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]
mod tests;
