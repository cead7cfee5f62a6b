use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use crate::error::Error;
use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::workdir::Workdir;

/// One entry of a directory.
///
/// A file name is any bytes, but a model and a [`WorkdirPath`] can only name UTF-8. An entry with another name is
/// listed, with a replacement character for what is not UTF-8, and has no path: it can be seen but not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    name: String,
    path: Option<WorkdirPath>,
    kind: EntryKind,
}

impl DirEntry {
    /// Returns the name to show, lossy where it is not UTF-8.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path of the entry, nothing where its name is not UTF-8.
    ///
    /// Of a symbolic link it is the path of the link, which operations refuse; to follow it,
    /// [resolve](Workdir::resolve) its text.
    pub fn path(&self) -> Option<&WorkdirPath> {
        self.path.as_ref()
    }

    /// Returns what the entry is. Links are not followed.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }
}

/// An entry as the file system gives it.
#[derive(Debug)]
pub(crate) struct RawEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: EntryKind,
}

impl Workdir {
    /// Lists a directory, sorted by the bytes of the names.
    ///
    /// The whole listing is held in memory.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::NotADirectory`]; [`Error::Changed`] when the path is or passes through a symbolic
    /// link; [`Error::Io`].
    pub fn read_dir(&self, path: &WorkdirPath) -> Result<Vec<DirEntry>, Error> {
        let entries = self.list(path)?.into_iter();
        Ok(entries
            .map(|RawEntry { name, kind }| match String::from_utf8(name) {
                Ok(name) => DirEntry { path: Some(path.child(&name)), name, kind },
                Err(error) => DirEntry {
                    name: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                    path: None,
                    kind,
                },
            })
            .collect())
    }

    /// Lists a directory as [`Workdir::read_dir`] does, with the names as they are.
    pub(crate) fn list(&self, path: &WorkdirPath) -> Result<Vec<RawEntry>, Error> {
        let failed = |errno| Error::of("list", path, errno);
        read_entries(self.listable(path).map_err(failed)?).map_err(failed)
    }

    /// Lists a directory and keeps it open, for what is looked up in it next.
    pub(crate) fn list_open(&self, path: &WorkdirPath) -> Result<(Vec<RawEntry>, OwnedFd), Error> {
        let failed = |errno| Error::of("list", path, errno);
        let handle = self.listable(path).map_err(failed)?;
        let kept = fcntl_dupfd_cloexec(&handle, 0).map_err(failed)?;
        Ok((read_entries(handle).map_err(failed)?, kept))
    }

    fn listable(&self, path: &WorkdirPath) -> Result<OwnedFd, Errno> {
        let (handle, below) = self.roots.locate(path);
        handle.listable(below)
    }
}

fn read_entries(handle: OwnedFd) -> Result<Vec<RawEntry>, Errno> {
    let mut directory = Dir::new(handle)?;
    let mut entries = Vec::new();
    while let Some(entry) = directory.read() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let file_type = match entry.file_type() {
            // Some file systems do not say; an entry that is gone by now was not there.
            FileType::Unknown => {
                match statat(directory.fd()?, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(errno),
                }
            }
            known => known,
        };
        entries.push(RawEntry { name: name.to_vec(), kind: EntryKind::from_file_type(file_type) });
    }
    entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
    Ok(entries)
}
