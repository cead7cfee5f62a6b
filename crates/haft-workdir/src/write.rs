//! Changes to the tree: writing, creating directories, renaming.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{
    Access, AtFlags, Mode, OFlags, accessat, fchmod, fsync, linkat, mkdirat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use crate::error::Error;
use crate::handle::{DirectoryHandle, open_child};
use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::platform;
use crate::workdir::Workdir;

/// What to do with something that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Take its place.
    Replace,
    /// Leave it and fail.
    Refuse,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// There was no file before.
    Created,
    /// The content of a file was replaced.
    Replaced,
}

/// The permissions a write keeps. Set-user-id and set-group-id go, as they do when a file is written in place.
const KEPT: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);

impl Workdir {
    /// Writes a file so that it holds either the old content or the new, whole.
    ///
    /// The bytes go to a temporary file in the same directory, which is flushed to disk and then renamed; the directory
    /// is flushed last. An existing file keeps its permissions (read, write, execute), a new one gets those of the
    /// process. A file that the process may not write is refused, although renaming would get round that. If the
    /// process is killed, a file named `.haft-….tmp` may be left in the directory.
    ///
    /// The directory must exist: see [`Workdir::create_dir_all`]. Other names (hard links) of a replaced file keep the
    /// old content, and its owner becomes the user of the process.
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
    /// [`Error::NotRegular`]; [`Error::Changed`] when the path is or passes through a symbolic link;
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
        let failed = |errno| Error::of("write", path, errno);
        let (parent, name) = self.destination(path)?;
        let replaced = replaceable(&parent, name, path, existing)?;
        let temporary = TemporaryFile::create(parent.as_fd(), replaced).map_err(failed)?;
        let mut file = &temporary.file;
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        written.and_then(|()| file.sync_all()).map_err(|source| Error::Io {
            action: "write",
            path: path.clone(),
            source,
        })?;
        temporary.publish(name, existing).map_err(failed)?;
        flush_directory(parent.as_fd())
            .map_err(|errno| Error::Unflushed { path: path.clone(), source: errno.into() })?;
        Ok(if replaced.is_some() { Written::Replaced } else { Written::Created })
    }

    /// Creates a directory and every directory above it that does not exist.
    ///
    /// Returns those it created, the outermost first; none if the directory was there. After an error those created so
    /// far remain.
    ///
    /// # Errors
    ///
    /// [`Error::NotADirectory`] when a file is in the way; [`Error::Changed`] when a symbolic link is; [`Error::Io`].
    pub fn create_dir_all(&self, path: &WorkdirPath) -> Result<Vec<WorkdirPath>, Error> {
        let mut created = Vec::new();
        match self.root.handle.directory(path) {
            Ok(_) => return Ok(created),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(Error::of("create", path, errno)),
        }
        let mut place = WorkdirPath::root();
        let mut current = self.root.handle.as_directory();
        for name in path.segments() {
            place = place.child(name);
            let failed = |errno| Error::of("create", &place, errno);
            let opened = match open_child(current.as_fd(), name, platform::PLACE) {
                Err(Errno::NOENT) => {
                    match mkdirat(&current, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) => created.push(place.clone()),
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
    /// It happens in one step or not at all. [`Existing::Replace`] takes the place of a file, or of an empty directory
    /// when a directory is moved. A symbolic link at either end is itself moved or replaced.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::ParentMissing`]; [`Error::Exists`] with [`Existing::Refuse`], or when the
    /// destination is a directory that is not empty; [`Error::IsADirectory`] for a file in the place of a directory and
    /// [`Error::NotADirectory`] the other way round; [`Error::IsRoot`]; [`Error::Changed`] when a path passes through a
    /// symbolic link; [`Error::Io`], also when the two lie on different file systems.
    pub fn rename(&self, from: &WorkdirPath, to: &WorkdirPath, existing: Existing) -> Result<(), Error> {
        let Some(from_name) = from.file_name() else {
            return Err(Error::IsRoot { action: "rename" });
        };
        if to.is_root() {
            return Err(Error::IsRoot { action: "replace" });
        }
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
        })
    }

    /// Opens the directory into which the entry `path` is to be put, and names the entry.
    fn destination<'p>(&self, path: &'p WorkdirPath) -> Result<(DirectoryHandle<'_>, &'p str), Error> {
        let Some(name) = path.file_name() else {
            return Err(Error::IsADirectory { path: path.clone() });
        };
        let parent = self.parent(path, "write").map_err(|error| match error {
            Error::NotFound { path } => Error::ParentMissing { path },
            other => other,
        })?;
        Ok((parent, name))
    }
}

