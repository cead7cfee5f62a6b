use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::changes::ChangeJournalError;
use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::resolve_error::ResolveError;
use crate::shown::Shown;

/// Why opening a root or working with a path in it failed.
///
/// `Display` is for the host; [`model_text`](Self::model_text) is for the model.
///
/// ```
/// use haft_workdir::{Error, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// let error = workdir.read(&workdir.resolve("notes.txt")?, 1024).unwrap_err();
/// assert!(matches!(error, Error::NotFound { .. }));
/// assert_eq!(error.to_string(), "`notes.txt` does not exist");
/// assert_eq!(
///     error.model_text(),
///     "`notes.txt` does not exist; list its directory or search for the name, then use the path you find",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory to be opened as the root does not exist.
    #[error("working directory `{}` does not exist; create it or name another", path.display())]
    RootMissing {
        /// The directory as given.
        path: PathBuf,
    },
    /// What is to be opened as the root is not a directory.
    #[error("`{}` is not a directory; name the directory to work in", path.display())]
    RootNotADirectory {
        /// The path as given.
        path: PathBuf,
    },
    /// The directory to be opened as the root cannot be opened.
    #[error("cannot open working directory `{}`; check its permissions or name another", path.display())]
    RootUnopened {
        /// The directory as given.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// The root was moved or replaced on the host after it was opened.
    #[error("working directory `{}` is no longer what was opened; open it again", path.display())]
    RootMoved {
        /// The host path where it was.
        path: PathBuf,
    },
    /// The path was not resolved.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// Nothing is there.
    #[error("`{}` does not exist", Shown::new(path.as_str()))]
    NotFound {
        /// What does not exist.
        path: WorkdirPath,
    },
    /// The directory that something was to be put into does not exist.
    #[error("cannot create `{}`: its directory does not exist", Shown::new(path.as_str()))]
    ParentMissing {
        /// What was to be created.
        path: WorkdirPath,
    },
    /// A directory is where a file is due.
    #[error("`{}` is a directory, not a file", Shown::new(path.as_str()))]
    IsADirectory {
        /// The directory.
        path: WorkdirPath,
    },
    /// Something else is where a directory is due.
    #[error("`{}` is not a directory", Shown::new(path.as_str()))]
    NotADirectory {
        /// What should be a directory: the path that was used, or the one above it.
        path: WorkdirPath,
    },
    /// The entry is no regular file: a named pipe, a socket or a device.
    #[error("`{}` is a {kind}, not a regular file", Shown::new(path.as_str()))]
    NotRegular {
        /// The entry.
        path: WorkdirPath,
        /// What it is.
        kind: EntryKind,
    },
    /// Something is there already and must not be replaced.
    #[error("`{}` already exists", Shown::new(path.as_str()))]
    Exists {
        /// What exists.
        path: WorkdirPath,
    },
    /// A symbolic link is in the way that was not there when the path was resolved.
    #[error("`{}` changed since it was resolved: a part of it is a symbolic link", Shown::new(path.as_str()))]
    Changed {
        /// The path that was used.
        path: WorkdirPath,
    },
    /// What is there is not what the caller expected.
    #[error("`{}` is not as it was expected to be", Shown::new(path.as_str()))]
    Differs {
        /// Where it is.
        path: WorkdirPath,
    },
    /// Another process has locked the file, or its directory, for ten seconds.
    #[error("`{}` is locked by another process", Shown::new(path.as_str()))]
    Busy {
        /// What was to be changed.
        path: WorkdirPath,
    },
    /// The file holds more than the caller wants to read.
    #[error("`{}` is larger than {limit} bytes", Shown::new(path.as_str()))]
    TooLarge {
        /// The file.
        path: WorkdirPath,
        /// The limit in bytes.
        limit: u64,
    },
    /// The path is in a root that is for reading.
    #[error("`{}` is in a directory that is for reading only", Shown::new(path.as_str()))]
    ReadOnly {
        /// What was to be changed.
        path: WorkdirPath,
    },
    /// The operation would remove or move a directory that is a root itself or that holds one.
    #[error("cannot {action} `{}`: it is or holds a root", Shown::new(path.as_str()))]
    HoldsRoot {
        /// What was attempted, as a verb.
        action: &'static str,
        /// On what.
        path: WorkdirPath,
    },
    /// The operation would remove or move the root itself.
    #[error("cannot {action} the working directory itself")]
    IsRoot {
        /// What was attempted, as a verb.
        action: &'static str,
    },
    /// What is at a path was changed, but the file system could not promise that this outlives a crash.
    #[error("changed `{}` but cannot flush its directory", Shown::new(path.as_str()))]
    Unflushed {
        /// The path, at which everything is as it was to be.
        path: WorkdirPath,
        /// What the file system said.
        source: io::Error,
    },
    /// A change cannot be recorded, so it was not made.
    #[error("cannot record a change, so it was not made")]
    Unrecorded {
        /// What the journal said.
        source: ChangeJournalError,
    },
    /// The file system refused.
    #[error("cannot {action} `{}`", Shown::new(path.as_str()))]
    Io {
        /// What was attempted, as a verb.
        action: &'static str,
        /// On what.
        path: WorkdirPath,
        /// What the file system said.
        source: io::Error,
    },
}

