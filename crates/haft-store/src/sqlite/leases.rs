use super::places::{LOCKS, beside, private};
use crate::{DatabaseError, RunLease, TakeError};
use haft_core::{Digest, RunId};
use haft_tools_core::StoreError;
use serde_json::Value;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Takes a run by locking a file in a directory beside the database, which the system unlocks when the process ends, however it does.
///
/// The file holds the number of the process, for people, and goes with the lease. One that a killed process left behind is
/// taken over.
pub(super) fn take(database: &Path, run: &RunId) -> Result<RunLease, TakeError> {
    let failed =
        |error: io::Error| StoreError::new("take the run", DatabaseError::Other { source: error.into() });
    let directory = beside(database, LOCKS);
    make_directory(&directory).map_err(failed)?;
    let path = directory.join(name(run));
    match lock(&path).map_err(failed)? {
        Some(file) => Ok(RunLease::new(Lease { path, _file: file })),
        None => Err(TakeError::Held { run: run.clone(), process: holder(&path) }),
    }
}

struct Lease {
    path: PathBuf,
    _file: File,
}

impl Drop for Lease {
    fn drop(&mut self) {
        // While it is locked, so that it is nobody else's. If it stays, it is taken over.
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes the directory of the locks for the owner alone, if it is not there.
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    // What is behind a link may be anybody's.
    if fs::symlink_metadata(path)?.is_dir() {
        return Ok(());
    }
    let message = format!("`{}` is not a directory; remove it", path.display());
    Err(io::Error::new(io::ErrorKind::NotADirectory, message))
}

/// Names the file of a run; runs have names that files cannot have.
fn name(run: &RunId) -> String {
    let digest = Digest::of(&Value::from(run.as_str())).to_string();
    format!("{}.lock", &digest[..32])
}

/// Locks the file; gives `None` if somebody else has.
pub(super) fn lock(path: &Path) -> io::Result<Option<File>> {
    loop {
        let mut file = private(OpenOptions::new().read(true).write(true).create(true)).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Between opening and locking it, its last holder may have removed it, and others may have made another.
        if is_at(&file, path)? {
            file.set_len(0)?;
            write!(file, "{}", std::process::id())?;
            return Ok(Some(file));
        }
    }
}

/// Tells whether somebody has taken a run, without taking it, and without making anything.
///
/// Whoever tries to take the run in the moment in which this looks finds it taken.
pub(super) fn is_held(database: &Path, run: &RunId) -> bool {
    match File::open(beside(database, LOCKS).join(name(run))) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

/// Reads who has a file locked.
fn holder(path: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(path).ok()?.take(16).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;

    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A file that somebody has open cannot be removed here, as far as others can see.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}
