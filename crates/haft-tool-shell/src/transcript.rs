use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memchr_iter;
use tempfile::NamedTempFile;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::script_outputs::{Disk, Share};

/// How much of an output is in memory, in bytes, before it goes into a file.
pub(crate) const MEMORY_BYTES: usize = 32 * 1024;

/// Keeps all that is printed, as text: a little in memory, and more in a file.
#[derive(Debug)]
pub(crate) struct Transcript {
    disk: Arc<Disk>,
    kept: Mutex<Kept>,
    grown: Notify,
}

#[derive(Debug, Default)]
struct Kept {
    memory: Vec<u8>,
    file: Option<Arc<Spill>>,
    bytes: u64,
    newlines: u64,
    ends_line: bool,
    /// How many bytes came for which there was no room.
    lost: u64,
    ended: bool,
}

/// Is a file that goes with the last who reads it.
#[derive(Debug)]
struct Spill {
    file: NamedTempFile,
    share: Share,
}

/// Says how much a transcript has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) lost: u64,
}

impl Transcript {
    pub(crate) fn new(disk: Arc<Disk>) -> Self {
        Self { disk, kept: Mutex::default(), grown: Notify::new() }
    }

    /// Tells whether what comes next is written into a file, which blocks.
    pub(crate) fn blocks(&self, bytes: usize) -> bool {
        let kept = self.lock();
        kept.lost == 0 && (kept.file.is_some() || kept.memory.len() + bytes > MEMORY_BYTES)
    }

    /// Keeps what comes next; blocks where that goes into a file.
    ///
    /// Once something could not be kept nothing is any more, so that there is no gap.
    pub(crate) fn push(&self, text: &[u8]) {
        self.keep(text);
        self.grown.notify_waiters();
    }

    fn keep(&self, text: &[u8]) {
        let mut kept = self.lock();
        if kept.lost > 0 || (!text.is_empty() && self.write(&mut kept, text).is_err()) {
            kept.lost += text.len() as u64;
            return;
        }
        kept.bytes += text.len() as u64;
        kept.newlines += memchr_iter(b'\n', text).count() as u64;
        kept.ends_line = text.last().map_or(kept.ends_line, |last| *last == b'\n');
    }

    fn write(&self, kept: &mut Kept, text: &[u8]) -> io::Result<()> {
        if kept.file.is_none() {
            if kept.memory.len() + text.len() <= MEMORY_BYTES {
                kept.memory.extend_from_slice(text);
                return Ok(());
            }
            let (file, share) = self.disk.file()?;
            share.take(kept.memory.len() as u64)?;
            file.as_file().write_all(&kept.memory)?;
            kept.memory = Vec::new();
            kept.file = Some(Arc::new(Spill { file, share }));
        }
        let Some(spill) = &kept.file else { return Ok(()) };
        spill.share.take(text.len() as u64)?;
        spill.file.as_file().write_all(text)
    }

    /// Takes note that nothing more comes.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// Comes when there is more; to be made before looking how much there is.
    pub(crate) fn grown(&self) -> Notified<'_> {
        self.grown.notified()
    }

    pub(crate) fn extent(&self) -> Extent {
        let kept = self.lock();
        let lines = kept.newlines + u64::from(kept.bytes > 0 && !kept.ends_line);
        Extent { bytes: kept.bytes, lines, lost: kept.lost }
    }

    /// Reads the bytes of a range, as far as there are any; blocks.
    pub(crate) fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let (spill, range) = {
            let kept = self.lock();
            let range = range.start.min(kept.bytes)..range.end.min(kept.bytes);
            let Some(spill) = &kept.file else {
                let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
                return Ok(kept.memory.get(at(range.start)..at(range.end)).unwrap_or_default().to_vec());
            };
            (Arc::clone(spill), range)
        };
        let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        let file: &File = spill.file.as_file();
        file.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes)
    }

    /// Nothing panics while the lock is held, so what it guards is whole.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
