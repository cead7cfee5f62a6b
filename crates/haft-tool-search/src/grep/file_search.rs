use super::Request;
use super::collect::{Broken, Collector, Want};
use super::found::Found;
use super::input::Mode;
use super::pattern::Pattern;
use crate::watch::{Halt, Stop};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use std::fs::File;
use std::io::{self, Read};

/// The marks that say how a text is encoded.
const BYTE_ORDER_MARKS: [&[u8]; 3] = [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"];

/// Searches one file after the other, reusing its buffers.
pub(super) struct FileSearch<'r> {
    pattern: &'r Pattern,
    mode: Mode,
    searcher: Searcher,
    /// Where a file is read to that is searched in one piece.
    whole: Vec<u8>,
}

/// What came of searching one file.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was searched.
    Searched(Found),
    /// It was searched up to a line that is too long, or is too large to be searched across lines.
    TooLarge(Found),
    /// It has a NUL byte.
    Binary,
    /// It cannot be read.
    Unreadable,
    /// It was searched up to somewhere, when the search was to stop.
    Stopped(Found, Stop),
}

impl<'r> FileSearch<'r> {
    pub(super) fn new(request: &'r Request) -> Self {
        let Request { pattern, mode, before, after, .. } = request;
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(pattern.line_end())
            .multi_line(pattern.options().multiline)
            .heap_limit(Some(pattern.effort().piece))
            .binary_detection(BinaryDetection::quit(b'\0'));
        if *mode == Mode::Content {
            builder.before_context(*before).after_context(*after);
        } else {
            builder.line_number(false);
        }
        let whole = vec![0; pattern.effort().read];
        Self { pattern, mode: *mode, searcher: builder.build(), whole }
    }

    /// Searches an open file of a size that it had when it was opened.
    pub(super) fn search(
        &mut self,
        mut file: File,
        size: u64,
        name: &dyn Fn() -> String,
        want: Want,
        halt: &Halt<'_>,
    ) -> Outcome {
        let mut collector = Collector::new(name, self.pattern, self.mode, want, halt);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        // A file of the kernel has no size, and one that grows has another.
        let result = if size > 0 && size <= self.whole.len() {
            self.search_whole(&mut file, size, &mut collector)
        } else {
            let pieces = Pieces { file, most: self.pattern.effort().read, halt };
            self.searcher.search_reader(self.pattern.matcher(), pieces, &mut collector)
        };
        match result {
            _ if collector.is_binary => Outcome::Binary,
            Ok(()) => Outcome::Searched(collector.found),
            Err(Broken::Stopped(stop)) => Outcome::Stopped(collector.found, stop),
            Err(Broken::Io(error)) => match (halt.check(), error.raw_os_error()) {
                (Err(stop), None) => Outcome::Stopped(collector.found, stop),
                // What the operating system did not say is that the searcher's buffer is full.
                (Ok(()), None) => Outcome::TooLarge(collector.found),
                (_, Some(_)) => Outcome::Unreadable,
            },
        }
    }

    /// Searches a file of at most one piece, which needs no other buffer.
    fn search_whole(
        &mut self,
        file: &mut File,
        size: usize,
        collector: &mut Collector<'_>,
    ) -> Result<(), Broken> {
        let mut read = 0;
        while read < size {
            match file.read(&mut self.whole[read..size]) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Broken::Io(error)),
            }
        }
        let text = &self.whole[..read];
        let matcher = self.pattern.matcher();
        if BYTE_ORDER_MARKS.iter().any(|mark| text.starts_with(mark)) {
            return self.searcher.search_reader(matcher, text, collector);
        }
        if memchr::memchr(b'\0', text).is_some() {
            collector.is_binary = true;
            return Ok(());
        }
        self.searcher.search_slice(matcher, text, collector)
    }
}

/// Reads a file in pieces small enough that the search of each is soon done, and not at all once it should stop.
struct Pieces<'a> {
    file: File,
    most: usize,
    halt: &'a Halt<'a>,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.halt.check().is_err() {
            return Err(io::Error::other("the search is to stop"));
        }
        let most = buffer.len().min(self.most);
        loop {
            match self.file.read(&mut buffer[..most]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}
