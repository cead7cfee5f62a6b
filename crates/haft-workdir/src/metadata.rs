use std::fmt;
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Stat};

/// What an entry of the tree is.
///
/// ```
/// use haft_workdir::{EntryKind, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// std::os::unix::fs::symlink("gone", directory.path().join("link"))?;
/// let listed = workdir.read_dir(&workdir.resolve(".")?)?;
/// assert_eq!(listed[0].kind(), EntryKind::Symlink);
/// assert_eq!(listed[0].kind().to_string(), "symbolic link");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file, the only kind that is opened and replaced.
    File,
    /// A directory.
    Directory,
    /// A symbolic link itself; only listings and walks report it.
    Symlink,
    /// Something that is neither, and that file operations refuse.
    Other(SpecialKind),
}

/// What an entry is that is no file, directory or symbolic link.
///
/// ```
/// use haft_workdir::{EntryKind, SpecialKind, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// let _listener = std::os::unix::net::UnixListener::bind(directory.path().join("daemon"))?;
/// let path = workdir.resolve("daemon")?;
/// assert_eq!(workdir.kind(&path)?, EntryKind::Other(SpecialKind::Socket));
/// // It is not opened, as that could block or have an effect.
/// let error = workdir.read(&path, 1024).unwrap_err();
/// assert_eq!(error.to_string(), "`daemon` is a socket, not a regular file");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpecialKind {
    /// A named pipe, whose opening could block for ever.
    Fifo,
    /// A Unix domain socket.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device, whose reading could have effects or never end.
    CharacterDevice,
    /// A kind that this crate does not know.
    Unknown,
}

impl EntryKind {
    pub(crate) fn from_file_type(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            FileType::Fifo => Self::Other(SpecialKind::Fifo),
            FileType::Socket => Self::Other(SpecialKind::Socket),
            FileType::BlockDevice => Self::Other(SpecialKind::BlockDevice),
            FileType::CharacterDevice => Self::Other(SpecialKind::CharacterDevice),
            FileType::Unknown => Self::Other(SpecialKind::Unknown),
        }
    }

    pub(crate) fn of(stat: &Stat) -> Self {
        Self::from_file_type(FileType::from_raw_mode(stat.st_mode))
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symbolic link",
            Self::Other(SpecialKind::Fifo) => "named pipe",
            Self::Other(SpecialKind::Socket) => "socket",
            Self::Other(SpecialKind::BlockDevice) => "block device",
            Self::Other(SpecialKind::CharacterDevice) => "character device",
            Self::Other(SpecialKind::Unknown) => "special file",
        })
    }
}

/// What the file system says about a file or directory.
///
/// ```
/// use haft_workdir::Workdir;
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::write(directory.path().join("a.txt"), "one")?;
/// let metadata = workdir.metadata(&workdir.resolve("a.txt")?)?;
/// assert_eq!(metadata.size(), 3);
/// assert!(!metadata.is_executable());
/// assert!(metadata.modified().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    kind: EntryKind,
    size: u64,
    modified: Option<SystemTime>,
    mode: u32,
}

/// Reads the mode of an entry, whose type differs from system to system.
pub(crate) fn mode_of(stat: &Stat) -> u32 {
    u32::try_from(u64::from(stat.st_mode)).unwrap_or_default()
}

impl Metadata {
    pub(crate) fn of(stat: &Stat) -> Self {
        // The fields have other integer types on every system; going through i128 reads them all alike.
        let seconds = u64::try_from(i128::from(stat.st_mtime));
        let nanoseconds = u32::try_from(i128::from(stat.st_mtime_nsec));
        let modified = match (seconds, nanoseconds) {
            (Ok(seconds), Ok(nanoseconds)) => {
                SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
            }
            _ => None,
        };
        Self {
            kind: EntryKind::of(stat),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified,
            mode: mode_of(stat) & 0o777,
        }
    }

    /// Returns what the entry is; never a symbolic link.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Returns the size in bytes; of no meaning for anything but a regular file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns when the content last changed.
    ///
    /// Nothing for a time before 1970 or beyond what the system can express.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Tells whether anyone may execute the file (or enter the directory).
    pub fn is_executable(&self) -> bool {
        self.mode & 0o111 != 0
    }

    /// Returns who may read, write and execute it: the nine bits of the mode.
    pub fn permissions(&self) -> u32 {
        self.mode
    }
}
