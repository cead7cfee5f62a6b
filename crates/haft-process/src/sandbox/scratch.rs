use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many names are tried that somebody else has taken.
const TRIES: u32 = 16;

/// Holds a directory that confined programs have for themselves; removed with all that is in it when this is dropped.
///
/// Only the user can look into it. Programs find it in the place of `/tmp`, `/var/tmp` and `/dev/shm`, as far as that can
/// be; see [`Confinement::scratch`](super::Confinement::scratch).
///
/// ```
/// use haft_process::sandbox::{Confinement, Scratch};
///
/// # let directory = tempfile::tempdir()?;
/// # let temporary = directory.path();
/// let scratch = Scratch::in_directory(temporary)?;
/// let confinement = Confinement::new().read("/usr").scratch(&scratch);
/// # let _ = confinement;
/// let place = scratch.path().to_owned();
/// assert!(place.is_dir());
///
/// // When the command is done, so is what it left there.
/// drop(scratch);
/// assert!(!place.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one in a directory, such as `std::env::temp_dir()`.
    ///
    /// # Errors
    ///
    /// When nothing can be made there.
    pub fn in_directory(directory: &Path) -> io::Result<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let directory = directory.canonicalize()?;
        let mut tries = TRIES;
        let scratch = loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("haft-scratch-{:x}-{number:x}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => break Self(path),
                // A host of the same number ended without removing it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries > 0 => tries -= 1,
                Err(error) => return Err(error),
            }
        };
        for name in ["tmp", "shm", "nothing"] {
            DirBuilder::new().mode(0o700).create(scratch.0.join(name))?;
        }
        OpenOptions::new().write(true).create_new(true).mode(0o400).open(scratch.0.join("no-file"))?;
        Ok(scratch)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left over is the system's to remove, as all that lies there.
        let _ = fs::remove_dir_all(&self.0);
    }
}
