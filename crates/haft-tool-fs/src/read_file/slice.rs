use super::binary::kind;
use super::chunks::{BUFFER_BYTES, Chunks, Source};
use super::indent::Indent;
use super::limits::Room;
use super::survey::{Stamp, Survey, Surveys, Total};
use crate::blocking::go_on;
use crate::encoding::{TextEncoding, detect};
use crate::lines::LineEnd;
use crate::words::size;
use haft_core::ToolError;
use haft_workdir::{Error, WorkdirPath};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How many bytes of one line are given.
pub(super) const LINE_BYTES: usize = 2000;

/// How much of a file is read whose size is given as 0, as the kernel does for files that it makes up.
const UNSIZED_BYTES: u64 = 16 * 1024 * 1024;

/// How many bytes at the start of a file tell whether it is text.
const HEAD_BYTES: usize = 8 * 1024;

/// What is wanted of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// The first line, 1-based; from the end where negative, and 0 is the first line too.
    pub(super) offset: i64,
    /// The most lines.
    pub(super) lines: u64,
    /// The most bytes of numbered lines.
    pub(super) bytes: usize,
}

impl Wanted {
    /// As much of it as there is room for.
    pub(super) fn within(self, room: Room) -> Self {
        Self { lines: self.lines.min(room.lines()), bytes: self.bytes.min(room.bytes), ..self }
    }
}

/// Numbered lines of a file, and what the whole file is like.
#[derive(Debug)]
pub(super) struct Slice {
    /// The lines as `{number}\t{line}\n`.
    pub(super) text: String,
    /// The number of the first line asked for.
    pub(super) first: u64,
    /// The number of the last line given; less than `first` where none is.
    pub(super) last: u64,
    /// Whether a line was too long to be given whole.
    pub(super) cut_lines: bool,
    pub(super) encoding: TextEncoding,
    pub(super) indent: Indent,
    pub(super) total: Total,
    /// The size of the file.
    pub(super) size: u64,
}

/// What a file turns out to be.
#[derive(Debug)]
pub(super) enum Content {
    Text(Slice),
    /// No text: its size, and how it starts.
    Data {
        size: u64,
        head: Vec<u8>,
    },
}

/// Reads the wanted lines of a file as it was when it was opened: what is added meanwhile does not count.
pub(super) fn read_slice(
    source: impl Into<Source>,
    path: &WorkdirPath,
    wanted: Wanted,
    surveys: &Surveys,
    stop: &CancellationToken,
) -> Result<Content, ToolError> {
    read(source.into(), wanted, surveys, stop).map_err(|stopped| match stopped {
        Stopped::Unreadable(source) => {
            let error = Error::Io { action: "read", path: path.clone(), source };
            ToolError::failed(error.model_text()).with_source(error)
        }
        Stopped::Cancelled(error) => error,
    })
}

