//! What is at a path, in the form in which it is recorded.

use super::digest::ContentDigest;
use super::file_attributes::FileAttributes;
use super::record::PathState;
use crate::error::Error;
use crate::metadata::{EntryKind, mode_of};
use crate::path::WorkdirPath;
use crate::workdir::Workdir;
use rustix::fs::{AtFlags, fstat, readlinkat, statat};
use rustix::io::Errno;
use std::io::Read as _;
use std::os::fd::AsFd as _;

/// The permissions that are kept and put back, those for special ways to execute among them.
const PERMISSIONS: u32 = 0o7777;

/// Looks at a place; the content of a file of more than `limit` bytes is not read.
///
/// A place that cannot be there, because something above it is no directory, has nothing.
pub(crate) fn state_at(workdir: &Workdir, path: &WorkdirPath, limit: u64) -> Result<PathState, Error> {
    let failed = |errno| Error::of("look up", path, errno);
    let Some(name) = path.file_name() else { return Ok(PathState::Directory { mode: None }) };
    let parent = match workdir.parent(path, "look up") {
        Ok(parent) => parent,
        Err(Error::NotFound { .. } | Error::NotADirectory { .. }) => return Ok(PathState::Absent),
        Err(error) => return Err(error),
    };
    let stat = match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(PathState::Absent),
        Err(errno) => return Err(failed(errno)),
    };
    let mode = Some(mode_of(&stat) & PERMISSIONS);
    Ok(match EntryKind::of(&stat) {
        EntryKind::Directory => PathState::Directory { mode },
        EntryKind::Symlink => {
            let target = readlinkat(&parent, name, Vec::new()).map_err(failed)?;
            match target.into_string() {
                Ok(target) => PathState::Link { target },
                Err(_) => PathState::Other,
            }
        }
        EntryKind::File => file(workdir, path, limit)?,
        EntryKind::Other(_) => PathState::Other,
    })
}

fn file(workdir: &Workdir, path: &WorkdirPath, limit: u64) -> Result<PathState, Error> {
    let failed = |source| Error::Io { action: "read", path: path.clone(), source };
    let file = workdir.open_file(path)?;
    let stat = fstat(&file).map_err(|errno| Error::of("look up", path, errno))?;
    let mode = Some(mode_of(&stat) & PERMISSIONS);
    let bytes = u64::try_from(stat.st_size).unwrap_or(0);
    if bytes > limit {
        return Ok(PathState::File { digest: None, bytes, mode, attributes: None });
    }
    let (digest, read) = ContentDigest::of_reader(file.take(limit.saturating_add(1))).map_err(failed)?;
    let digest = (read <= limit).then_some(digest);
    Ok(PathState::File { digest, bytes: read, mode, attributes: None })
}

/// Looks at what a file has beside its content and permissions.
pub(super) fn attributes_at(workdir: &Workdir, path: &WorkdirPath) -> Option<FileAttributes> {
    if let Ok(file) = workdir.open_file(path) {
        return Some(FileAttributes::of(&fstat(&file).ok()?, Some(file.as_fd())));
    }
    // It may be there, but not to be read.
    let parent = workdir.parent(path, "look up").ok()?;
    let stat = statat(&parent, path.file_name()?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileAttributes::of(&stat, None))
}
