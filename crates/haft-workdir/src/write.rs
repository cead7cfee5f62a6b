//! Changes to the tree: writing, creating directories, renaming.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Access, AtFlags, Mode, OFlags, Stat, accessat, fstat, mkdirat, openat, renameat, statat};
use rustix::io::Errno;

use crate::attributes;
use crate::error::Error;
use crate::handle::{DirectoryHandle, open_child};
use crate::holds::reads_as;
use crate::identity::has_other_names;
use crate::in_place;
use crate::leftovers::sweep;
use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::platform;
use crate::temporary::{TemporaryFile, flush_directory, rename_exclusively};
use crate::workdir::Workdir;

/// What to do with something that is already there.
///
/// ```
/// use haft_workdir::{Error, Existing, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # for name in ["new.txt", "old.txt"] { std::fs::write(directory.path().join(name), name)?; }
/// let (new, old) = (workdir.resolve("new.txt")?, workdir.resolve("old.txt")?);
/// assert!(matches!(workdir.rename(&new, &old, Existing::Refuse), Err(Error::Exists { .. })));
/// workdir.rename(&new, &old, Existing::Replace)?;
/// assert_eq!(workdir.read(&old, 100)?, b"new.txt");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Take its place.
    Replace,
    /// Leave it and fail.
    Refuse,
}

/// What a write did.
///
/// ```
/// use haft_workdir::{Existing, Workdir, Written};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # let path = workdir.resolve("notes.txt")?;
/// let said = match workdir.write_atomic(&path, b"one", Existing::Replace)? {
///     Written::Created => format!("Created {path}."),
///     Written::Replaced => format!("Replaced the content of {path}."),
/// };
/// assert_eq!(said, "Created notes.txt.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// There was no file before.
    Created,
    /// The content of a file was replaced.
    Replaced,
}

/// What must be in a file's place to be written.
#[derive(Clone, Copy)]
enum Before<'a> {
    /// Nothing, or a file.
    Whatever,
    /// Nothing.
    Nothing,
    /// A file with exactly these bytes.
    Holds(&'a [u8]),
}

/// The permissions of a file that replaces another: until they are those of that one, nobody else may look inside.
const CLOSED: u16 = 0o600;

/// The permissions of a new file, before the process's mask.
const OPEN: u16 = 0o666;

impl Workdir {
    /// Writes a file so that it holds either the old content or the new, whole.
    ///
    /// The bytes go to a temporary file in the same directory, which is flushed to disk and then renamed; the directory
    /// is flushed last. An existing file keeps its permissions (read, write, execute), extended attributes and access
    /// control list, and its owner and group where the process may set them, which only the superuser may in general; a
    /// new one gets what the process gives to new files. A file that the process may not write is refused, although
    /// renaming would get round that.
    ///
    /// A file that has other names (hard links) keeps them: it is written in place. What is to be done is written down
    /// and flushed before, so that the next write in the directory ends what a killed process began; until then such a
    /// file can hold a part of each content.
    ///
    /// A process that is killed may leave a file named `.haft-….tmp` or `.haft-….redo` in the directory; the next process
    /// that writes there removes it.
    ///
    /// The directory must exist: see [`Workdir::create_dir_all`]. Writers of one file are not ordered: see
    /// [`Workdir::lock`].
    ///
    /// ```
    /// use haft_workdir::{Existing, Workdir, Written};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let workdir = Workdir::open(directory.path())?;
    /// let path = workdir.resolve("notes.txt")?;
    /// assert_eq!(workdir.write_atomic(&path, b"one", Existing::Refuse)?, Written::Created);
    /// assert_eq!(workdir.write_atomic(&path, b"two", Existing::Replace)?, Written::Replaced);
    /// assert!(workdir.write_atomic(&path, b"three", Existing::Refuse).is_err());
    /// assert_eq!(workdir.read(&path, 1024)?, b"two");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] with [`Existing::Refuse`]; [`Error::ParentMissing`]; [`Error::IsADirectory`];
    /// [`Error::NotRegular`]; [`Error::ReadOnly`] in a root for reading; [`Error::Busy`] for a file with other names; [`Error::Changed`] when the path is or passes through a symbolic link;
    /// [`Error::NotADirectory`] when it passes through a file; [`Error::Io`]. The file is as it was after any of these.
    /// [`Error::Unflushed`] when the new content is in place but the directory could not be flushed.
    pub fn write_atomic(
        &self,
        path: &WorkdirPath,
        bytes: &[u8],
        existing: Existing,
    ) -> Result<Written, Error> {
        self.write_atomic_parts(path, &[bytes], existing)
    }

