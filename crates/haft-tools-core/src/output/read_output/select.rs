use regex::bytes::Regex;
use std::fmt::Write as _;

/// How many bytes of a line a pattern is looked for in at once.
const WINDOW_BYTES: usize = 64 * 1024;

/// How many bytes of a long line are looked at again together with what follows them.
const OVERLAP_BYTES: usize = 4 * 1024;

/// How many bytes before a match are given where the beginning of its line is too far away.
const BEFORE_BYTES: usize = 200;

/// How many bytes less are given of a line whose beginning is left out, so that the note on that has room.
const BEFORE_NOTE_BYTES: usize = 64;

/// What is wanted of an output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// The first line, 1-based; from the end where negative, and 0 is the first line too.
    pub(super) offset: i64,
    /// The first byte of the first line, 1-based.
    pub(super) column: u64,
    /// The most lines.
    pub(super) lines: u64,
    /// The most bytes of numbered lines.
    pub(super) bytes: usize,
    /// The most bytes of one line.
    pub(super) line_bytes: usize,
}

/// Numbered lines of an output, picked while it is read.
///
/// A pattern is looked for line by line. Of a line longer than 64 KiB it is looked for in pieces of this size that share
/// 4 KiB, so a match longer than that can be missed there, and `^` and `$` match at their ends.
#[derive(Debug)]
pub(super) struct Selection {
    wanted: Wanted,
    pattern: Option<Regex>,
    /// The lines as `{number}\t{line}\n`.
    pub(super) text: String,
    /// The number of the first line asked for.
    pub(super) first: u64,
    /// The number of the last line given; less than `first` where none is.
    pub(super) last: u64,
    /// How many lines are given.
    pub(super) given: u64,
    /// The first line that is not given to its end, and the column at which the rest of it begins.
    pub(super) first_cut: Option<(u64, u64)>,
    /// Whether a line that matches was left out.
    pub(super) has_more: bool,
    pub(super) is_full: bool,
    line: Line,
}

/// The line that the next byte belongs to.
#[derive(Debug, Default)]
struct Line {
    number: u64,
    /// How many bytes of it have come.
    length: u64,
    /// How many of them are passed over before anything is looked at.
    skipped: u64,
    /// Bytes in which the pattern was not found yet, and where they begin.
    window: Vec<u8>,
    window_start: u64,
    /// What is given of it, and where that begins.
    shown: Vec<u8>,
    shown_start: u64,
    /// Whether the line is given: from the start without a pattern, else once it is found.
    matches: bool,
    ends_in_return: bool,
}

impl Selection {
    /// Starts at the first line asked for.
    pub(super) fn new(first: u64, wanted: Wanted, pattern: Option<Regex>) -> Self {
        let skipped = wanted.column.saturating_sub(1);
        let line = Line::new(first, skipped, pattern.is_none());
        Self {
            wanted,
            pattern,
            text: String::new(),
            first,
            last: first.saturating_sub(1),
            given: 0,
            first_cut: None,
            has_more: false,
            is_full: false,
            line,
        }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            self.add(text);
            if text.len() < part.len() {
                if self.line.ends_in_return {
                    self.line.drop_return();
                }
                self.end_line();
            }
            if self.is_full {
                return;
            }
        }
    }

    /// Ends the last line, if no newline did.
    pub(super) fn finish(&mut self) {
        if !self.is_full && self.line.length > 0 {
            self.end_line();
        }
    }

    fn add(&mut self, text: &[u8]) {
        let Some(last) = text.last() else { return };
        let line = &mut self.line;
        line.ends_in_return = *last == b'\r';
        let passed =
            usize::try_from(line.skipped.saturating_sub(line.length)).unwrap_or(usize::MAX).min(text.len());
        line.length += text.len() as u64;
        let mut text = &text[passed..];
        while !text.is_empty() {
            if line.matches {
                let room = line.most(self.wanted.line_bytes).saturating_sub(line.shown.len());
                line.shown.extend_from_slice(&text[..text.len().min(room)]);
                return;
            }
            let (now, later) = text.split_at(text.len().min(WINDOW_BYTES - line.window.len()));
            line.window.extend_from_slice(now);
            text = later;
            if line.window.len() == WINDOW_BYTES {
                line.look(self.pattern.as_ref(), self.wanted.line_bytes);
            }
        }
    }

    fn end_line(&mut self) {
        if !self.line.matches {
            self.line.look(self.pattern.as_ref(), self.wanted.line_bytes);
        }
        if self.line.matches {
            if self.given == self.wanted.lines {
                (self.has_more, self.is_full) = (true, true);
                return;
            }
            let before = self.text.len();
            let rest = self.line.write(&mut self.text);
            if self.text.len() > self.wanted.bytes && before > 0 {
                self.text.truncate(before);
                (self.has_more, self.is_full) = (true, true);
                return;
            }
            self.first_cut = self.first_cut.or(rest.map(|column| (self.line.number, column)));
            (self.last, self.given) = (self.line.number, self.given + 1);
            self.is_full = self.given == self.wanted.lines && self.pattern.is_none();
        }
        self.line = Line::new(self.line.number + 1, 0, self.pattern.is_none());
    }
}