impl Error {
    /// Returns the text for the model: what is wrong and what to do next, without host paths.
    ///
    /// For [`Error::NotFound`], a tool adds the paths of [`Workdir::near_names`](crate::Workdir::near_names).
    pub fn model_text(&self) -> String {
        match self {
            Self::RootMissing { .. }
            | Self::RootNotADirectory { .. }
            | Self::RootUnopened { .. }
            | Self::RootMoved { .. } => {
                "the working directory is not available; ask the user to check that it is still there"
                    .to_owned()
            }
            Self::Resolve(error) => error.model_text(),
            Self::NotFound { path } => format!(
                "`{}` does not exist; list its directory or search for the name, then use the path you find",
                Shown::new(path.as_str())
            ),
            Self::ParentMissing { path } => format!(
                "`{}` cannot be created because its directory does not exist; \
                 create the directory first or use an existing one",
                Shown::new(path.as_str())
            ),
            Self::IsADirectory { path } => format!(
                "`{}` is a directory, not a file; list it, or use the path of a file",
                Shown::new(path.as_str())
            ),
            Self::NotADirectory { path } => format!(
                "`{}` is not a directory; list the directory above it to see what is there",
                Shown::new(path.as_str())
            ),
            Self::NotRegular { path, kind } => format!(
                "`{}` is a {kind}, not a regular file; use the path of a regular file",
                Shown::new(path.as_str())
            ),
            Self::Exists { path } => {
                format!(
                    "`{}` already exists; use another path, or replace it on purpose",
                    Shown::new(path.as_str())
                )
            }
            Self::Changed { path } => format!(
                "`{}` changed while it was being used: a part of it is now a symbolic link; \
                 repeat the call to use what is there now",
                Shown::new(path.as_str())
            ),
            Self::Differs { path } => format!(
                "`{}` is not what it was a moment ago; look at it again, then repeat the call",
                Shown::new(path.as_str())
            ),
            Self::Busy { path } => format!(
                "`{}` was not changed: another process has been changing files in its directory for ten seconds; \
                 try again later",
                Shown::new(path.as_str())
            ),
            Self::TooLarge { path, limit } => {
                format!("`{}` is larger than {limit} bytes; use only a part of it", Shown::new(path.as_str()))
            }
            Self::ReadOnly { path } => format!(
                "`{}` is in a directory that is for reading only; write somewhere else, or ask the user to do it",
                Shown::new(path.as_str())
            ),
            Self::HoldsRoot { action, path } => format!(
                "you cannot {action} `{}`, because it is or holds a directory that the user named; use a path inside it",
                Shown::new(path.as_str())
            ),
            Self::IsRoot { action } => {
                format!("you cannot {action} the working directory itself; use a path inside it")
            }
            Self::Unflushed { path, .. } => format!(
                "`{}` was changed, but that may be lost if the machine stops now; look at it again to be sure",
                Shown::new(path.as_str())
            ),
            Self::Unrecorded { .. } => {
                "the change cannot be recorded, so nothing was changed; try once more, then ask the user to free some space"
                    .to_owned()
            }
            Self::Io { action, path, source } => {
                let next = match source.kind() {
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                        "use another path, or ask the user to change its permissions"
                    }
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                        "ask the user to free some space"
                    }
                    _ => "try once more, then use another path",
                };
                format!("cannot {action} `{}`: {}; {next}", Shown::new(path.as_str()), source.kind())
            }
        }
    }

    /// Gives an error number the meaning it has for an operation on `path`.
    pub(crate) fn of(action: &'static str, path: &WorkdirPath, errno: Errno) -> Self {
        let path = path.clone();
        match errno {
            Errno::NOENT => Self::NotFound { path },
            Errno::LOOP => Self::Changed { path },
            Errno::NOTDIR => Self::NotADirectory { path },
            Errno::ISDIR => Self::IsADirectory { path },
            Errno::EXIST => Self::Exists { path },
            other => Self::Io { action, path, source: other.into() },
        }
    }

    /// Says that `path` is a `kind` where a regular file is due.
    pub(crate) fn not_a_file(path: &WorkdirPath, kind: EntryKind) -> Self {
        let path = path.clone();
        match kind {
            EntryKind::Directory => Self::IsADirectory { path },
            EntryKind::Symlink => Self::Changed { path },
            EntryKind::File | EntryKind::Other(_) => Self::NotRegular { path, kind },
        }
    }
}
