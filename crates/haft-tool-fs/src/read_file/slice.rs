use super::binary::{NotText, binary, not_utf8, refusal};
use crate::blocking::go_on;
use crate::lines::line_feeds;
use crate::words::size;
use haft_core::ToolError;
use haft_workdir::{Error, WorkdirPath};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use tokio_util::sync::CancellationToken;

/// How many bytes of one line are given.
pub(super) const LINE_BYTES: usize = 2000;

/// How many bytes are read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// How many bytes at the start of a file tell whether it is text.
pub(super) const HEAD_BYTES: usize = 8 * 1024;

/// How much of a file is read whose size is given as 0, as the kernel does for files that it makes up.
const UNSIZED_BYTES: u64 = 16 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

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
    /// Whether the file starts with a byte order mark, which is left out.
    pub(super) bom: bool,
    pub(super) total: Total,
}

/// What the whole file is like.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) bytes: u64,
    pub(super) newlines: u64,
    /// Newlines with a carriage return before them.
    pub(super) crlf: u64,
    pub(super) ends_in_newline: bool,
    ends_in_return: bool,
}

impl Total {
    /// Counts lines; one without a newline at its end counts too.
    pub(super) fn lines(&self) -> u64 {
        self.newlines + u64::from(self.bytes > 0 && !self.ends_in_newline)
    }

    /// Takes the next bytes into account and says how many newlines they have.
    fn add(&mut self, chunk: &[u8]) -> u64 {
        let newlines = line_feeds(chunk);
        let crlf =
            memchr::memchr_iter(b'\r', chunk).filter(|place| chunk.get(place + 1) == Some(&b'\n')).count();
        let across = self.ends_in_return && chunk.first() == Some(&b'\n');
        self.bytes += chunk.len() as u64;
        self.newlines += newlines;
        self.crlf += crlf as u64 + u64::from(across);
        self.ends_in_newline = chunk.last() == Some(&b'\n');
        self.ends_in_return = chunk.last() == Some(&b'\r');
        newlines
    }
}

/// Reads the wanted lines of a file as it was when it was opened: what is added meanwhile does not count.
pub(super) fn read_slice(
    file: File,
    path: &WorkdirPath,
    wanted: Wanted,
    stop: &CancellationToken,
) -> Result<Slice, ToolError> {
    let unreadable = |source: io::Error| {
        let error = Error::Io { action: "read", path: path.clone(), source };
        ToolError::failed(error.model_text()).with_source(error)
    };
    let size = file.metadata().map_err(unreadable)?.len();
    let most = if size == 0 { UNSIZED_BYTES } else { size };
    let mut chunks = Chunks { file, left: most, buffer: vec![0; BUFFER_BYTES] };
    let first = if let Ok(offset) = u64::try_from(wanted.offset) {
        offset.max(1)
    } else {
        let mut total = Total::default();
        while let Some(chunk) = chunks.next().map_err(unreadable)? {
            go_on(stop)?;
            total.add(chunk);
        }
        chunks.rewind(most).map_err(unreadable)?;
        total.lines().saturating_sub(wanted.offset.unsigned_abs()) + 1
    };
    let not_text = match collect(&mut chunks, first, wanted, stop).map_err(|stopped| match stopped {
        Stopped::Unreadable(error) => unreadable(error),
        Stopped::Cancelled(error) => error,
    })? {
        Ok(slice) => return Ok(slice),
        Err(not_text) => not_text,
    };
    chunks.rewind(HEAD_BYTES as u64).map_err(unreadable)?;
    let head = chunks.next().map_err(unreadable)?.unwrap_or_default();
    Err(refusal(path, &not_text, size, head))
}

/// Why a pass over a file ended before its end.
enum Stopped {
    Unreadable(io::Error),
    Cancelled(ToolError),
}

/// Passes over a file once and picks the wanted lines.
fn collect(
    chunks: &mut Chunks,
    first: u64,
    wanted: Wanted,
    stop: &CancellationToken,
) -> Result<Result<Slice, NotText>, Stopped> {
    let mut collector = Collector::new(first, wanted);
    while let Some(chunk) = chunks.next().map_err(Stopped::Unreadable)? {
        go_on(stop).map_err(Stopped::Cancelled)?;
        let is_start = collector.slice.total.bytes == 0;
        let not_text = if is_start { binary(chunk) } else { None };
        if let Some(not_text) = not_text.or_else(|| collector.take(chunk).err()) {
            return Ok(Err(not_text));
        }
    }
    Ok(collector.finish())
}

/// Gives the bytes of a file in turn, full buffers except for the last.
struct Chunks {
    file: File,
    left: u64,
    buffer: Vec<u8>,
}

