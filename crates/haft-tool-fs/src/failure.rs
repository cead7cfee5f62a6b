use crate::words::{Shown, joined};
use haft_core::{ToolError, ToolErrorKind};
use haft_workdir::{Error, ResolveError, Workdir, WorkdirPath};

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

/// Turns an error of the working directory into one that a model can act on.
///
/// What does not exist is answered with the names near it.
pub(crate) fn failure(workdir: &Workdir, error: Error) -> ToolError {
    let kind = match &error {
        Error::NotFound { path } => {
            return ToolError::not_found(missing(workdir, path, &error.model_text())).with_source(error);
        }
        Error::Changed { .. } => return ToolError::retry(error.model_text()).with_source(error),
        Error::ParentMissing { .. } => ToolErrorKind::NotFound,
        Error::Resolve(_)
        | Error::IsADirectory { .. }
        | Error::NotADirectory { .. }
        | Error::NotRegular { .. }
        | Error::Exists { .. }
        | Error::TooLarge { .. }
        | Error::IsRoot { .. } => ToolErrorKind::InvalidInput,
        Error::RootMissing { .. }
        | Error::RootNotADirectory { .. }
        | Error::RootUnopened { .. }
        | Error::RootMoved { .. } => ToolErrorKind::Unavailable,
        _ => ToolErrorKind::Failed,
    };
    ToolError::new(kind, error.model_text()).with_source(error)
}

fn missing(workdir: &Workdir, path: &WorkdirPath, otherwise: &str) -> String {
    let near: Vec<String> =
        workdir.near_names(path).iter().map(|near| format!("`{}`", Shown(near.as_str()))).collect();
    if near.is_empty() {
        return otherwise.to_owned();
    }
    format!("`{}` does not exist; did you mean {}?", Shown(path.as_str()), joined(&near, "or"))
}
