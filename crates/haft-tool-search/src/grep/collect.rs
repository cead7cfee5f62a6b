use super::found::{Found, Hit, Lines};
use super::input::Mode;
use super::pattern::Pattern;
use crate::excerpt::{may_be_cut, without_end};
use crate::watch::{Halt, Stop};
use crate::wording::{TEXT_BYTES, room_of};
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkError, SinkMatch};
use std::fmt::Write as _;
use std::io;

/// How many lines of one match that spans lines are shown.
const LINES_OF_A_MATCH: usize = 40;

/// After how many matches it is asked whether to stop. Reading asks too, so this is for files that are one piece.
const MATCHES_IN_ONE_GO: u64 = 64;

/// What is wanted of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Want {
    /// Up to how many matches are counted.
    pub(super) count: u64,
    /// After how many matches to start to write them out; nothing where they are only counted.
    pub(super) from: Option<u64>,
    /// How many are written out at most. Those that fill a reply are enough, too.
    pub(super) write: usize,
}

/// Why the search of one file broke off.
#[derive(Debug)]
pub(super) enum Broken {
    Stopped(Stop),
    Io(io::Error),
}

impl SinkError for Broken {
    fn error_message<T: std::fmt::Display>(message: T) -> Self {
        Self::Io(io::Error::other(message.to_string()))
    }

    fn error_io(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Takes the matches of one file, as the searcher finds them, until no more are wanted.
pub(super) struct Collector<'a> {
    /// Writes the file's path as results name it.
    name: &'a dyn Fn() -> String,
    /// The path, once it was needed.
    path: Option<String>,
    pattern: &'a Pattern,
    mode: Mode,
    want: Want,
    halt: &'a Halt<'a>,
    pub(super) found: Found,
    pub(super) is_binary: bool,
    /// Lines before a match that has not come yet.
    before: Lines,
    /// Whether lines were left out since the last hit.
    gap: bool,
    /// Whether the match that came last was written out, so that the lines behind it are too.
    is_writing: bool,
    /// How much room all hits take.
    written: usize,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        name: &'a dyn Fn() -> String,
        pattern: &'a Pattern,
        mode: Mode,
        want: Want,
        halt: &'a Halt<'a>,
    ) -> Self {
        Self {
            name,
            path: None,
            pattern,
            mode,
            want,
            halt,
            found: Found { from: want.from, ..Found::default() },
            is_binary: false,
            before: Lines::default(),
            gap: true,
            is_writing: false,
            written: 0,
        }
    }

    /// Tells whether a match that comes now is written out.
    fn has_room(&self) -> bool {
        self.found.hits.len() < self.want.write && self.written <= TEXT_BYTES
    }

    /// Takes a match with the lines before it.
    fn take(&mut self, found: &SinkMatch<'_>) {
        let before = std::mem::take(&mut self.before);
        self.is_writing = self.has_room() && self.want.from.is_some_and(|from| from <= self.found.matches);
        if !self.is_writing {
            self.gap = true;
            return;
        }
        let gap = std::mem::take(&mut self.gap);
        let path = self.path.take().unwrap_or_else(self.name);
        let lines = self.write_match(&path, found);
        self.path = Some(path);
        self.written += room_of(&before.text) + room_of(&lines.text);
        self.found.hits.push(Hit { gap, before, lines, after: Lines::default() });
    }

    /// Writes the lines of a match.
    fn write_match(&self, path: &str, found: &SinkMatch<'_>) -> Lines {
        let mut lines = Lines::default();
        let first = found.line_number().unwrap_or_default();
        let mut more = 0;
        for (number, (index, line)) in (first..).zip(found.lines().enumerate()) {
            let focus = if index == 0 && may_be_cut(line) { self.focus(found, line) } else { 0..0 };
            let bytes = lines.text.len() + path.len() + line.len();
            if index > 0 && (index >= LINES_OF_A_MATCH || self.written + bytes > TEXT_BYTES) {
                more += 1;
                continue;
            }
            lines.push(path, number, ':', line, focus);
        }
        if more > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(lines.text, "{path}: … {more} more lines of this match");
            lines.cut = true;
        }
        lines
    }

    /// Finds where in its first line a match is.
    fn focus(&self, found: &SinkMatch<'_>, line: &[u8]) -> std::ops::Range<usize> {
        let focus = if self.pattern.options().multiline {
            let start = found.bytes_range_in_buffer().start;
            let focus = self.pattern.find(found.buffer(), start);
            focus.map(|focus| focus.start - start..focus.end - start)
        } else {
            self.pattern.find(without_end(line), 0)
        };
        let focus = focus.unwrap_or_default();
        focus.start..focus.end.min(line.len()).max(focus.start)
    }
}

impl Sink for Collector<'_> {
    type Error = Broken;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Broken> {
        if self.found.matches.is_multiple_of(MATCHES_IN_ONE_GO) {
            self.halt.check().map_err(Broken::Stopped)?;
        }
        if self.found.matches >= self.want.count {
            self.found.has_more = true;
            return Ok(false);
        }
        if self.mode == Mode::Content {
            self.take(found);
        }
        self.found.matches += 1;
        Ok(self.mode != Mode::Files)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Broken> {
        let is_after = *context.kind() == SinkContextKind::After;
        let is_wanted = if is_after { self.is_writing } else { self.want.from.is_some() && self.has_room() };
        if !is_wanted {
            return Ok(true);
        }
        let path = self.path.get_or_insert_with(self.name);
        let mut line = Lines::default();
        line.push(path, context.line_number().unwrap_or_default(), '-', context.bytes(), 0..0);
        let lines = match self.found.hits.last_mut() {
            Some(hit) if is_after => {
                self.written += room_of(&line.text);
                &mut hit.after
            }
            _ => &mut self.before,
        };
        lines.text.push_str(&line.text);
        lines.cut |= line.cut;
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, Broken> {
        self.gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, Broken> {
        self.is_binary = true;
        Ok(false)
    }
}
