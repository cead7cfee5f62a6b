use super::record::PathState;

/// What must be in a file's place for it to be changed.
///
/// ```
/// use haft_workdir::{ChangeOrigin, Error, Expected, NewFile, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::write(directory.path().join("a.txt"), "two")?;
/// # let path = workdir.resolve("a.txt")?;
/// let mut set = workdir.change(ChangeOrigin::new("run-1".parse()?, "c1".parse()?));
/// // The file holds `two` by now.
/// let stale = set.write(&path, &NewFile::new(&[b"three"]), Expected::Holds(b"one"));
/// assert!(matches!(stale, Err(Error::Differs { .. })));
/// set.write(&path, &NewFile::new(&[b"three"]), Expected::Holds(b"two"))?;
/// set.finish()?;
/// assert_eq!(workdir.read(&path, 100)?, b"three");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub enum Expected<'b> {
    /// Nothing.
    Absent,
    /// A file of which the caller knows that it holds exactly these bytes.
    Holds(&'b [u8]),
    /// What is in this state; it is looked at once more.
    State(PathState),
    /// Nothing or a file, whatever is in it.
    Whatever,
}

/// Is what a file becomes.
///
/// ```
/// use haft_workdir::{ChangeOrigin, Expected, NewFile, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// let path = workdir.resolve("run.sh")?;
/// let script = NewFile::new(&[b"#!/bin/sh\n", b"echo done\n"]).executable(true);
/// let mut set = workdir.change(ChangeOrigin::new("run-1".parse()?, "c1".parse()?));
/// set.write(&path, &script, Expected::Absent)?;
/// set.finish()?;
/// assert_eq!(workdir.read(&path, 100)?, b"#!/bin/sh\necho done\n");
/// assert!(workdir.metadata(&path)?.is_executable());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'a> {
    pub(super) parts: &'a [&'a [u8]],
    pub(super) executable: Option<bool>,
    pub(super) permissions: Option<u32>,
    pub(super) is_shown: bool,
}

impl<'a> NewFile<'a> {
    /// Takes the parts of its content, one behind the other.
    pub fn new(parts: &'a [&'a [u8]]) -> Self {
        Self { parts, executable: None, permissions: None, is_shown: true }
    }

    /// Says whether whoever may read it may execute it; otherwise it stays as it is.
    pub fn executable(mut self, executable: impl Into<Option<bool>>) -> Self {
        self.executable = executable.into();
        self
    }

    /// Gives a file that is made these permissions, the nine bits of a mode; one that is there keeps its own.
    ///
    /// Nobody finds wider ones on the way, but for what the process keeps from all new files.
    pub fn permissions(mut self, mode: impl Into<Option<u32>>) -> Self {
        self.permissions = mode.into().map(|mode| mode & 0o777);
        self
    }

    /// Does not keep the new content to be shown later, since it is a copy.
    pub fn copied(mut self) -> Self {
        self.is_shown = false;
        self
    }
}

/// The permissions of a file that is written in the place of one with these.
pub(super) fn written_mode(mode: u32, executable: Option<bool>) -> u32 {
    let mode = mode & 0o777;
    match executable {
        None => mode,
        Some(false) => mode & !0o111,
        // Each bit of execution is two below that of reading.
        Some(true) => mode | (mode & 0o444) >> 2,
    }
}
