use crate::DatabaseError;
use std::io;
use std::path::PathBuf;

/// Says why a database cannot be opened; the file is as it was.
///
/// ```
/// use haft_store::{OpenError, SqliteStore};
///
/// # let directory = tempfile::tempdir()?;
/// let error = SqliteStore::open(directory.path()).unwrap_err();
/// assert!(matches!(error, OpenError::NotAFile { found: "a directory", .. }));
///
/// let error = SqliteStore::open(directory.path().join("missing/haft.db")).unwrap_err();
/// assert!(error.to_string().ends_with("because its directory cannot be used; make the directory first"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Its directory is not there.
    #[error("cannot open the database `{}`, because its directory cannot be used; make the directory first", .path.display())]
    Directory {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is a symbolic link, a directory, or something else that is not a regular file.
    #[error("cannot open the database `{}`, because it is {found}, not a regular file; name the file itself", .path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
        /// What it is, as in `a symbolic link`.
        found: &'static str,
    },
    /// The file cannot be made or looked at.
    #[error("cannot open the database `{}`", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is the database of another application.
    #[error("cannot open the database `{}`, because it belongs to another application; name another file", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this program wrote the file.
    #[error(
        "cannot open the database `{}`, because it has version {found} of its form, and this program knows versions up to \
         {known}; use the newer program, or name another file",
        .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version it has.
        found: u32,
        /// The newest version that is known here.
        known: u32,
    },
    /// The file system cannot hold a database that several processes use, as network file systems cannot.
    #[error(
        "cannot open the database `{}`, because its file system cannot share memory between processes (journal mode \
         {mode}); name a file on a local disk",
        .path.display()
    )]
    FileSystem {
        /// The file.
        path: PathBuf,
        /// The journal mode that SQLite kept instead of `wal`.
        mode: String,
    },
    /// The database failed while it was opened.
    #[error("cannot open the database `{}`", .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// Why.
        source: DatabaseError,
    },
}
