use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::TemporaryDirectory;

/// Holds a directory that confined programs have for themselves; removed with all that is in it when this is dropped.
///
/// Only the user can look into it; that of a process which was killed is removed by the next one that makes one in the same
/// place ([`TemporaryDirectory`]). Programs find it in the place of `/tmp`, `/var/tmp` and `/dev/shm`, as far as that can
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
pub struct Scratch(TemporaryDirectory);

impl Scratch {
    /// Makes one in a directory, such as `std::env::temp_dir()`.
    ///
    /// # Errors
    ///
    /// When nothing can be made there.
    pub fn in_directory(directory: &Path) -> io::Result<Self> {
        let made = TemporaryDirectory::new_in(directory, "scratch")?;
        for name in ["tmp", "shm", "nothing"] {
            DirBuilder::new().mode(0o700).create(made.path().join(name))?;
        }
        OpenOptions::new().write(true).create_new(true).mode(0o400).open(made.path().join("no-file"))?;
        Ok(Self(made))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
