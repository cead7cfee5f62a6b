use std::ffi::OsStr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, statat};
use rustix::io::Errno;

use crate::error::Error;
use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::platform;
use crate::workdir::Workdir;

/// One entry of a directory.
///
/// A file name is any bytes, but a model and a [`WorkdirPath`] can only name UTF-8. An entry with another name is
/// listed, with a replacement character for what is not UTF-8, and has no path: it can be seen but not opened.
///
/// ```
/// use haft_workdir::{EntryKind, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::create_dir(directory.path().join("src"))?;
/// # std::fs::write(directory.path().join("README.md"), "")?;
/// let entries = workdir.read_dir(&workdir.resolve(".")?)?;
/// let found: Vec<(&str, EntryKind)> = entries.iter().map(|entry| (entry.name(), entry.kind())).collect();
/// assert_eq!(found, [("README.md", EntryKind::File), ("src", EntryKind::Directory)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

/// The entries of a directory as the file system gives them, sorted by the bytes of their names.
#[derive(Debug, Default)]
pub(crate) struct RawListing {
    /// All names, each with a NUL byte behind it, which no name has: if the whole is UTF-8, each name is.
    names: Vec<u8>,
    entries: Vec<RawEntry>,
}

/// An entry of a [`RawListing`].
#[derive(Debug)]
pub(crate) struct RawEntry {
    /// Where its name is among all names.
    pub(crate) name: Range<usize>,
    pub(crate) kind: EntryKind,
}

impl RawListing {
    /// Reads the entries of an open directory, which was not read before.
    fn read(directory: BorrowedFd<'_>) -> Result<Self, Errno> {
        let mut listing = Self::default();
        platform::each_entry(directory, |name, file_type| {
            if matches!(name, b"." | b"..") {
                return Ok(());
            }
            let file_type = match file_type {
                // Some file systems do not say; an entry that is gone by now was not there.
                FileType::Unknown => {
                    match statat(directory, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                        Err(Errno::NOENT) => return Ok(()),
                        Err(errno) => return Err(errno),
                    }
                }
                known => known,
            };
            listing.push(name, EntryKind::from_file_type(file_type));
            Ok(())
        })?;
        let Self { names, entries } = &mut listing;
        entries.sort_unstable_by(|left, right| names[left.name.clone()].cmp(&names[right.name.clone()]));
        Ok(listing)
    }

    fn push(&mut self, name: &[u8], kind: EntryKind) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        self.entries.push(RawEntry { name: start..self.names.len(), kind });
        self.names.push(0);
    }

    /// Yields the entries by their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], EntryKind)> {
        self.entries.iter().map(|entry| (&self.names[entry.name.clone()], entry.kind))
    }

    /// Tells what the entry of this name is; nothing where there is none.
    pub(crate) fn kind(&self, name: &str) -> Option<EntryKind> {
        let compare = |entry: &RawEntry| self.names[entry.name.clone()].cmp(name.as_bytes());
        self.entries.binary_search_by(compare).ok().map(|at| self.entries[at].kind)
    }

    /// Gives the text in which the names are and the entries, without those whose name is not UTF-8, and the number of these.
    pub(crate) fn into_unicode(self) -> (String, Vec<RawEntry>, u64) {
        let Self { names, entries } = self;
        let names = match String::from_utf8(names) {
            Ok(text) => return (text, entries, 0),
            Err(error) => error.into_bytes(),
        };
        let (mut text, mut kept, mut left_out) = (String::new(), Vec::new(), 0);
        for entry in entries {
            let Ok(name) = std::str::from_utf8(&names[entry.name]) else {
                left_out += 1;
                continue;
            };
            let start = text.len();
            text.push_str(name);
            kept.push(RawEntry { name: start..text.len(), kind: entry.kind });
        }
        (text, kept, left_out)
    }
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
        let listing = self.list(path)?;
        Ok(listing
            .iter()
            .map(|(name, kind)| match std::str::from_utf8(name) {
                Ok(name) => DirEntry { path: Some(path.child(name)), name: name.to_owned(), kind },
                Err(_) => DirEntry { name: String::from_utf8_lossy(name).into_owned(), path: None, kind },
            })
            .collect())
    }

    /// Lists a directory as [`Workdir::read_dir`] does, with the names as they are.
    pub(crate) fn list(&self, path: &WorkdirPath) -> Result<RawListing, Error> {
        self.list_open(path).map(|(listing, _)| listing)
    }

    /// Lists a directory and keeps it open, for what is looked up in it next.
    pub(crate) fn list_open(&self, path: &WorkdirPath) -> Result<(RawListing, OwnedFd), Error> {
        let failed = |errno| Error::of("list", path, errno);
        let (handle, below) = self.roots.locate(path);
        let opened = handle.listable(below).map_err(failed)?;
        Ok((RawListing::read(opened.as_fd()).map_err(failed)?, opened))
    }
}
