//! Putting things where they were.

use super::digest::ContentDigest;
use super::file_attributes::FileAttributes;
use super::record::PathState;
use crate::error::Error;
use crate::handle::DirectoryHandle;
use crate::path::WorkdirPath;
use crate::temporary::TemporaryFile;
use crate::workdir::Workdir;
use crate::write::{Existing, flush};
use rustix::fs::{Mode, OFlags, RawMode, fchmod, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};

/// The permissions of a file that is being made: until it has its own, nobody else may look inside.
const CLOSED: u16 = 0o600;

/// Makes a place what it was. `now` is what is there, and `content` gives what was in a file.
///
/// A directory that is to go and that somebody has put something into stays; gives whether that was so.
pub(crate) fn put(
    workdir: &Workdir,
    path: &WorkdirPath,
    now: &PathState,
    wanted: &PathState,
    content: impl FnOnce(Option<ContentDigest>) -> Option<Vec<u8>>,
) -> Result<bool, Error> {
    let lost = || Error::Io {
        action: "restore",
        path: path.clone(),
        source: io::Error::new(io::ErrorKind::NotFound, "what was there is not kept"),
    };
    match wanted {
        PathState::Absent => return remove(workdir, path, now),
        PathState::Directory { mode } => {
            if !matches!(now, PathState::Directory { .. }) {
                make_directory(workdir, path, *mode)?;
            }
        }
        PathState::File { digest, mode, attributes, .. } => {
            let bytes = content(*digest).ok_or_else(lost)?;
            put_file(workdir, path, &bytes, *mode, attributes.as_deref(), now)?;
        }
        PathState::Link { target } => {
            let (parent, name) = place(workdir, path)?;
            symlinkat(target.as_str(), &parent, name).map_err(|errno| Error::of("restore", path, errno))?;
        }
        PathState::Other => return Err(lost()),
    }
    Ok(false)
}

/// Writes a file with permissions that nobody finds wider on the way.
fn put_file(
    workdir: &Workdir,
    path: &WorkdirPath,
    bytes: &[u8],
    mode: Option<u32>,
    attributes: Option<&FileAttributes>,
    now: &PathState,
) -> Result<(), Error> {
    let is_there = now.is_there();
    let Some(mode) = mode else {
        let existing = if is_there { Existing::Replace } else { Existing::Refuse };
        return workdir.write_atomic(path, bytes, existing).map(|_| ());
    };
    if is_there {
        workdir.write_atomic(path, bytes, Existing::Replace)?;
        return match (now, attributes) {
            (PathState::File { mode: Some(now), .. }, None) if *now == mode => Ok(()),
            (_, None) => workdir.set_mode(path, mode),
            (_, Some(attributes)) => workdir.give(path, |file| attributes.give(file, mode_of(mode))),
        };
    }
    put_new(workdir, path, &[bytes], mode, attributes)
}

/// Makes a file with these permissions, which nobody finds wider on the way, and what else it is to have.
pub(super) fn put_new(
    workdir: &Workdir,
    path: &WorkdirPath,
    parts: &[&[u8]],
    mode: u32,
    attributes: Option<&FileAttributes>,
) -> Result<(), Error> {
    let failed = |errno| Error::of("write", path, errno);
    let (parent, name) = place(workdir, path)?;
    let temporary = TemporaryFile::create(parent.as_fd(), CLOSED).map_err(failed)?;
    let mut file = &temporary.file;
    let written = parts.iter().try_for_each(|part| file.write_all(part));
    match attributes {
        Some(attributes) => attributes.give(file.as_fd(), mode_of(mode)),
        None => fchmod(file, mode_of(mode)),
    }
    .map_err(failed)?;
    written.and_then(|()| file.sync_all()).map_err(|source| Error::Io {
        action: "write",
        path: path.clone(),
        source,
    })?;
    temporary.publish(name, Existing::Refuse).map_err(failed)?;
    flush(&parent, path)
}

fn remove(workdir: &Workdir, path: &WorkdirPath, now: &PathState) -> Result<bool, Error> {
    match now {
        PathState::Absent => Ok(false),
        PathState::Directory { .. } => match workdir.remove_dir(path) {
            Ok(()) => Ok(false),
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(true),
            // Some systems say so.
            Err(Error::Exists { .. }) => Ok(true),
            Err(error) => Err(error),
        },
        _ => workdir.remove_file(path).map(|()| false),
    }
}

fn make_directory(workdir: &Workdir, path: &WorkdirPath, mode: Option<u32>) -> Result<(), Error> {
    let (parent, name) = place(workdir, path)?;
    let failed = |errno| Error::of("create", path, errno);
    mkdirat(&parent, name, Mode::from_raw_mode(0o777)).map_err(failed)?;
    mode.map_or(Ok(()), |mode| workdir.set_mode(path, mode))?;
    flush(&parent, path)
}

fn place<'p, 'w>(
    workdir: &'w Workdir,
    path: &'p WorkdirPath,
) -> Result<(DirectoryHandle<'w>, &'p str), Error> {
    workdir.roots.check_writable(path)?;
    let name = path.file_name().ok_or(Error::IsRoot { action: "replace" })?;
    Ok((workdir.parent(path, "create")?, name))
}

fn mode_of(bits: u32) -> Mode {
    Mode::from_bits_truncate(RawMode::try_from(u64::from(bits)).unwrap_or_default())
}

impl Workdir {
    /// Gives a file or a directory exactly these permissions.
    pub(super) fn set_mode(&self, path: &WorkdirPath, mode: u32) -> Result<(), Error> {
        self.give(path, |entry| fchmod(entry, mode_of(mode)))
    }

    /// Opens a file or a directory to change what it has beside its content.
    fn give(
        &self,
        path: &WorkdirPath,
        give: impl FnOnce(BorrowedFd<'_>) -> Result<(), Errno>,
    ) -> Result<(), Error> {
        let failed = |errno| Error::of("change the mode of", path, errno);
        let (parent, name) = place(self, path)?;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = match openat(&parent, name, flags | OFlags::RDONLY, Mode::empty()) {
            // One that may be written, but not read.
            Err(Errno::ACCESS) => openat(&parent, name, flags | OFlags::WRONLY, Mode::empty()),
            opened => opened,
        };
        give(opened.map_err(failed)?.as_fd()).map_err(failed)
    }
}
