use std::io;

use crate::shown::Shown;

/// Why a model-given path was not resolved.
///
/// `Display` is for the host; [`model_text`](Self::model_text) is for the model. Both name the path as it was given
/// (at most 200 characters of it). Links and files on the way are named relative to the root.
///
/// ```
/// use haft_workdir::{ResolveError, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// let error = workdir.resolve("../secret").unwrap_err();
/// assert!(matches!(error, ResolveError::Outside { .. }));
/// assert_eq!(error.to_string(), "path `../secret` is outside the working directory");
/// assert_eq!(
///     error.model_text(),
///     "the path `../secret` is outside the working directory; use a path inside it, such as `src/main.rs`",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The path leaves the root by `..`, or is absolute and not below the root.
    #[error("path `{}` is outside the working directory", Shown::new(path))]
    Outside {
        /// The path as given.
        path: String,
    },
    /// The path passes through a symbolic link that leads out of the root.
    #[error(
        "path `{}` leaves the working directory through the symbolic link `{}`",
        Shown::new(path),
        Shown::new(link)
    )]
    LinkOutside {
        /// The path as given.
        path: String,
        /// The link, relative to the root.
        link: String,
    },
    /// The path passes through a symbolic link whose target does not exist.
    #[error("path `{}` passes through the dangling symbolic link `{}`", Shown::new(path), Shown::new(link))]
    DanglingLink {
        /// The path as given.
        path: String,
        /// The link, relative to the root.
        link: String,
    },
    /// The path passes through symbolic links that lead back to themselves, or through more than 40 of them.
    #[error(
        "path `{}` passes through too many symbolic links, the first is `{}`",
        Shown::new(path),
        Shown::new(link)
    )]
    LinkLoop {
        /// The path as given.
        path: String,
        /// The first link of the loop, relative to the root.
        link: String,
    },
    /// A symbolic link leads to a name that is not UTF-8, which no path here can name.
    #[error(
        "path `{}` leads to a name that is not UTF-8 through the symbolic link `{}`",
        Shown::new(path),
        Shown::new(link)
    )]
    NotUnicode {
        /// The path as given.
        path: String,
        /// The link, relative to the root.
        link: String,
    },
    /// The path goes through a file as if it were a directory.
    #[error("path `{}` uses `{}` as a directory, which it is not", Shown::new(path), Shown::new(file))]
    NotADirectory {
        /// The path as given.
        path: String,
        /// What is no directory, relative to the root.
        file: String,
    },
    /// The path uses `..` after a directory that does not exist.
    #[error("path `{}` uses `..` below `{}`, which does not exist", Shown::new(path), Shown::new(missing))]
    ParentOfMissing {
        /// The path as given.
        path: String,
        /// The first directory that does not exist, relative to the root.
        missing: String,
    },
    /// The path has a NUL byte in it.
    #[error("path `{}` contains a NUL byte", Shown::new(path))]
    Nul {
        /// The path as given.
        path: String,
    },
    /// The path is longer than 4095 bytes, or a name in it longer than 255.
    #[error("path `{}` is too long", Shown::new(path))]
    TooLong {
        /// The path as given, shortened.
        path: String,
    },
    /// The file system refused the lookup.
    #[error("cannot look up `{}`", Shown::new(path))]
    Lookup {
        /// The path as given.
        path: String,
        /// What the file system said.
        source: io::Error,
    },
}

impl ResolveError {
    /// Returns the text for the model: what is wrong and what to do next, without host paths.
    pub fn model_text(&self) -> String {
        match self {
            Self::Outside { path } => format!(
                "the path `{}` is outside the working directory; use a path inside it, such as `src/main.rs`",
                Shown::new(path)
            ),
            Self::LinkOutside { path, link } => format!(
                "the path `{}` goes through the symbolic link `{}`, which leads out of the working directory; \
                 use a path inside it that does not go through this link",
                Shown::new(path),
                Shown::new(link)
            ),
            Self::DanglingLink { path, link } => format!(
                "the path `{}` goes through the symbolic link `{}`, whose target does not exist; \
                 use the path of an existing file, or the path the link should lead to",
                Shown::new(path),
                Shown::new(link)
            ),
            Self::LinkLoop { path, link } => format!(
                "the path `{}` goes through the symbolic link `{}`, which leads back to itself or \
                 through too many others; use a path that does not go through this link",
                Shown::new(path),
                Shown::new(link)
            ),
            Self::NotUnicode { path, link } => format!(
                "the path `{}` goes through the symbolic link `{}` to a name that is not UTF-8; use another path",
                Shown::new(path),
                Shown::new(link)
            ),
            Self::NotADirectory { path, file } => format!(
                "the path `{}` goes through `{}`, which is not a directory; use `{}` itself or another path",
                Shown::new(path),
                Shown::new(file),
                Shown::new(file)
            ),
            Self::ParentOfMissing { path, missing } => format!(
                "the path `{}` uses `..` below `{}`, which does not exist; write the path without `..`",
                Shown::new(path),
                Shown::new(missing)
            ),
            Self::Nul { path } => {
                format!("the path `{}` contains a NUL byte; write the path without it", Shown::new(path))
            }
            Self::TooLong { path } => format!(
                "the path `{}` is too long; use a path under 4096 bytes with names of at most 255 bytes",
                Shown::new(path)
            ),
            Self::Lookup { path, source } => {
                format!(
                    "the path `{}` cannot be looked up: {}; use another path",
                    Shown::new(path),
                    source.kind()
                )
            }
        }
    }
}
