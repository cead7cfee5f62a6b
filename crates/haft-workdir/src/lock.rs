//! Whose turn it is to change files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, OFlags, fstat, openat};
use rustix::io::Errno;

use crate::advisory_lock::{self, Locked};
use crate::error::Error;
use crate::handle::DirectoryHandle;
use crate::identity::Identity;
use crate::leftovers::sweep_locked;
use crate::path::WorkdirPath;
use crate::workdir::Workdir;

/// How often it is looked again where the files are, if directories come and go meanwhile.
const ATTEMPTS: usize = 64;

/// The directories that are locked in this process.
static HELD: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());

/// Told when some of them no longer are.
static FREED: Condvar = Condvar::new();

/// Keeps others from changing files until it is dropped; made by [`Workdir::lock`].
///
/// It stays on the thread that took it.
///
/// ```
/// use haft_workdir::{Existing, FileLocks, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::write(directory.path().join("count.txt"), "1")?;
/// let path = workdir.resolve("count.txt")?;
/// let turn: FileLocks = workdir.lock([&path])?;
/// // Between reading and writing, no other call that asks for the lock changes the file.
/// let count: u64 = String::from_utf8(workdir.read(&path, 100)?)?.parse()?;
/// workdir.write_atomic(&path, (count + 1).to_string().as_bytes(), Existing::Replace)?;
/// drop(turn);
/// assert_eq!(workdir.read(&path, 100)?, b"2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the files are locked only as long as this lives"]
pub struct FileLocks {
    /// Closed first, which ends the locks that other processes see.
    directories: Vec<OwnedFd>,
    _turn: Turn,
}

/// Keeps other threads of this process from directories until it is dropped.
struct Turn {
    directories: Vec<Identity>,
    _of_this_thread: PhantomData<MutexGuard<'static, ()>>,
}

impl Turn {
    /// Waits until none of the directories is another's, and takes all of them at once.
    fn take(directories: Vec<Identity>) -> Self {
        let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let is_taken = |held: &mut BTreeSet<Identity>| directories.iter().any(|one| held.contains(one));
        let mut held = FREED.wait_while(held, is_taken).unwrap_or_else(PoisonError::into_inner);
        held.extend(&directories);
        Self { directories, _of_this_thread: PhantomData }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        for one in &self.directories {
            held.remove(one);
        }
        drop(held);
        FREED.notify_all();
    }
}

impl fmt::Debug for FileLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileLocks").field("directories", &self.directories.len()).finish_non_exhaustive()
    }
}

impl Workdir {
    /// Waits until nobody else changes these files, and keeps others waiting until the result is dropped.
    ///
    /// It holds among all threads of the process, whichever `Workdir` they use and by whatever path they name the file,
    /// and among processes on one machine. Only those who ask are kept waiting: writing works without the lock, and so do
    /// other programs.
    ///
    /// What is locked is the directory that holds the file, since the file itself is replaced by each write: by `flock` on a
    /// handle of that directory, which leaves nothing behind and ends with the process. So the lock is one for all files of
    /// the directory, and for no other. For a file in a directory that does not exist, it is the nearest one above it that
    /// does. Several directories are locked in one order, so that no two callers wait for each other; a second call on the
    /// same thread before the first result is dropped may wait for ever. Where the file system has no such locks, or the
    /// directory may not be read, only the threads of this process are kept apart.
    ///
    /// Also ends what a killed process left half done in these directories; see [`Workdir::write_atomic`].
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("count"), "1")?;
    /// let workdir = haft_workdir::Workdir::open(directory.path())?;
    /// let path = workdir.resolve("count")?;
    /// let lock = workdir.lock([&path])?;
    /// let old = workdir.read(&path, 1024)?;
    /// workdir.replace_parts(&path, &old, &[&old, b"2"])?;
    /// drop(lock);
    /// assert_eq!(workdir.read(&path, 1024)?, b"12");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] when another process holds a directory for ten seconds; [`Error::Io`].
    pub fn lock<'p>(&self, paths: impl IntoIterator<Item = &'p WorkdirPath>) -> Result<FileLocks, Error> {
        let paths: Vec<&WorkdirPath> = paths.into_iter().collect();
        for _ in 0..ATTEMPTS {
            let places = self.places(&paths)?;
            let locks = take(&places)?;
            // A directory that was created meanwhile is the one to lock.
            if self.places(&paths)?.keys().eq(places.keys()) {
                for place in places.values() {
                    sweep_locked(place.directory.as_fd());
                }
                return Ok(locks);
            }
        }
        match paths.first() {
            Some(path) => Err(Error::Busy { path: (*path).clone() }),
            None => Ok(FileLocks { directories: Vec::new(), _turn: Turn::take(Vec::new()) }),
        }
    }

    /// Finds the directories to lock.
    fn places<'p>(&self, paths: &[&'p WorkdirPath]) -> Result<BTreeMap<Identity, Place<'_, 'p>>, Error> {
        let mut places = BTreeMap::new();
        for path in paths {
            let failed = |errno| Error::of("lock", path, errno);
            let mut above = path.parent();
            let directory = loop {
                let parent = above.unwrap_or_else(|| path.own_root());
                match self.directory(&parent) {
                    Ok(directory) => break directory,
                    // Whoever uses the path is told what is wrong with it.
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !parent.is_root() => {
                        above = parent.parent();
                    }
                    Err(errno) => return Err(failed(errno)),
                }
            };
            let identity = Identity::of(&fstat(&directory).map_err(failed)?);
            places.entry(identity).or_insert(Place { directory, path });
        }
        Ok(places)
    }
}

/// A directory to be locked, and the first path it is locked for.
struct Place<'a, 'p> {
    directory: DirectoryHandle<'a>,
    path: &'p WorkdirPath,
}

fn take(places: &BTreeMap<Identity, Place<'_, '_>>) -> Result<FileLocks, Error> {
    let turn = Turn::take(places.keys().copied().collect());
    let mut locks = FileLocks { directories: Vec::with_capacity(places.len()), _turn: turn };
    for place in places.values() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(directory) = openat(&place.directory, ".", flags, Mode::empty()) else { continue };
        match advisory_lock::lock(&directory) {
            Locked::Yes => locks.directories.push(directory),
            Locked::Unsupported => {}
            Locked::Held => return Err(Error::Busy { path: place.path.clone() }),
        }
    }
    Ok(locks)
}
