use crate::hints::Hints;
use crate::words::{Shown, joined};
use haft_core::{ToolError, ToolErrorKind};
use haft_workdir::{Error, ResolveError, RootAccess, Workdir, WorkdirPath};
use std::io;

/// Resolves a path that a model gave.
pub(crate) fn resolve(workdir: &Workdir, path: &str) -> Result<WorkdirPath, ToolError> {
    workdir.resolve(path).map_err(|error| {
        let kind = match &error {
            ResolveError::Outside { .. } | ResolveError::LinkOutside { .. } => ToolErrorKind::Denied,
            ResolveError::DanglingLink { .. } => ToolErrorKind::NotFound,
            ResolveError::Lookup { .. } => ToolErrorKind::Failed,
            _ => ToolErrorKind::InvalidInput,
        };
        ToolError::new(kind, error.model_text()).with_source(error)
    })
}

/// Resolves a path that a model gave for something to be changed there.
///
/// Nobody is asked about what will be refused anyway.
pub(crate) fn resolve_writable(workdir: &Workdir, path: &str) -> Result<WorkdirPath, ToolError> {
    let path = resolve(workdir, path)?;
    writable(workdir, &path)?;
    Ok(path)
}

/// Refuses a place at which nothing may be changed.
pub(crate) fn writable(workdir: &Workdir, path: &WorkdirPath) -> Result<(), ToolError> {
    match workdir.access(path) {
        RootAccess::ReadWrite => Ok(()),
        RootAccess::ReadOnly => Err(failure(Error::ReadOnly { path: path.clone() })),
    }
}

/// Turns an error of the working directory into one that a model can act on.
pub(crate) fn failure(error: Error) -> ToolError {
    let kind = match &error {
        Error::Changed { .. } | Error::Differs { .. } | Error::Busy { .. } => {
            return ToolError::retry(error.model_text()).with_source(error);
        }
        Error::NotFound { .. } | Error::ParentMissing { .. } => ToolErrorKind::NotFound,
        Error::ReadOnly { .. } => ToolErrorKind::Denied,
        Error::Resolve(_)
        | Error::IsADirectory { .. }
        | Error::NotADirectory { .. }
        | Error::NotRegular { .. }
        | Error::Exists { .. }
        | Error::TooLarge { .. }
        | Error::IsRoot { .. }
        | Error::HoldsRoot { .. } => ToolErrorKind::InvalidInput,
        Error::RootMissing { .. }
        | Error::RootNotADirectory { .. }
        | Error::RootUnopened { .. }
        | Error::RootMoved { .. } => ToolErrorKind::Unavailable,
        _ => ToolErrorKind::Failed,
    };
    ToolError::new(kind, error.model_text()).with_source(error)
}

/// Turns an error of the working directory into one that names what may have been meant, as far as that is declared.
pub(crate) fn failure_near(workdir: &Workdir, hints: &Hints, error: Error) -> ToolError {
    let Error::NotFound { path } = &error else {
        return failure(error);
    };
    let near = hints.near(workdir, path);
    if near.is_empty() {
        return failure(error);
    }
    let near: Vec<String> = near.iter().map(|near| format!("`{}`", Shown::new(near.as_str()))).collect();
    let text =
        format!("`{}` does not exist; did you mean {}?", Shown::new(path.as_str()), joined(&near, "or"));
    ToolError::not_found(text).with_source(error)
}

/// Says of which file an error is, unless it begins with that itself.
pub(crate) fn of_file(path: &WorkdirPath, error: &ToolError) -> String {
    let (path, message) = (Shown::new(path.as_str()), error.message());
    if message.starts_with(&format!("`{path}` ")) { message.to_owned() } else { format!("{path}: {message}") }
}

/// Tells whether something was not moved because its new place is on another file system.
pub(crate) fn crosses_devices(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::CrossesDevices)
}