    /// Writes a file whose content is in parts, one behind the other, as [`Workdir::write_atomic`] does.
    ///
    /// Saves whoever changes a little of a large file from putting the whole together in memory.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::write_atomic`].
    pub fn write_atomic_parts(
        &self,
        path: &WorkdirPath,
        parts: &[&[u8]],
        existing: Existing,
    ) -> Result<Written, Error> {
        let before = match existing {
            Existing::Replace => Before::Whatever,
            Existing::Refuse => Before::Nothing,
        };
        self.put(path, parts, before)
    }

    /// Replaces the content of a file if it still is what was read, as [`Workdir::write_atomic`] does otherwise.
    ///
    /// The file is compared with `old` when everything else is done, right before the new content takes its place. With
    /// [`Workdir::lock`] no writer that asks for the lock can come in between; others can, in the moment that a rename
    /// takes.
    ///
    /// # Errors
    ///
    /// [`Error::Differs`] when the file holds something else, or is gone; otherwise those of [`Workdir::write_atomic`].
    pub fn replace_parts(&self, path: &WorkdirPath, old: &[u8], parts: &[&[u8]]) -> Result<(), Error> {
        self.put(path, parts, Before::Holds(old)).map(|_| ())
    }

    fn put(&self, path: &WorkdirPath, parts: &[&[u8]], before: Before<'_>) -> Result<Written, Error> {
        let failed = |errno| Error::of("write", path, errno);
        let (parent, name) = self.destination(path)?;
        sweep(parent.as_fd());
        let replaced = Replaced::find(&parent, name, path)?;
        let (old, existing) = match (before, &replaced) {
            (Before::Nothing, Some(_)) => return Err(Error::Exists { path: path.clone() }),
            (Before::Holds(_), None) => return Err(Error::Differs { path: path.clone() }),
            (Before::Nothing, None) => (None, Existing::Refuse),
            (Before::Holds(old), Some(_)) => (Some(old), Existing::Replace),
            (Before::Whatever, _) => (None, Existing::Replace),
        };
        if let Some(replaced) = &replaced {
            check_writable(&parent, name).map_err(failed)?;
            if has_other_names(&replaced.stat) {
                in_place::write(parent.as_fd(), name, path, parts, old)?;
                return Ok(Written::Replaced);
            }
        }
        let permissions = if replaced.is_some() { CLOSED } else { OPEN };
        let temporary = TemporaryFile::create(parent.as_fd(), permissions).map_err(failed)?;
        let mut file = &temporary.file;
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        if let Some(Replaced { stat, handle }) = &replaced {
            attributes::keep(stat, handle.as_ref().map(AsFd::as_fd), file.as_fd()).map_err(failed)?;
        }
        written.and_then(|()| file.sync_all()).map_err(|source| Error::Io {
            action: "write",
            path: path.clone(),
            source,
        })?;
        if let Some(old) = old {
            still_holds(&parent, name, path, old)?;
        }
        temporary.publish(name, existing).map_err(failed)?;
        flush(&parent, path)?;
        Ok(if replaced.is_some() { Written::Replaced } else { Written::Created })
    }

