use super::JsonlJournal;
use crate::journal::JournalRecord;
use serde::Deserialize;
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead};

/// Reads the records of a JSONL journal one by one; what is damaged is reported, and reading goes on behind it.
///
/// Empty lines are nothing. The last line may be reported as damaged because it is just being written. Lines are counted
/// from 1.
///
/// ```
/// use haft_tools_core::{JournalError, JournalReader};
///
/// let mut reader = JournalReader::new(&b"{\"version\":1,\"rec"[..]);
/// assert!(matches!(reader.next(), Some(Err(JournalError::Damaged { line: 1, .. }))));
/// assert!(reader.next().is_none());
/// ```
pub struct JournalReader<R> {
    from: R,
    line: u64,
    text: Vec<u8>,
    is_over: bool,
}

/// Says what of a journal could not be read.
///
/// ```
/// use haft_tools_core::{JournalError, JournalReader};
///
/// let mut records = JournalReader::new("{\"version\": 99}\n".as_bytes());
/// let error = records.next().ok_or("there is a line")?.unwrap_err();
/// assert!(matches!(error, JournalError::Version { line: 1, version: 99 }));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A line is not a record: a write broke off, or something else was written there.
    #[error("line {line} of the journal is damaged")]
    Damaged {
        /// Counts lines from 1.
        line: u64,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A line is longer than a record can be.
    #[error("line {line} of the journal has more than {} bytes", JsonlJournal::MAX_LINE_BYTES)]
    TooLong {
        /// Counts lines from 1.
        line: u64,
    },
    /// A record has a form that is not known here.
    #[error("line {line} of the journal has the form of version {version}, not {}", JournalRecord::VERSION)]
    Version {
        /// Counts lines from 1.
        line: u64,
        /// The version it says it has.
        version: u32,
    },
    /// The journal cannot be read further.
    #[error("cannot read line {line} of the journal")]
    Read {
        /// Counts lines from 1.
        line: u64,
        /// Why.
        source: io::Error,
    },
}

/// What of a line was read.
enum Line {
    Whole,
    TooLong,
    None,
}

impl<R: BufRead> JournalReader<R> {
    /// Reads records from anything that has lines.
    pub fn new(from: R) -> Self {
        Self { from, line: 0, text: Vec::new(), is_over: false }
    }

    fn read_line(&mut self) -> io::Result<Line> {
        self.text.clear();
        let mut line = Line::None;
        loop {
            let read = match self.from.fill_buf() {
                Ok([]) => return Ok(line),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let newline = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..newline.unwrap_or(read.len())];
            if self.text.len() + part.len() > JsonlJournal::MAX_LINE_BYTES {
                line = Line::TooLong;
            }
            if !matches!(line, Line::TooLong) {
                line = Line::Whole;
                self.text.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.from.consume(used);
            if newline.is_some() {
                return Ok(line);
            }
        }
    }

    fn parse(&self) -> Result<JournalRecord, JournalError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }

        let line = self.line;
        let parsed = serde_json::from_slice::<JournalRecord>(&self.text);
        let version = match &parsed {
            Ok(record) => Some(record.version),
            Err(_) => serde_json::from_slice::<Versioned>(&self.text).ok().map(|versioned| versioned.version),
        };
        match version {
            Some(version) if version != JournalRecord::VERSION => {
                Err(JournalError::Version { line, version })
            }
            _ => parsed.map_err(|error| JournalError::Damaged { line, source: error.into() }),
        }
    }
}

impl<R: BufRead> Iterator for JournalReader<R> {
    type Item = Result<JournalRecord, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            self.line += 1;
            let line = self.line;
            match self.read_line() {
                Ok(Line::None) => self.is_over = true,
                Ok(Line::TooLong) => return Some(Err(JournalError::TooLong { line })),
                Ok(Line::Whole) if self.text.trim_ascii().is_empty() => {}
                Ok(Line::Whole) => return Some(self.parse()),
                Err(source) => {
                    self.is_over = true;
                    return Some(Err(JournalError::Read { line, source }));
                }
            }
        }
        None
    }
}

impl<R> fmt::Debug for JournalReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalReader").field("line", &self.line).finish_non_exhaustive()
    }
}
