use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::NamedTempFile;

/// Bounds the files that outputs are in.
#[derive(Debug)]
pub(crate) struct Disk {
    directory: PathBuf,
    used: AtomicU64,
    most: AtomicU64,
    most_of_one: AtomicU64,
}

/// Counts what a file has of the disk, and gives it back.
#[derive(Debug)]
pub(crate) struct Share {
    disk: Arc<Disk>,
    used: AtomicU64,
}

impl Disk {
    pub(crate) fn new(directory: PathBuf) -> Self {
        let (most, most_of_one) = (AtomicU64::new(1 << 30), AtomicU64::new(256 << 20));
        Self { directory, used: AtomicU64::new(0), most, most_of_one }
    }

    pub(super) fn bound(&self, most: u64, most_of_one: u64) {
        self.most.store(most, Ordering::Relaxed);
        self.most_of_one.store(most_of_one, Ordering::Relaxed);
    }

    /// Tells whether there is no room for one more output that is as large as it may be.
    pub(super) fn is_crowded(&self) -> bool {
        let (used, most) = (self.used.load(Ordering::Relaxed), self.most.load(Ordering::Relaxed));
        used > 0 && used.saturating_add(self.most_of_one.load(Ordering::Relaxed)) > most
    }

    /// Makes a file that only its owner can read.
    pub(crate) fn file(self: &Arc<Self>) -> io::Result<(NamedTempFile, Share)> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let file =
            tempfile::Builder::new().prefix("haft-script-").suffix(".txt").tempfile_in(&self.directory)?;
        Ok((file, Share { disk: Arc::clone(self), used: AtomicU64::new(0) }))
    }
}

impl Share {
    /// Takes room for so many bytes more.
    pub(crate) fn take(&self, bytes: u64) -> io::Result<()> {
        let of_one = self.used.load(Ordering::Relaxed).saturating_add(bytes);
        let of_all = self.disk.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if of_one > self.disk.most_of_one.load(Ordering::Relaxed)
            || of_all > self.disk.most.load(Ordering::Relaxed)
        {
            self.disk.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        self.used.store(of_one, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.disk.used.fetch_sub(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
