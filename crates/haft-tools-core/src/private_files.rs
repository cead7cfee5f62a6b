use std::error::Error;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::new_file::{NewFile, make_private_directory};

/// The most bytes of a file, where nothing else is said: 1 MiB.
const MOST_BYTES: u64 = 1 << 20;

/// How long is waited between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(5);

/// Keeps small files in a directory, which nobody but their owner can read or write.
///
/// For what a host has to remember and nobody else may know or change: logins, what was accepted, what is trusted. The
/// directory gets the mode 0700 when it is made, and each file 0600. A file takes the place of the one before as a whole.
/// One that others could have read or written is not read: it is an error, so that whoever asks can refuse what depends on
/// it. On systems other than Unix the directory says who may read.
///
/// The methods may block. Names are made by the host and are names of files, without a directory.
///
/// ```
/// use haft_tools_core::PrivateFiles;
///
/// # let scratch = tempfile::tempdir()?;
/// # let state = scratch.path();
/// let files = PrivateFiles::new(state.join("logins"));
/// assert_eq!(files.read("one")?, None);
/// files.write("one", "secret")?;
/// assert_eq!(files.read("one")?.as_deref(), Some("secret"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PrivateFiles {
    directory: PathBuf,
    most_bytes: u64,
}

/// Says why a private file could not be read, written or locked.
///
/// ```
/// use haft_tools_core::{PrivateFileError, PrivateFiles};
///
/// # let place = tempfile::tempdir()?;
/// let files = PrivateFiles::new(place.path().join("state"));
/// let files = files.most_bytes(4);
/// let error = files.write("note", "too long").unwrap_err();
/// assert!(matches!(error, PrivateFileError::TooLarge { bytes: 8, most: 4, .. }));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrivateFileError {
    /// The system refused.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was attempted: `read`, `write`, `lock` or `remove`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is a directory, a link or something else that is no file.
    #[error("`{path}` is not a regular file; look at it, and move it away")]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// Others than its owner may read or write it.
    #[error(
        "others than its owner may read or write `{path}` (mode {mode:04o}); look at what it says, then make it private \
         with `chmod 600`"
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode, of which the last six bits must be 0.
        mode: u32,
    },
    /// It has more bytes than are read, or would have.
    #[error("`{path}` has {bytes} bytes, more than the {most} that are kept; look at it, and move it away")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bytes it has, or would have.
        bytes: u64,
        /// The most that it may have.
        most: u64,
    },
    /// Somebody else has held its lock for as long as could be waited.
    #[error(
        "another process has held the lock `{path}` for {} s; try again when it is done, or end it",
        waited.as_secs_f64()
    )]
    Busy {
        /// The file that is locked.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
}

/// Is a lock among processes, which is given back when this is dropped.
///
/// ```
/// use haft_tools_core::PrivateFiles;
/// use std::time::Duration;
///
/// # let place = tempfile::tempdir()?;
/// let files = PrivateFiles::new(place.path().join("state"));
/// let lock = files.lock("notes", Duration::from_secs(1))?;
/// assert!(files.lock("notes", Duration::ZERO).is_err());
/// drop(lock);
/// assert!(files.lock("notes", Duration::ZERO).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping it unlocks"]
pub struct PrivateLock {
    _file: File,
}

impl PrivateFiles {
    /// Keeps files in a directory, which is made when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), most_bytes: MOST_BYTES }
    }

    /// Sets how many bytes a file may have; 1 MiB by default.
    pub fn most_bytes(mut self, most: u64) -> Self {
        self.most_bytes = most;
        self
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the file of a name is, or would be.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Reads a file; `None` if there is none.
    ///
    /// # Errors
    ///
    /// When it is no regular file, others than its owner may read or write it, it is too large or no UTF-8, or it cannot
    /// be read.
    pub fn read(&self, name: &str) -> Result<Option<String>, PrivateFileError> {
        let path = self.path(name);
        let refused = |source| failed("read", &path, source);
        // A pipe would be waited for.
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => return Err(PrivateFileError::NoFile { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(error)),
            Ok(_) => {}
        }
        let file = File::open(&path).map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        if let Some(mode) = too_open(&metadata) {
            return Err(PrivateFileError::Open { path, mode });
        }
        self.check_size(&path, metadata.len())?;
        let mut text = String::new();
        let read = file.take(self.most_bytes + 1).read_to_string(&mut text).map_err(refused)?;
        self.check_size(&path, read as u64)?;
        Ok(Some(text))
    }

    /// Writes a file in place of the one that was there, if there was one.
    ///
    /// # Errors
    ///
    /// When it has more bytes than would be read, or cannot be written; what was there is there still.
    pub fn write(&self, name: &str, text: &str) -> Result<(), PrivateFileError> {
        let path = self.path(name);
        let refused = |source| failed("write", &path, source);
        self.check_size(&path, text.len() as u64)?;
        // A new file is readable by its owner alone, and takes the place of the other at once.
        let (new, mut file) = NewFile::create(&self.directory, ".tmp", "").map_err(refused)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(refused)?;
        drop(file);
        new.take_the_place_of(&path).map_err(refused)
    }

    /// Removes a file; tells whether there was one.
    ///
    /// # Errors
    ///
    /// When it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<bool, PrivateFileError> {
        let path = self.path(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed("remove", &path, error)),
        }
    }

    /// Lists the names that are UTF-8, those of locks included; none where there is no directory.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub fn names(&self) -> Result<Vec<String>, PrivateFileError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("read", &self.directory, error)),
        };
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Waits until no other process has the lock of this name, for so long at most.
    ///
    /// A lock is a file, which stays. It is given back when the process ends, however it does.
    ///
    /// # Errors
    ///
    /// When somebody else still has it after that time, or it cannot be made.
    pub fn lock(&self, name: &str, patience: Duration) -> Result<PrivateLock, PrivateFileError> {
        let path = self.path(name);
        let refused = |source| failed("lock", &path, source);
        make_private_directory(&self.directory).map_err(refused)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(refused)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(PrivateLock { _file: file }),
                Err(TryLockError::WouldBlock) if begun.elapsed() < patience => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(PrivateFileError::Busy { path, waited: patience });
                }
                Err(TryLockError::Error(error)) => return Err(refused(error)),
            }
        }
    }

    fn check_size(&self, path: &Path, bytes: u64) -> Result<(), PrivateFileError> {
        let most = self.most_bytes;
        if bytes <= most {
            return Ok(());
        }
        Err(PrivateFileError::TooLarge { path: path.to_owned(), bytes, most })
    }
}

impl From<PrivateFileError> for io::Error {
    fn from(error: PrivateFileError) -> Self {
        let kind = match &error {
            // Those who print it alone would not see the cause otherwise.
            PrivateFileError::Io { source, .. } => {
                return Self::new(source.kind(), format!("{error}: {source}"));
            }
            PrivateFileError::Open { .. } => io::ErrorKind::PermissionDenied,
            PrivateFileError::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            PrivateFileError::Busy { .. } => io::ErrorKind::TimedOut,
            PrivateFileError::NoFile { .. } => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, Box::<dyn Error + Send + Sync>::from(error))
    }
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> PrivateFileError {
    PrivateFileError::Io { action, path: path.to_owned(), source }
}

/// Gives the mode of a file that others than its owner may read or write.
#[cfg(unix)]
fn too_open(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = metadata.permissions().mode() & 0o7777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn too_open(_metadata: &Metadata) -> Option<u32> {
    None
}