/// Why a pass over a file ended before its end.
enum Stopped {
    Unreadable(io::Error),
    Cancelled(ToolError),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

fn read(
    source: Source,
    wanted: Wanted,
    surveys: &Surveys,
    stop: &CancellationToken,
) -> Result<Content, Stopped> {
    let (size, stamp) = match &source {
        Source::File(file) => {
            let metadata = file.metadata()?;
            (metadata.len(), Stamp::of(&metadata))
        }
        Source::Memory(content) => (content.get_ref().len() as u64, None),
    };
    let most = if size == 0 { UNSIZED_BYTES } else { size };
    let mut chunks = Chunks::new(source, most);
    let (encoding, read) = {
        let start = chunks.next()?.unwrap_or_default();
        let encoding = detect(start, start.len() < BUFFER_BYTES);
        match encoding.filter(|encoding| is_text(*encoding, start)) {
            Some(encoding) => (encoding, start.len()),
            None => return Ok(Content::Data { size, head: start.to_vec() }),
        }
    };
    let size = if size == 0 { read as u64 } else { size };
    chunks.rewind(encoding)?;
    // The places of characters in a file of UTF-16 are not those in what is read of it.
    let stamp = stamp.filter(|_| !matches!(encoding, TextEncoding::Utf16 { .. }));
    let known = stamp.and_then(|stamp| surveys.get(stamp));
    let survey = if let Some(survey) = known {
        survey
    } else {
        let first = u64::try_from(wanted.offset).map(|offset| offset.max(1));
        let mut pass = |line_end: LineEnd| {
            let mut survey = Survey::new(most, line_end);
            let mut collector = first.ok().map(|first| Collector::new(first, 1, encoding, line_end, wanted));
            while let Some(chunk) = chunks.next()? {
                go_on(stop).map_err(Stopped::Cancelled)?;
                let newlines = survey.add(chunk);
                if let Some(collector) = &mut collector {
                    collector.take(chunk, newlines);
                }
            }
            chunks.rewind(encoding)?;
            Ok::<_, Stopped>((survey, collector))
        };
        let (mut survey, mut collector) = pass(LineEnd::Feed)?;
        // Only at the end is it known that there is no line feed.
        if survey.ends_otherwise() {
            (survey, collector) = pass(LineEnd::Return)?;
        }
        let survey = Arc::new(survey);
        if let Some(stamp) = stamp {
            surveys.put(stamp, Arc::clone(&survey));
        }
        if let Some(collector) = collector {
            return Ok(Content::Text(collector.finish(survey.total.clone(), size)));
        }
        survey
    };
    let first = match u64::try_from(wanted.offset) {
        Ok(offset) => offset.max(1),
        Err(_) => survey.total.lines().saturating_sub(wanted.offset.unsigned_abs()) + 1,
    };
    let (place, line) = match encoding {
        TextEncoding::Utf16 { .. } => (0, 1),
        _ => survey.before(first),
    };
    chunks.seek(place, encoding)?;
    let line_end = survey.total.line_end;
    let mut collector = Collector::new(first, line, encoding, line_end, wanted);
    while !collector.done
        && let Some(chunk) = chunks.next()?
    {
        go_on(stop).map_err(Stopped::Cancelled)?;
        collector.take(chunk, line_end.count(chunk));
    }
    Ok(Content::Text(collector.finish(survey.total.clone(), size)))
}

/// Tells whether what could be text in an encoding is some.
fn is_text(encoding: TextEncoding, start: &[u8]) -> bool {
    match encoding {
        TextEncoding::Utf8 { strays: false, .. } => !start[..start.len().min(HEAD_BYTES)].contains(&0),
        TextEncoding::Utf8 { .. } | TextEncoding::Legacy(_) => kind(start).is_none(),
        TextEncoding::Utf16 { .. } => true,
    }
}

/// Picks the wanted lines out of the bytes of a file.
struct Collector {
    slice: Slice,
    wanted: Wanted,
    line_end: LineEnd,
    /// The number of the line that the next byte belongs to.
    line: u64,
    /// The start of that line, if it is wanted.
    kept: Vec<u8>,
    /// Its length so far, in bytes.
    length: usize,
    ends_in_return: bool,
    /// Whether a line that was given has other characters than ASCII.
    has_others: bool,
    /// Whether no further line is wanted.
    done: bool,
}

impl Collector {
    /// Wants lines from the first on, of bytes that start in a line.
    fn new(first: u64, line: u64, encoding: TextEncoding, line_end: LineEnd, wanted: Wanted) -> Self {
        let slice = Slice {
            text: String::new(),
            first,
            last: first - 1,
            cut_lines: false,
            encoding,
            indent: Indent::default(),
            total: Total::default(),
            size: 0,
        };
        Self {
            slice,
            wanted,
            line_end,
            line,
            kept: Vec::new(),
            length: 0,
            ends_in_return: false,
            has_others: false,
            done: false,
        }
    }

