use rustix::fs::{AtFlags, Mode, OFlags, fchmod, fstat, openat, unlinkat};

use crate::error::Error;
use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::workdir::Workdir;
use crate::write::flush;

const READ: Mode = Mode::RUSR.union(Mode::RGRP).union(Mode::ROTH);
const EXECUTE: Mode = Mode::XUSR.union(Mode::XGRP).union(Mode::XOTH);

impl Workdir {
    /// Lets whoever may read a file execute it, or lets nobody.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::IsADirectory`]; [`Error::NotRegular`]; [`Error::Changed`] when the path is or passes
    /// through a symbolic link; [`Error::ReadOnly`]; [`Error::Io`].
    pub fn set_executable(&self, path: &WorkdirPath, executable: bool) -> Result<(), Error> {
        let failed = |errno| Error::of("change the mode of", path, errno);
        let Some(name) = path.file_name() else {
            return Err(Error::IsADirectory { path: path.clone() });
        };
        self.roots.check_writable(path)?;
        let parent = self.parent(path, "change the mode of")?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = openat(&parent, name, flags, Mode::empty()).map_err(failed)?;
        let stat = fstat(&opened).map_err(failed)?;
        match EntryKind::of(&stat) {
            EntryKind::File => {}
            kind => return Err(Error::not_a_file(path, kind)),
        }
        let mode = Mode::from_raw_mode(stat.st_mode) & Mode::from_raw_mode(0o777);
        // Each bit of execution is two below that of reading.
        let execute = Mode::from_raw_mode((mode & READ).as_raw_mode() >> 2);
        let mode = if executable { mode | execute } else { mode - EXECUTE };
        fchmod(&opened, mode).map_err(failed)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::NotADirectory`]; [`Error::IsRoot`] and [`Error::HoldsRoot`]; [`Error::ReadOnly`];
    /// [`Error::Changed`] when the path passes through a symbolic link; [`Error::Io`], also when it is not empty;
    /// [`Error::Unflushed`] once it is gone and may be back after a crash.
    pub fn remove_dir(&self, path: &WorkdirPath) -> Result<(), Error> {
        let Some(name) = path.file_name() else {
            return Err(Error::IsRoot { action: "remove" });
        };
        self.roots.check_movable(path, "remove")?;
        let parent = self.parent(path, "remove")?;
        unlinkat(&parent, name, AtFlags::REMOVEDIR).map_err(|errno| Error::of("remove", path, errno))?;
        flush(&parent, path)
    }
}
