use haft_core::{ToolError, ToolErrorKind};
use haft_workdir::{EntryKind, Error, ResolveError, Workdir, WorkdirPath};

/// Resolves the directory a script is to run in, which has to exist.
///
/// A refusal does not say what exists instead: nobody has permitted to read that yet.
pub(crate) fn resolve(workdir: &Workdir, directory: &str) -> Result<WorkdirPath, ToolError> {
    let path = workdir.resolve(directory).map_err(|error| unusable(error.into()))?;
    match workdir.kind(&path) {
        Ok(EntryKind::Directory) => Ok(path),
        Ok(_) => Err(unusable(Error::NotADirectory { path })),
        Err(error) => Err(unusable(error)),
    }
}

/// Tells the model why it cannot have a directory.
pub(crate) fn unusable(error: Error) -> ToolError {
    let kind = match &error {
        Error::Resolve(ResolveError::Outside { .. } | ResolveError::LinkOutside { .. }) => {
            ToolErrorKind::Denied
        }
        Error::Resolve(ResolveError::DanglingLink { .. }) | Error::NotFound { .. } => ToolErrorKind::NotFound,
        Error::Resolve(ResolveError::Lookup { .. }) | Error::Io { .. } => ToolErrorKind::Failed,
        Error::Changed { .. } => return ToolError::retry(error.model_text()).with_source(error),
        Error::RootMoved { .. } => ToolErrorKind::Unavailable,
        _ => ToolErrorKind::InvalidInput,
    };
    ToolError::new(kind, error.model_text()).with_source(error)
}