impl Line {
    fn new(number: u64, skipped: u64, matches: bool) -> Self {
        let (window_start, shown_start) = (skipped, skipped);
        Self { number, skipped, window_start, shown_start, matches, ..Self::default() }
    }

    /// How many bytes of the line are given, where this many of a whole line are.
    fn most(&self, line_bytes: usize) -> usize {
        if self.shown_start == 0 { line_bytes } else { line_bytes.saturating_sub(BEFORE_NOTE_BYTES) }
    }

    /// Looks for the pattern in what has come of the line since it was last looked for.
    fn look(&mut self, pattern: Option<&Regex>, most_bytes: usize) {
        let Some(found) = pattern.and_then(|pattern| pattern.find(&self.window)) else {
            let done = self.window.len().saturating_sub(OVERLAP_BYTES);
            self.window.drain(..done);
            self.window_start += done as u64;
            return;
        };
        let is_near = self.window_start == self.skipped && found.end() <= most_bytes;
        let start = if is_near { 0 } else { found.start().saturating_sub(BEFORE_BYTES) };
        self.shown_start = self.window_start + start as u64;
        let end = self.window.len().min(start + self.most(most_bytes));
        self.shown.extend_from_slice(&self.window[start..end]);
        self.matches = true;
        self.window = Vec::new();
    }

    /// Leaves out a carriage return at the end: it belongs to the line end.
    fn drop_return(&mut self) {
        self.length -= 1;
        let shown = usize::try_from(self.length.saturating_sub(self.shown_start)).unwrap_or(usize::MAX);
        self.shown.truncate(shown);
        let window = usize::try_from(self.length.saturating_sub(self.window_start)).unwrap_or(usize::MAX);
        self.window.truncate(window);
    }

    /// Writes the line and tells at which column what is left out behind begins, if anything is.
    fn write(&self, text: &mut String) -> Option<u64> {
        let is_within = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        let broken = self.shown.iter().take_while(is_within).count();
        let shown = &self.shown[broken..];
        // What was cut may end within a character; nothing else here is not UTF-8.
        let shown = match std::str::from_utf8(shown) {
            Ok(shown) => shown,
            Err(error) => std::str::from_utf8(&shown[..error.valid_up_to()]).unwrap_or_default(),
        };
        let start = (self.shown_start + broken as u64).min(self.length);
        let end = start + shown.len() as u64;
        // Writing to a string cannot fail.
        let _ = write!(text, "{}\t", self.number);
        if start > 0 {
            let _ = write!(text, "[… {start} bytes before …]");
        }
        text.push_str(shown);
        let more = self.length.saturating_sub(end);
        if more > 0 {
            let _ = write!(text, "[… {more} bytes more in this line …]");
        }
        text.push('\n');
        (more > 0).then_some(end + 1)
    }
}
