use super::Request;
use super::collect::{Broken, Collector, Found, Room};
use super::input::Mode;
use crate::watch::{Cancelled, Watch};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use haft_workdir::{Error, WorkdirPath};
use std::fs::File;
use std::io::{self, Read};

/// Searches one file after the other, reusing its buffers.
pub(super) struct FileSearch<'r> {
    request: &'r Request,
    searcher: Searcher,
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
    /// It cannot be opened or read.
    Unreadable,
    /// It is no longer there.
    Gone,
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
        Self { request, searcher: builder.build() }
    }

    /// Searches a file; it is opened below the root's handle, so no link that is put in its place is followed.
    pub(super) fn search(
        &mut self,
        path: &WorkdirPath,
        shown: &str,
        room: Room,
        watch: &dyn Watch,
    ) -> Result<Outcome, Cancelled> {
        let Request { workdir, pattern, mode, .. } = self.request;
        let file = match workdir.open_file(path) {
            Ok(file) => file,
            Err(Error::NotFound { .. }) => return Ok(Outcome::Gone),
            Err(_) => return Ok(Outcome::Unreadable),
        };
        let mut collector = Collector::new(shown, pattern, *mode, room, watch);
        let pieces = Pieces { file, most: pattern.effort().read, watch };
        let result = self.searcher.search_reader(pattern.matcher(), pieces, &mut collector);
        watch.check()?;
        Ok(match result {
            _ if collector.is_binary => Outcome::Binary,
            Ok(()) => Outcome::Searched(collector.found),
            Err(Broken::Cancelled) => return Err(Cancelled),
            // What the operating system did not say is that the searcher's buffer is full.
            Err(Broken::Io(error)) if error.raw_os_error().is_none() => Outcome::TooLarge(collector.found),
            Err(Broken::Io(_)) => Outcome::Unreadable,
        })
    }
}

/// Reads a file in pieces small enough that the search of each is soon done, and not at all once it should stop.
struct Pieces<'a> {
    file: File,
    most: usize,
    watch: &'a dyn Watch,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.watch.is_cancelled() {
            return Err(io::Error::other("the search was cancelled"));
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