impl Chunks {
    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let wanted = usize::try_from(self.left).map_or(BUFFER_BYTES, |left| left.min(BUFFER_BYTES));
        let mut filled = 0;
        while filled < wanted {
            match self.file.read(&mut self.buffer[filled..wanted]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        // A short buffer is the end, even if more is written by now.
        self.left = if filled < wanted { 0 } else { self.left - filled as u64 };
        Ok((filled > 0).then(|| &self.buffer[..filled]))
    }

    fn rewind(&mut self, left: u64) -> io::Result<()> {
        self.left = left;
        self.file.seek(SeekFrom::Start(0)).map(|_| ())
    }
}

/// Picks the wanted lines out of the bytes of a file.
struct Collector {
    slice: Slice,
    wanted: Wanted,
    /// The number of the line that the next byte belongs to.
    line: u64,
    /// The start of that line, if it is wanted.
    kept: Vec<u8>,
    /// Its length so far, in bytes.
    length: usize,
    ends_in_return: bool,
    /// Whether no further line is wanted.
    done: bool,
}

impl Collector {
    fn new(first: u64, wanted: Wanted) -> Self {
        let slice = Slice {
            text: String::new(),
            first,
            last: first - 1,
            cut_lines: false,
            bom: false,
            total: Total::default(),
        };
        Self { slice, wanted, line: 1, kept: Vec::new(), length: 0, ends_in_return: false, done: false }
    }

    fn take(&mut self, chunk: &[u8]) -> Result<(), NotText> {
        if self.slice.total.bytes == 0 {
            self.slice.bom = chunk.starts_with(BYTE_ORDER_MARK);
        }
        let newlines = self.slice.total.add(chunk);
        if self.done {
            return Ok(());
        }
        if self.line + newlines < self.slice.first {
            self.line += newlines;
            return Ok(());
        }
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            if self.line >= self.slice.first {
                self.keep(text);
            }
            if text.len() < piece.len() {
                self.end_line(true)?;
            }
            if self.done {
                break;
            }
        }
        Ok(())
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
    fn end_line(&mut self, by_newline: bool) -> Result<(), NotText> {
        if self.line >= self.slice.first {
            let before = self.slice.text.len();
            let is_cut = self.write_line(by_newline)?;
            if self.slice.text.len() > self.wanted.bytes && before > 0 {
                self.slice.text.truncate(before);
                self.done = true;
                return Ok(());
            }
            self.slice.cut_lines |= is_cut;
            self.slice.last = self.line;
            self.done = self.line - self.slice.first + 1 >= self.wanted.lines;
        }
        self.line += 1;
        self.kept.clear();
        self.length = 0;
        self.ends_in_return = false;
        Ok(())
    }

    /// Writes the current line and tells whether it had to be cut.
    fn write_line(&mut self, by_newline: bool) -> Result<bool, NotText> {
        if by_newline && self.ends_in_return {
            self.length -= 1;
            self.kept.truncate(self.length);
        }
        let kept: &[u8] = match self.kept.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if self.line == 1 => rest,
            _ => &self.kept,
        };
        let left_out = self.kept.len() - kept.len();
        let text = match std::str::from_utf8(kept) {
            Ok(text) => text,
            // What was cut may end within a character.
            Err(error) if error.error_len().is_none() && self.length > self.kept.len() => {
                std::str::from_utf8(&kept[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => return Err(not_utf8(self.line, kept, error)),
        };
        let more = self.length - left_out - text.len();
        // Writing to a string cannot fail.
        let _ = write!(self.slice.text, "{}\t{text}", self.line);
        if more > 0 {
            let _ = write!(self.slice.text, "… [{} more in this line]", size(more as u64));
        }
        self.slice.text.push('\n');
        Ok(more > 0)
    }

    /// Ends the last line, if no newline did.
    fn finish(mut self) -> Result<Slice, NotText> {
        if !self.done && !self.slice.total.ends_in_newline && self.slice.total.bytes > 0 {
            self.end_line(false)?;
        }
        Ok(self.slice)
    }
}

#[cfg(test)]
mod tests {
    use super::{BUFFER_BYTES, Total, Wanted, read_slice};
    use haft_core::ToolErrorKind;
    use haft_testkit::Tree;
    use tokio_util::sync::CancellationToken;

    #[test]
    fn counts_line_ends_that_two_buffers_share() {
        let mut total = Total::default();
        for chunk in [b"a\r".as_slice(), b"\nb\n\r", b"\n"] {
            total.add(chunk);
        }
        assert_eq!((total.bytes, total.newlines, total.crlf, total.lines()), (7, 3, 2, 3));
    }

    #[test]
    fn keeps_lines_and_characters_that_two_buffers_share() {
        let head = "x".repeat(BUFFER_BYTES - 3);
        let tree = Tree::new().file("a", &format!("{head}\né\r\nlast"));
        let workdir = tree.workdir();
        let path = workdir.resolve("a").unwrap();
        let wanted = Wanted { offset: 2, lines: 9, bytes: 100 };
        let file = workdir.open_file(&path).unwrap();
        let slice = read_slice(file, &path, wanted, &CancellationToken::new()).unwrap();
        assert_eq!((slice.text.as_str(), slice.last, slice.total.crlf), ("2\té\n3\tlast\n", 3, 1));
    }

    #[test]
    fn stops_when_told_to() {
        let tree = Tree::new().file("a", "text\n");
        let workdir = tree.workdir();
        let path = workdir.resolve("a").unwrap();
        let stop = CancellationToken::new();
        stop.cancel();
        for offset in [1, -1] {
            let wanted = Wanted { offset, lines: 9, bytes: 100 };
            let error = read_slice(workdir.open_file(&path).unwrap(), &path, wanted, &stop).unwrap_err();
            assert_eq!(error.kind(), ToolErrorKind::Cancelled);
        }
    }
}
