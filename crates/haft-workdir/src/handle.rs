//! Directory handles: the root, and directories opened below it without following a symbolic link.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, open, openat, statat};
use rustix::io::Errno;

use crate::metadata::EntryKind;
use crate::platform;

/// How places below the root are looked up. Both ways give the same answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// One system call per path, confined by the kernel.
    Kernel,
    /// One system call per component, each refusing symbolic links.
    Components,
}

/// The root, opened once.
#[derive(Debug)]
pub(crate) struct RootHandle {
    handle: OwnedFd,
    lookup: Lookup,
}

/// A directory of the tree: the root, or one opened below it.
#[derive(Debug)]
pub(crate) enum DirectoryHandle<'a> {
    Root(BorrowedFd<'a>),
    Opened(OwnedFd),
}

/// Why there is no open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAFile {
    /// It could not be opened.
    Unopened(Errno),
    /// It was opened, is something else, and was closed.
    Other(EntryKind),
}

impl AsFd for DirectoryHandle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root(handle) => handle.as_fd(),
            Self::Opened(handle) => handle.as_fd(),
        }
    }
}

impl RootHandle {
    /// Opens the host directory `path`, falling back to components where the kernel cannot confine.
    pub(crate) fn open(path: &Path, wanted: Lookup) -> Result<Self, Errno> {
        let handle = open(path, platform::PLACE, Mode::empty())?;
        // An old kernel answers ENOSYS, a container's filter EPERM; whatever the reason, components always work.
        let lookup = match platform::open_beneath(handle.as_fd(), ".", platform::PLACE) {
            Ok(_) => wanted,
            Err(_) => Lookup::Components,
        };
        Ok(Self { handle, lookup })
    }

    pub(crate) fn stat(&self) -> Result<Stat, Errno> {
        fstat(&self.handle)
    }

    pub(crate) fn lookup(&self) -> Lookup {
        self.lookup
    }

    pub(crate) fn as_directory(&self) -> DirectoryHandle<'_> {
        DirectoryHandle::Root(self.handle.as_fd())
    }

    /// Opens a directory, named by its resolved path below the root, as a place from which entries are looked up.
    ///
    /// `ELOOP` when a symbolic link is in the way, `ENOTDIR` when another entry is, `ENOENT` when nothing is there.
    pub(crate) fn directory(&self, path: &str) -> Result<DirectoryHandle<'_>, Errno> {
        if path.is_empty() {
            return Ok(self.as_directory());
        }
        self.open_below(path, platform::PLACE).map(DirectoryHandle::Opened)
    }

    /// Opens a directory to list it, with the same errors as [`Self::directory`].
    pub(crate) fn listable(&self, path: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if path.is_empty() {
            return openat(&self.handle, ".", flags, Mode::empty());
        }
        self.open_below(path, flags)
    }

    /// Tells whether `text`, which has no `..`, names an existing entry without passing through a symbolic link.
    ///
    /// This is the whole resolution of most paths in one system call. `false` only means that components must tell.
    pub(crate) fn is_plain_entry(&self, text: &str) -> bool {
        self.lookup == Lookup::Kernel
            && platform::open_beneath(self.handle.as_fd(), text, platform::ANY_PLACE).is_ok()
    }

    fn open_below(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        if self.lookup == Lookup::Kernel {
            let opened = platform::open_beneath(self.handle.as_fd(), path, flags);
            // Components have no limit on the whole length, no need to retry while something is renamed, and work where a
            // filter came since the root was opened.
            if !matches!(opened, Err(Errno::NAMETOOLONG | Errno::AGAIN | Errno::NOSYS | Errno::PERM)) {
                return opened;
            }
        }
        let mut opened: Option<OwnedFd> = None;
        let mut segments = path.split('/').peekable();
        while let Some(name) = segments.next() {
            let from = opened.as_ref().map_or(self.handle.as_fd(), AsFd::as_fd);
            let flags = if segments.peek().is_some() { platform::PLACE } else { flags };
            opened = Some(open_child(from, name, flags)?);
        }
        opened.ok_or(Errno::INVAL)
    }
}

/// Opens the directory `name` of the directory `from`, with the errors of [`RootHandle::directory`].
pub(crate) fn open_child(from: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    openat(from, name, flags | OFlags::NOFOLLOW | OFlags::DIRECTORY, Mode::empty()).map_err(|errno| {
        // Systems disagree on the error for a symbolic link that must not be followed.
        match statat(from, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Errno::LOOP,
            _ => errno,
        }
    })
}

/// Opens the regular file `name` of the directory `from` for reading, with what it is found to be once it is open.
///
/// A symbolic link is not followed, and nothing is waited for. What was no regular file before should not come here, because
/// opening a device or a pipe can have effects.
pub(crate) fn open_child_file(from: BorrowedFd<'_>, name: &str) -> Result<(File, Stat), NotAFile> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = openat(from, name, flags, Mode::empty()).map_err(NotAFile::Unopened)?;
    let stat = fstat(&opened).map_err(NotAFile::Unopened)?;
    match EntryKind::of(&stat) {
        EntryKind::File => Ok((File::from(opened), stat)),
        kind => Err(NotAFile::Other(kind)),
    }
}
