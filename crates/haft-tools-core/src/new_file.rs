//! Files that are made under a name nobody else has, which their owner alone can read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many names are tried for a file before it is given up: each is only taken where another process left a file.
const MOST_NAMES: u32 = 1_000;

/// Is a file that was made, and is removed with this value unless it took the place of another.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    is_placed: bool,
}

impl NewFile {
    /// Makes a file in a directory, which is made if it is not there.
    pub(crate) fn create(directory: &Path, prefix: &str, suffix: &str) -> io::Result<(Self, File)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        make_private_directory(directory)?;
        let mut options = OpenOptions::new();
        // Neither a file that is there nor one that a link leads to is opened.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut refused = None;
        for _ in 0..MOST_NAMES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("{prefix}-{}-{number}{suffix}", process::id()));
            match options.open(&path) {
                Ok(file) => return Ok((Self { path, is_placed: false }, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(refused.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it the name of another file, which is gone then; it stays.
    pub(crate) fn take_the_place_of(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_placed {
            // A file that is gone already, or cannot be removed, is the directory's business.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes a directory that nobody but its owner can look into, unless it is there.
pub(crate) fn make_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}
