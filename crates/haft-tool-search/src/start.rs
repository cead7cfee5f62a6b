use crate::wording::{Quoted, either};
use haft_core::{ToolError, ToolErrorKind};
use haft_tools_core::{Access, Resource, Scheme};
use haft_workdir::{EntryKind, Error, ResolveError, Workdir, WorkdirPath};

/// The scheme under which files of the working directory are declared.
const FILE: Scheme = Scheme::new("file");

/// Where a search starts, as it was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// One file.
    File(WorkdirPath),
    /// A directory and everything below it.
    Directory(WorkdirPath),
}

impl Start {
    /// Resolves a model-given path, which must exist.
    pub(crate) fn resolve(workdir: &Workdir, given: &str) -> Result<Self, ToolError> {
        let path = workdir.resolve(given).map_err(|error| refused(workdir, error.into()))?;
        match workdir.kind(&path).map_err(|error| refused(workdir, error))? {
            EntryKind::File => Ok(Self::File(path)),
            EntryKind::Directory => Ok(Self::Directory(path)),
            kind => Err(ToolError::invalid_input(format!(
                "{} is a {kind}; use the path of a file or directory",
                Quoted(path.as_str())
            ))),
        }
    }

    pub(crate) fn path(&self) -> &WorkdirPath {
        match self {
            Self::File(path) | Self::Directory(path) => path,
        }
    }

    /// Declares what a search from here reads.
    pub(crate) fn access(&self) -> Access {
        Access::read(match self {
            Self::File(path) => Resource::exact(FILE, path.as_str()),
            Self::Directory(path) if path.is_root() => Resource::subtree(FILE, ""),
            Self::Directory(path) => Resource::subtree(FILE, path.as_str()),
        })
    }
}

/// Says to the model why a place cannot be searched, with near paths where it does not exist.
pub(crate) fn refused(workdir: &Workdir, error: Error) -> ToolError {
    let text = match &error {
        Error::NotFound { path } => match workdir.near_names(path).as_slice() {
            [] => error.model_text(),
            near => format!(
                "{} does not exist; did you mean {}?",
                Quoted(path.as_str()),
                either(near.iter().map(WorkdirPath::as_str))
            ),
        },
        _ => error.model_text(),
    };
    let kind = match &error {
        Error::Resolve(ResolveError::Outside { .. } | ResolveError::LinkOutside { .. }) => {
            ToolErrorKind::Denied
        }
        Error::Resolve(ResolveError::DanglingLink { .. }) | Error::NotFound { .. } => ToolErrorKind::NotFound,
        Error::Changed { .. } => return ToolError::retry(text).with_source(error),
        Error::Resolve(ResolveError::Lookup { .. }) | Error::Io { .. } => ToolErrorKind::Failed,
        _ => ToolErrorKind::InvalidInput,
    };
    ToolError::new(kind, text).with_source(error)
}
