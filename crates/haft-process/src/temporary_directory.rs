use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, lstat, open};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::remove_tree;

/// How often it is tried again where another process took for left over what was just made.
const TRIES: u32 = 16;

/// Where this process has looked for what was left, and for which purpose.
static SWEPT: Mutex<BTreeSet<(PathBuf, String)>> = Mutex::new(BTreeSet::new());

/// Holds a directory that is removed, with all that is in it, when this is dropped.
///
/// What a process leaves that is killed, or that ends without dropping this, is removed by the next one that makes a
/// directory for the same purpose in the same place. Which are in use is told by a lock on the directory itself
/// (`flock`), which the system lets go of however the holder ends, so that what another process has stays. One kernel
/// alone knows of such a lock: what another machine made there, or this one before it was started again, is left alone,
/// and so are directories of other users. Where a file system knows no locks, what killed processes leave stays, too.
///
/// Only the user can look into it (mode 0700), and its name cannot be guessed. It costs one descriptor.
///
/// ```
/// use haft_process::TemporaryDirectory;
///
/// # let place = tempfile::tempdir()?;
/// # let place = place.path();
/// let outputs = TemporaryDirectory::new_in(place, "outputs")?;
/// let path = outputs.path().to_owned();
/// std::fs::write(path.join("1.txt"), "much")?;
///
/// drop(outputs);
/// assert!(!path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TemporaryDirectory {
    path: Box<Path>,
    /// Locked for as long as the directory is used.
    _held: OwnedFd,
}

impl TemporaryDirectory {
    /// Makes `haft-PURPOSE-…` in a directory such as `std::env::temp_dir()`.
    ///
    /// The first time that a process does so for a purpose, it looks through the names in the directory and removes what was
    /// left for the same purpose, which takes as long as that is large. It blocks.
    ///
    /// # Errors
    ///
    /// When the purpose is not written in `a` to `z` alone, or nothing can be made there; the text names the path.
    pub fn new_in(directory: &Path, purpose: &str) -> io::Result<Self> {
        if purpose.is_empty() || !purpose.bytes().all(|byte| byte.is_ascii_lowercase()) {
            let message = format!(
                "`{purpose}` is not the purpose of a directory; write it in `a` to `z` alone, such as `outputs`"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let cannot = |path: &Path, error: io::Error| {
            io::Error::new(error.kind(), format!("cannot make `{}`: {error}", path.display()))
        };
        let directory = directory.canonicalize().map_err(|error| cannot(directory, error))?;
        let start = format!("haft-{purpose}-{:08x}-", machine());
        remove_left_over(&directory, purpose, &start);
        for _ in 0..TRIES {
            let path = directory.join(format!("{start}{:016x}", RandomState::new().build_hasher().finish()));
            if let Some(held) = make(&path).map_err(|error| cannot(&path, error))? {
                return Ok(Self { path: path.into(), _held: held });
            }
        }
        Err(cannot(&directory, io::ErrorKind::ResourceBusy.into()))
    }

    /// Where it is; absolute, and free of links.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // What cannot be removed is the next process's to try.
        let _ = remove_tree(&self.path);
    }
}

/// Tells the kernel apart that the locks are of, also from the same one before it was started again.
fn machine() -> u32 {
    let name = fs::read("/proc/sys/kernel/random/boot_id")
        .unwrap_or_else(|_| rustix::system::uname().nodename().to_bytes().to_vec());
    // FNV-1a, with 32 bits: processes of other versions have to come to the same.
    name.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Makes a directory and locks it; gives nothing where another process took it for left over meanwhile.
fn make(path: &Path) -> io::Result<Option<OwnedFd>> {
    DirBuilder::new().mode(0o700).create(path)?;
    match lock(path) {
        Ok(held) => Ok(held),
        // Where there are no locks, no other process can have one and remove it.
        Err(Errno::NOTSUP | Errno::NOSYS) => Ok(Some(open_directory(path)?)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Locks a directory; gives nothing where another process has it, or it is another one by then.
fn lock(path: &Path) -> rustix::io::Result<Option<OwnedFd>> {
    let held = open_directory(path)?;
    match flock(&held, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(None),
        Err(error) => return Err(error),
    }
    // Before it was locked, its holder could remove it.
    let (locked, now) = (fstat(&held)?, lstat(path)?);
    Ok(((locked.st_dev, locked.st_ino) == (now.st_dev, now.st_ino)).then_some(held))
}

fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    open(path, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Removes, once in this process, the directories that no process has; the worst is that one stays.
fn remove_left_over(directory: &Path, purpose: &str, start: &str) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.insert((directory.to_owned(), purpose.to_owned())) {
        return;
    }
    drop(swept);
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_one =
            entry.file_name().to_str().and_then(|name| name.strip_prefix(start)).is_some_and(is_number);
        if is_one
            && is_own(&entry.path())
            && let Ok(Some(_held)) = lock(&entry.path())
        {
            let _ = remove_tree(&entry.path());
        }
    }
}

/// Tells the end of the names that [`TemporaryDirectory::new_in`] gives.
fn is_number(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_own(path: &Path) -> bool {
    lstat(path).is_ok_and(|stat| stat.st_uid == geteuid().as_raw())
}