    /// Takes the next bytes, which have so many newlines.
    fn take(&mut self, chunk: &[u8], newlines: u64) {
        if self.done {
            return;
        }
        if self.line + newlines < self.slice.first {
            self.line += newlines;
            return;
        }
        let mut rest = chunk;
        while !rest.is_empty() && !self.done {
            let end = memchr::memchr(self.line_end.byte(), rest);
            if self.line >= self.slice.first {
                self.keep(&rest[..end.unwrap_or(rest.len())]);
            }
            let Some(end) = end else { break };
            self.end_line(true);
            rest = &rest[end + 1..];
        }
    }

    fn keep(&mut self, text: &[u8]) {
        let room = LINE_BYTES.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&text[..text.len().min(room)]);
        self.length += text.len();
        if let Some(last) = text.last() {
            self.ends_in_return = *last == b'\r';
        }
    }

    /// Writes the line that has ended, if it is wanted, and starts the next.
    fn end_line(&mut self, by_newline: bool) {
        if self.line >= self.slice.first {
            let before = self.slice.text.len();
            let is_cut = self.write_line(by_newline);
            if self.slice.text.len() > self.wanted.bytes && before > 0 {
                self.slice.text.truncate(before);
                self.done = true;
                return;
            }
            self.slice.cut_lines |= is_cut;
            self.slice.last = self.line;
            self.done = self.line - self.slice.first + 1 >= self.wanted.lines;
        }
        self.line += 1;
        self.kept.clear();
        self.length = 0;
        self.ends_in_return = false;
    }

    /// Writes the current line and tells whether it had to be cut.
    fn write_line(&mut self, by_newline: bool) -> bool {
        if by_newline && self.ends_in_return {
            self.length -= 1;
            self.kept.truncate(self.length);
        }
        let is_cut = self.length > self.kept.len();
        if self.slice.encoding == TextEncoding::UTF_8 {
            self.look_again();
        }
        let encoding = if matches!(self.slice.encoding, TextEncoding::Utf16 { .. }) {
            TextEncoding::UTF_8
        } else {
            self.slice.encoding
        };
        let kept = match self.kept.strip_prefix(self.slice.encoding.mark()) {
            Some(rest) if self.line == 1 && matches!(self.slice.encoding, TextEncoding::Utf8 { .. }) => rest,
            _ => &self.kept,
        };
        let text = encoding.decode(kept);
        // What was cut may end within a character.
        let text =
            if is_cut { Cow::Borrowed(text.trim_end_matches(char::REPLACEMENT_CHARACTER)) } else { text };
        self.has_others |= !text.is_ascii();
        self.slice.indent.add(&text);
        // Writing to a string cannot fail.
        let _ = write!(self.slice.text, "{}\t{text}", self.line);
        if is_cut {
            let given = if encoding == TextEncoding::UTF_8 { text.len() } else { kept.len() };
            let more = self.length - (self.kept.len() - kept.len()) - given;
            let _ = write!(self.slice.text, "… [{} more in this line]", size(more as u64));
        }
        self.slice.text.push('\n');
        is_cut
    }

    /// Finds out what a file is in that started as UTF-8 and does not go on so.
    fn look_again(&mut self) {
        let Err(error) = std::str::from_utf8(&self.kept) else { return };
        if error.error_len().is_none() && self.length > self.kept.len() {
            return;
        }
        let strays = TextEncoding::Utf8 { bom: false, strays: true };
        self.slice.encoding =
            if self.has_others { strays } else { detect(&self.kept, true).unwrap_or(strays) };
    }

    /// Ends the last line, if no newline did.
    fn finish(mut self, total: Total, size: u64) -> Slice {
        if !self.done && !total.ends_in_newline && total.bytes > 0 {
            self.end_line(false);
        }
        Slice { total, size, ..self.slice }
    }
}

#[cfg(test)]
mod tests;
