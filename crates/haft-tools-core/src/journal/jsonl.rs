mod appending;
mod line;
mod reader;

pub use reader::{JournalError, JournalReader};

use super::{JournalRecord, JournalSink};
use appending::Appending;
use line::line;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Keeps records in a file, each as JSON on a line of its own, which is only ever appended to.
///
/// A record is written at once, by a single write in append mode, so that several tasks, and several processes, can write
/// into one file without mixing their lines. This holds for files on local disks, where the system puts each such write at
/// the end as a whole; on network file systems it does not. A write that breaks off, because the disk is full or the
/// process is killed, leaves an unfinished line: whoever writes next ends that first, so that it spoils no other record,
/// and [`read`](Self::read) reports it.
///
/// What could not be seen on a terminal, or would change what is seen, is written as an escape (`\u202e`).
///
/// What was written survives the end of the process. It survives a loss of power when the system has got it to the disk,
/// which [`sync`](Self::sync) waits for.
///
/// ```
/// use haft_core::{ReplyStatus, ToolCall, ToolReply};
/// use haft_tools_core::{CallScope, Journal, JournalEntry, JsonlJournal};
/// use serde_json::json;
/// use std::sync::Arc;
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("journal.jsonl");
/// let journal = Journal::new(Arc::new(JsonlJournal::open(&path)?));
///
/// let call = ToolCall::new("c1".parse()?, "raed_file", json!({}));
/// let reply = ToolReply::new(call.id.clone(), "raed_file", ReplyStatus::Denied, "no such tool".into());
/// journal.call(&CallScope::new("run-1".parse()?), &call).ended(&reply)?;
///
/// for record in JsonlJournal::read(&path)? {
///     let record = record?;
///     assert_eq!(record.called_as, "raed_file");
///     assert!(matches!(record.entry, JournalEntry::Ended { status: ReplyStatus::Denied, .. }));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JsonlJournal(Mutex<Appending<File>>);

impl JsonlJournal {
    /// The most bytes a line may have, without its newline: 1 MiB. A longer record is refused, a longer line is skipped.
    pub const MAX_LINE_BYTES: usize = 1024 * 1024;

    /// Opens a file to append to, or makes one that only its owner may read (mode 0600).
    ///
    /// A file that is there keeps its mode. If its last line is unfinished, the line is ended.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, read or written, or is not a regular file.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self(Mutex::new(Appending::open(path.as_ref())?)))
    }

    /// Reads the records of a file one by one, with memory for one line.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened.
    pub fn read(path: impl AsRef<Path>) -> io::Result<JournalReader<BufReader<File>>> {
        Ok(JournalReader::new(BufReader::new(File::open(path)?)))
    }

    /// Waits until all that was written is on the disk; takes as long as the disk does.
    ///
    /// # Errors
    ///
    /// When the system cannot say so.
    pub fn sync(&self) -> io::Result<()> {
        // The file is duplicated, so that nobody who writes waits for the disk.
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner).duplicate()?;
        file.sync_data()
    }
}

impl JournalSink for JsonlJournal {
    fn write(&self, record: &JournalRecord) -> io::Result<()> {
        let line = line(record)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).append(&line)
    }
}

impl fmt::Debug for JsonlJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlJournal").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
