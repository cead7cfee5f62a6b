//! Files under names of their own, which become the files they are meant to be or are removed.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Mode, OFlags, fstat, linkat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::advisory_lock::{Locked, try_lock};
use crate::metadata::EntryKind;
use crate::platform;
use crate::write::Existing;

/// What the names begin with.
pub(crate) const PREFIX: &str = ".haft-";

/// What the names of temporary files end with.
pub(crate) const SUFFIX: &str = ".tmp";

/// How often another name is tried.
const ATTEMPTS: usize = 32;

/// A file under a name of its own that is removed unless it is published.
///
/// It is locked as long as it is open, by which whoever finds its name knows that a process is still at it.
pub(crate) struct TemporaryFile<'a> {
    parent: BorrowedFd<'a>,
    name: String,
    pub(crate) file: File,
    published: bool,
}

impl<'a> TemporaryFile<'a> {
    /// Creates it with the permissions of a new file, before the process's mask.
    pub(crate) fn create(parent: BorrowedFd<'a>, permissions: u16) -> Result<Self, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            let random = RandomState::new().hash_one(std::process::id());
            let name = format!("{PREFIX}{random:016x}{SUFFIX}");
            let handle = match openat(parent, &*name, flags, Mode::from_raw_mode(permissions.into())) {
                Ok(handle) => handle,
                // The name is one of 2^64, so this is a leftover and the next one is free.
                Err(Errno::EXIST) => continue,
                Err(errno) => return Err(errno),
            };
            let temporary = Self { parent, name, file: File::from(handle), published: false };
            // Whoever removes leftovers may have taken it for one before it was locked.
            let is_ours =
                try_lock(&temporary.file) != Locked::Held && i128::from(fstat(&temporary.file)?.st_nlink) > 0;
            if is_ours {
                return Ok(temporary);
            }
        }
        Err(Errno::EXIST)
    }

    /// Gives it the name it is meant for.
    pub(crate) fn publish(mut self, name: &str, existing: Existing) -> Result<(), Errno> {
        self.rename(name, existing)
    }

    /// Gives it the name it is meant for, and keeps it open.
    pub(crate) fn rename(&mut self, name: &str, existing: Existing) -> Result<(), Errno> {
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
pub(crate) fn rename_exclusively(
    from: (BorrowedFd<'_>, &str),
    to: (BorrowedFd<'_>, &str),
) -> Result<(), Errno> {
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
pub(crate) fn flush_directory(directory: impl AsFd) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(directory, ".", flags, Mode::empty()).and_then(rustix::fs::fsync) {
        // A directory that may be written but not read cannot be opened for this, and not every file system flushes one.
        Ok(()) | Err(Errno::ACCESS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        Err(errno) => Err(errno),
    }
}
