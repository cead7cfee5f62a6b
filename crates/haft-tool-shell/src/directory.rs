use haft_core::{ToolError, ToolErrorKind};
use haft_workdir::{EntryKind, Error, ResolveError, Workdir, WorkdirPath};

/// Resolves the directory a script is to run in, which has to exist.
pub(crate) fn resolve(workdir: &Workdir, directory: &str) -> Result<WorkdirPath, ToolError> {
    let path = workdir.resolve(directory).map_err(|error| unusable(error.into()))?;
    match workdir.kind(&path) {
        Ok(EntryKind::Directory) => Ok(path),
        Ok(_) => Err(unusable(Error::NotADirectory { path })),
        Err(error @ Error::NotFound { .. }) => Err(missing(workdir, &path, error)),
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

/// Names the directories that may have been meant; their names can hold anything, so they are escaped.
fn missing(workdir: &Workdir, path: &WorkdirPath, error: Error) -> ToolError {
    let near = workdir.near_names(path).into_iter();
    let directories = near.filter(|near| workdir.kind(near).is_ok_and(|kind| kind == EntryKind::Directory));
    let directories: Vec<String> =
        directories.map(|near| format!("`{}`", near.as_str().escape_debug())).collect();
    let text = if directories.is_empty() {
        error.model_text()
    } else {
        format!("there is no such `directory`; did you mean {}?", directories.join(" or "))
    };
    ToolError::not_found(text).with_source(error)
}