/// Checks that a write may take the place of what is there, and returns the permissions to keep.
fn replaceable(
    parent: &DirectoryHandle<'_>,
    name: &str,
    path: &WorkdirPath,
    existing: Existing,
) -> Result<Option<Mode>, Error> {
    let failed = |errno| Error::of("write", path, errno);
    let stat = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(failed(errno)),
    };
    match EntryKind::of(&stat) {
        EntryKind::File => {}
        kind => return Err(Error::not_a_file(path, kind)),
    }
    if existing == Existing::Refuse {
        return Err(Error::Exists { path: path.clone() });
    }
    // A system that cannot answer for the effective user does not forbid either.
    match accessat(parent, name, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(failed(errno)),
        _ => Ok(Some(Mode::from_raw_mode(stat.st_mode) & KEPT)),
    }
}

/// A file under a name of its own that is removed unless it is published.
struct TemporaryFile<'a> {
    parent: BorrowedFd<'a>,
    name: String,
    file: File,
    published: bool,
}

impl<'a> TemporaryFile<'a> {
    /// Creates it with the given permissions, or with those of a new file.
    fn create(parent: BorrowedFd<'a>, permissions: Option<Mode>) -> Result<Self, Errno> {
        // Until the permissions are those of the file it replaces, nobody else may look inside.
        let at_first = if permissions.is_some() { 0o600 } else { 0o666 };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let name = format!(".haft-{:016x}.tmp", RandomState::new().hash_one(std::process::id()));
            match openat(parent, &*name, flags, Mode::from_raw_mode(at_first)) {
                Ok(handle) => {
                    let temporary = Self { parent, name, file: File::from(handle), published: false };
                    if let Some(permissions) = permissions {
                        fchmod(&temporary.file, permissions)?;
                    }
                    return Ok(temporary);
                }
                // The name is one of 2^64, so this is a leftover and the next one is free.
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Gives it the name it is meant for.
    fn publish(mut self, name: &str, existing: Existing) -> Result<(), Errno> {
        let source = (self.parent, &*self.name);
        match existing {
            Existing::Replace => renameat(source.0, source.1, self.parent, name)?,
            Existing::Refuse => rename_exclusively(source, (self.parent, name))?,
        }
        self.published = true;
        Ok(())
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.published {
            // The write already failed with an error of its own; a leftover is all that can come of this one.
            let _ = unlinkat(self.parent, &*self.name, AtFlags::empty());
        }
    }
}

/// Renames unless the new name is taken, whatever the file system supports.
fn rename_exclusively(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str)) -> Result<(), Errno> {
    let unsupported = match platform::rename_no_replace(from, to) {
        Err(errno @ (Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP)) => errno,
        renamed => return renamed,
    };
    match statat(from.0, from.1, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if EntryKind::of(&stat) == EntryKind::Directory => {
            // The rename of a directory replaces at most an empty one, so looking first loses nothing.
            return match statat(to.0, to.1, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(Errno::EXIST),
                Err(_) => renameat(from.0, from.1, to.0, to.1),
            };
        }
        _ => {}
    }
    // A hard link never replaces anything.
    match linkat(from.0, from.1, to.0, to.1, AtFlags::empty()) {
        Ok(()) => unlinkat(from.0, from.1, AtFlags::empty()),
        Err(Errno::EXIST) => Err(Errno::EXIST),
        Err(_) => Err(unsupported),
    }
}

/// Makes a rename in a directory outlive a crash, where the file system has a way to.
fn flush_directory(directory: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(directory, ".", flags, Mode::empty()).and_then(fsync) {
        // A directory that may be written but not read cannot be opened for this, and not every file system flushes one.
        Ok(()) | Err(Errno::ACCESS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        Err(errno) => Err(errno),
    }
}