    /// Creates a directory and every directory above it that does not exist.
    ///
    /// Returns those it created, the outermost first; none if the directory was there. After an error those created so
    /// far remain. What was created outlives a crash.
    ///
    /// # Errors
    ///
    /// [`Error::NotADirectory`] when a file is in the way; [`Error::Changed`] when a symbolic link is; [`Error::Io`];
    /// [`Error::Unflushed`] for a directory that is there and may not outlive a crash.
    pub fn create_dir_all(&self, path: &WorkdirPath) -> Result<Vec<WorkdirPath>, Error> {
        let mut created = Vec::new();
        match self.directory(path) {
            Ok(_) => return Ok(created),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(Error::of("create", path, errno)),
        }
        self.roots.check_writable(path)?;
        let mut place = path.own_root();
        let mut current = self.directory(&place).map_err(|errno| Error::of("create", path, errno))?;
        for name in path.segments() {
            place = place.child(name);
            let failed = |errno| Error::of("create", &place, errno);
            let opened = match open_child(current.as_fd(), name, platform::PLACE) {
                Err(Errno::NOENT) => {
                    match mkdirat(&current, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) => {
                            created.push(place.clone());
                            flush(&current, &place)?;
                        }
                        // Another writer was faster; what counts is that it is a directory.
                        Err(Errno::EXIST) => {}
                        Err(errno) => return Err(failed(errno)),
                    }
                    open_child(current.as_fd(), name, platform::PLACE)
                }
                opened => opened,
            };
            current = DirectoryHandle::Opened(opened.map_err(failed)?);
        }
        Ok(created)
    }

    /// Renames or moves a file or directory within the tree.
    ///
    /// It happens in one step or not at all, and outlives a crash. [`Existing::Replace`] takes the place of a file, or of an empty directory
    /// when a directory is moved. A symbolic link at either end is itself moved or replaced.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::ParentMissing`]; [`Error::Exists`] with [`Existing::Refuse`], or when the
    /// destination is a directory that is not empty; [`Error::IsADirectory`] for a file in the place of a directory and
    /// [`Error::NotADirectory`] the other way round; [`Error::IsRoot`] and [`Error::HoldsRoot`]; [`Error::ReadOnly`] when
    /// either is in a root for reading; [`Error::Changed`] when a path passes through a
    /// symbolic link; [`Error::Io`], also when the two lie on different file systems; [`Error::Unflushed`] once it is done and
    /// may not outlive a crash.
    pub fn rename(&self, from: &WorkdirPath, to: &WorkdirPath, existing: Existing) -> Result<(), Error> {
        let Some(from_name) = from.file_name() else {
            return Err(Error::IsRoot { action: "rename" });
        };
        if to.is_root() {
            return Err(Error::IsRoot { action: "replace" });
        }
        self.roots.check_movable(from, "rename")?;
        self.roots.check_movable(to, "replace")?;
        let from_failed = |errno| Error::of("rename", from, errno);
        let from_parent = self.parent(from, "rename")?;
        statat(&from_parent, from_name, AtFlags::SYMLINK_NOFOLLOW).map_err(from_failed)?;
        let (to_parent, to_name) = self.destination(to)?;
        let source = (from_parent.as_fd(), from_name);
        let target = (to_parent.as_fd(), to_name);
        let renamed = match existing {
            Existing::Replace => renameat(source.0, source.1, target.0, target.1),
            Existing::Refuse => rename_exclusively(source, target),
        };
        renamed.map_err(|errno| match errno {
            Errno::NOENT => from_failed(errno),
            Errno::NOTEMPTY => Error::Exists { path: to.clone() },
            other => Error::of("replace", to, other),
        })?;
        flush(&to_parent, to)?;
        if from.parent() == to.parent() { Ok(()) } else { flush(&from_parent, from) }
    }

    /// Opens the directory into which the entry `path` is to be put, and names the entry.
    fn destination<'p>(&self, path: &'p WorkdirPath) -> Result<(DirectoryHandle<'_>, &'p str), Error> {
        let Some(name) = path.file_name() else {
            return Err(Error::IsADirectory { path: path.clone() });
        };
        self.roots.check_writable(path)?;
        let parent = self.parent(path, "write").map_err(|error| match error {
            Error::NotFound { path } => Error::ParentMissing { path },
            other => other,
        })?;
        Ok((parent, name))
    }
}

/// A file whose place a write is to take.
struct Replaced {
    stat: Stat,
    /// The file opened for reading, where the process may do that.
    handle: Option<OwnedFd>,
}

impl Replaced {
    /// Finds what is in a place, and refuses what is no file.
    fn find(parent: &DirectoryHandle<'_>, name: &str, path: &WorkdirPath) -> Result<Option<Self>, Error> {
        let failed = |errno| Error::of("write", path, errno);
        let is_file = |stat: &Stat| match EntryKind::of(stat) {
            EntryKind::File => Ok(()),
            kind => Err(Error::not_a_file(path, kind)),
        };
        // Looked at first, because opening a device or a pipe can have effects.
        let stat = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(failed(errno)),
        };
        is_file(&stat)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let handle = match openat(parent, name, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::ACCESS | Errno::PERM) => return Ok(Some(Self { stat, handle: None })),
            Err(errno) => return Err(failed(errno)),
        };
        let stat = fstat(&handle).map_err(failed)?;
        is_file(&stat)?;
        Ok(Some(Self { stat, handle: Some(handle) }))
    }
}

/// Refuses a file that the process may not write.
fn check_writable(parent: &DirectoryHandle<'_>, name: &str) -> Result<(), Errno> {
    // A system that cannot answer for the effective user does not forbid either.
    match accessat(parent, name, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(errno),
        _ => Ok(()),
    }
}

/// Checks that what is under a name is a file that holds these bytes.
fn still_holds(
    parent: &DirectoryHandle<'_>,
    name: &str,
    path: &WorkdirPath,
    bytes: &[u8],
) -> Result<(), Error> {
    let Some(Replaced { handle: Some(handle), .. }) = Replaced::find(parent, name, path)? else {
        return Err(Error::Differs { path: path.clone() });
    };
    match reads_as(&mut File::from(handle), bytes) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::Differs { path: path.clone() }),
        Err(source) => Err(Error::Io { action: "read", path: path.clone(), source }),
    }
}

/// Makes what was changed in a directory outlive a crash.
pub(crate) fn flush(directory: impl AsFd, path: &WorkdirPath) -> Result<(), Error> {
    flush_directory(directory).map_err(|errno| Error::Unflushed { path: path.clone(), source: errno.into() })
}
