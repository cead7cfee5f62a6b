use super::super::leases::{lock, make_directory};
use super::super::places::private;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// The file that is locked while what is unfinished is taken back.
const RECOVERY: &str = "recovery.lock";

/// Tells which processes are alive that have begun something, by a file that each has locked.
#[derive(Debug)]
pub(super) struct Sessions {
    directory: PathBuf,
    name: String,
    _file: File,
}

impl Sessions {
    /// Begins a session, which ends with this value or its process.
    pub(super) fn begin(directory: &Path) -> io::Result<Self> {
        make_directory(directory)?;
        loop {
            let random = RandomState::new().hash_one(std::process::id());
            let name = format!("changes-{}-{random:016x}.lock", std::process::id());
            if let Some(file) = lock(&directory.join(&name))? {
                return Ok(Self { directory: directory.to_owned(), name, _file: file });
            }
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Tells whether somebody has a session's file locked; removes the file if nobody has.
    pub(super) fn is_alive(&self, session: &str) -> io::Result<bool> {
        let path = self.directory.join(session);
        if session.contains('/') || !path.try_exists()? {
            return Ok(false);
        }
        match lock(&path)? {
            None => Ok(true),
            Some(_file) => {
                // While it is locked. If it stays, it is found so again.
                let _ = fs::remove_file(&path);
                Ok(false)
            }
        }
    }

    /// Waits until nobody else takes back what is unfinished.
    pub(super) fn lock_recovery(&self) -> io::Result<File> {
        let path = self.directory.join(RECOVERY);
        let file = private(OpenOptions::new().read(true).write(true).create(true)).open(path)?;
        file.lock()?;
        Ok(file)
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        // While it is locked. If it stays, whoever finds it removes it.
        let _ = fs::remove_file(self.directory.join(&self.name));
    }
}
