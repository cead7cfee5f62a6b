use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memchr_iter;
use rustix::fs::OFlags;
use tempfile::{NamedTempFile, TempPath};
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

/// Is a file that goes with the last who reads it, and is open as long as something is written.
#[derive(Debug)]
struct Spill {
    file: Mutex<Held>,
    path: TempPath,
    share: Share,
}

#[derive(Debug)]
enum Held {
    Open(Arc<File>),
    /// What it was when nothing more came.
    Closed(Identity),
}

/// Tells a file from another that has its name: its device and number, its length, and when it was changed last.
#[derive(Debug, PartialEq, Eq)]
struct Identity([u64; 3], [i64; 2]);

impl Identity {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let changed = [metadata.mtime(), metadata.mtime_nsec()];
        Ok(Self([metadata.dev(), metadata.ino(), metadata.len()], changed))
    }
}

impl Spill {
    fn new(file: NamedTempFile, share: Share) -> Self {
        let (file, path) = file.into_parts();
        Self { file: Mutex::new(Held::Open(Arc::new(file))), path, share }
    }

    fn write(&self, text: &[u8]) -> io::Result<()> {
        match &*self.lock() {
            Held::Open(file) => (&**file).write_all(text),
            Held::Closed(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Lets go of the file, which is opened again by whoever reads it.
    fn close(&self) {
        let mut held = self.lock();
        // What cannot be told from others stays open.
        if let Held::Open(file) = &*held
            && let Ok(identity) = Identity::of(file)
        {
            *held = Held::Closed(identity);
        }
    }

    /// Gives the file that was written, and not one that stands in its place.
    fn open(&self) -> io::Result<Arc<File>> {
        let held = self.lock();
        let identity = match &*held {
            Held::Open(file) => return Ok(Arc::clone(file)),
            Held::Closed(identity) => identity,
        };
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(&self.path)?;
        if Identity::of(&file)? == *identity {
            Ok(Arc::new(file))
        } else {
            Err(io::Error::other("another file has taken its place"))
        }
    }

    /// Nothing panics while the lock is held, so what it guards is whole.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
            let spill = Spill::new(file, share);
            spill.write(&kept.memory)?;
            kept.memory = Vec::new();
            kept.file = Some(Arc::new(spill));
        }
        let Some(spill) = &kept.file else { return Ok(()) };
        spill.share.take(text.len() as u64)?;
        spill.write(text)
    }

    /// Takes note that nothing more comes.
    pub(crate) fn end(&self) {
        let mut kept = self.lock();
        kept.ended = true;
        if let Some(spill) = &kept.file {
            spill.close();
        }
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
        spill.open()?.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes)
    }

    /// Nothing panics while the lock is held, so what it guards is whole.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{MEMORY_BYTES, Transcript};
    use crate::script_outputs::Disk;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::sync::Arc;

    const LONG: usize = MEMORY_BYTES + 10;

    /// A transcript that has ended, and its file.
    fn ended(directory: &tempfile::TempDir) -> (Transcript, PathBuf) {
        let transcript = Transcript::new(Arc::new(Disk::new(directory.path().to_owned())));
        transcript.push(&vec![b'a'; LONG]);
        transcript.end();
        let file = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
        (transcript, file)
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn no_file_is_held_open_once_it_has_ended_and_it_is_read_all_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let (transcript, file) = ended(&directory);
        let open = |descriptor: std::io::Result<fs::DirEntry>| {
            descriptor.is_ok_and(|descriptor| fs::read_link(descriptor.path()).is_ok_and(|of| of == file))
        };
        assert!(!fs::read_dir("/proc/self/fd").unwrap().any(open));
        assert_eq!(transcript.read(0..LONG as u64).unwrap(), vec![b'a'; LONG]);
        drop(transcript);
        assert!(!file.exists());
    }

    #[test]
    fn what_has_taken_the_place_of_its_file_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let secret = tempfile::tempdir().unwrap();
        fs::write(secret.path().join("key"), vec![b'k'; LONG]).unwrap();
        for replace in [
            |from: PathBuf, at: PathBuf| symlink(from, at).unwrap(),
            |from: PathBuf, at: PathBuf| fs::hard_link(from, at).unwrap(),
        ] {
            let (transcript, file) = ended(&directory);
            fs::remove_file(&file).unwrap();
            replace(secret.path().join("key"), file);
            assert!(transcript.read(0..10).is_err());
        }
    }
}
