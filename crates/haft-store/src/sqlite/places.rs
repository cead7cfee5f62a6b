use super::SqliteStore;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// What the name of the directory ends with in which runs are locked.
pub(super) const LOCKS: &str = "-locks";

/// What the names of the files end with that SQLite puts beside a database.
pub(super) const LOGS: [&str; 2] = ["-wal", "-shm"];

/// What the name of the file ends with in which SQLite keeps what it undoes, before it writes ahead.
const JOURNAL: &str = "-journal";

impl SqliteStore {
    /// Names the places that the database of this path takes: its file, those that SQLite puts beside it, and the
    /// directory in which runs are locked.
    ///
    /// None of them need be there. Whoever writes there decides what is allowed, so a host protects all of them, and all that
    /// is below them.
    ///
    /// ```
    /// use haft_store::SqliteStore;
    ///
    /// let places = SqliteStore::places("/var/lib/haft.db");
    /// assert!(places.iter().any(|place| place.ends_with("haft.db-wal")));
    /// ```
    pub fn places(path: impl AsRef<Path>) -> Vec<PathBuf> {
        let path = path.as_ref();
        ["", JOURNAL, LOCKS].into_iter().chain(LOGS).map(|end| beside(path, end)).collect()
    }
}

/// Names what lies beside a database, under its name with something added to it.
pub(super) fn beside(database: &Path, end: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Lets nobody but the owner read a file that is made, and follows no link.
#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
}

/// Leaves it to the directory who may read a file that is made.
#[cfg(not(unix))]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
