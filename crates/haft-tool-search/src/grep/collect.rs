use super::input::Mode;
use super::pattern::Pattern;
use crate::excerpt::{excerpt, may_be_cut, without_end};
use crate::watch::{Cancelled, Watch};
use crate::wording::room_of;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkError, SinkMatch};
use std::fmt::Write as _;
use std::io;

/// What stands between two groups of lines.
pub(super) const BREAK: &str = "--\n";

/// How many lines of one match that spans lines are shown.
const LINES_OF_A_MATCH: usize = 40;

/// How much may still be taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// The most matches, nothing where they are only counted.
    pub(super) matches: Option<u64>,
    /// The most text, in bytes; a short line takes more of it than it has.
    pub(super) bytes: usize,
}

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) matches: u64,
    /// The text of each match with its context, after a line `--` where lines are left out before it.
    pub(super) hits: Vec<String>,
    /// Whether a line was cut.
    pub(super) cut: bool,
    pub(super) end: End,
}

/// Why collecting ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing more is there, or nothing more was asked for.
    #[default]
    Done,
    /// There is another match, for which there is no room.
    Limit,
    /// There is more text than there is room for.
    Full,
}

/// Why the search of one file broke off.
#[derive(Debug)]
pub(super) enum Broken {
    Cancelled,
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

impl From<Cancelled> for Broken {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Takes the matches of one file, as the searcher finds them, until there is no room for more.
pub(super) struct Collector<'a> {
    /// The file's path as results name it.
    path: &'a str,
    pattern: &'a Pattern,
    mode: Mode,
    room: Room,
    watch: &'a dyn Watch,
    pub(super) found: Found,
    pub(super) is_binary: bool,
    /// Lines before a match that has not come yet.
    before: Lines,
    /// Whether lines were left out since the last hit.
    gap: bool,
    /// How much of the room is taken.
    room_taken: usize,
}

/// Lines as they are shown.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    cut: bool,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        path: &'a str,
        pattern: &'a Pattern,
        mode: Mode,
        room: Room,
        watch: &'a dyn Watch,
    ) -> Self {
        Self {
            path,
            pattern,
            mode,
            room,
            watch,
            found: Found::default(),
            is_binary: false,
            before: Lines::default(),
            gap: true,
            room_taken: 0,
        }
    }

    fn fits(&self, room: usize) -> bool {
        self.room_taken + room <= self.room.bytes
    }

    /// Takes a match with the lines before it; tells whether there may be room for another.
    fn take(&mut self, lines: &Lines, with_context: bool) -> bool {
        let before = std::mem::take(&mut self.before);
        let gap = std::mem::take(&mut self.gap);
        let start = |gap| if gap && with_context { BREAK } else { "" };
        let mut hit = format!("{}{}{}", start(gap), before.text, lines.text);
        if !self.fits(room_of(&hit)) {
            // The match matters more than what is around it.
            self.found.end = End::Full;
            hit = format!("{}{}", start(gap || !before.text.is_empty()), lines.text);
            if !self.fits(room_of(&hit)) {
                return false;
            }
        }
        self.room_taken += room_of(&hit);
        self.found.cut |= before.cut | lines.cut;
        self.found.matches += 1;
        self.found.hits.push(hit);
        self.found.end != End::Full
    }

    /// Writes the lines of a match.
    fn write_match(&self, found: &SinkMatch<'_>) -> Lines {
        let mut lines = Lines::default();
        let first = found.line_number().unwrap_or_default();
        let mut more = 0;
        for (number, (index, line)) in (first..).zip(found.lines().enumerate()) {
            let focus = if index == 0 && may_be_cut(line) { self.focus(found, line) } else { 0..0 };
            let bytes = lines.text.len() + self.path.len() + line.len();
            if index > 0 && (index >= LINES_OF_A_MATCH || !self.fits(bytes)) {
                more += 1;
                continue;
            }
            lines.push(self.path, number, ':', line, focus);
        }
        if more > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(lines.text, "{}: … {more} more lines of this match", self.path);
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

impl Lines {
    fn push(&mut self, path: &str, number: u64, separator: char, line: &[u8], focus: std::ops::Range<usize>) {
        let shown = excerpt(line, focus);
        self.cut |= shown.cut;
        let space = if shown.text.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{path}{separator}{number}{separator}{space}{}", shown.text);
    }
}

impl Sink for Collector<'_> {
    type Error = Broken;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Broken> {
        self.watch.check()?;
        if self.room.matches == Some(self.found.matches) {
            self.found.end = End::Limit;
            return Ok(false);
        }
        Ok(match self.mode {
            Mode::Content => {
                let with_context = searcher.before_context() + searcher.after_context() > 0;
                self.take(&self.write_match(found), with_context)
            }
            Mode::Files => {
                self.found.matches += 1;
                false
            }
            Mode::Count => {
                self.found.matches += 1;
                true
            }
        })
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Broken> {
        let mut line = Lines::default();
        line.push(self.path, context.line_number().unwrap_or_default(), '-', context.bytes(), 0..0);
        match self.found.hits.last_mut() {
            Some(hit) if *context.kind() == SinkContextKind::After => {
                let room = room_of(&line.text);
                if self.room_taken + room > self.room.bytes {
                    self.found.end = End::Full;
                    return Ok(false);
                }
                self.room_taken += room;
                self.found.cut |= line.cut;
                hit.push_str(&line.text);
            }
            _ => {
                self.before.text.push_str(&line.text);
                self.before.cut |= line.cut;
            }
        }
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
