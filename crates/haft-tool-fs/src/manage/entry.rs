use crate::failure::{failure, resolve, writable};
use crate::words::Shown;
use haft_core::ToolError;
use haft_workdir::{Error, Workdir, WorkdirPath};

/// Resolves a path to the entry that it names, which is a symbolic link itself and not where that leads.
///
/// It is to be moved, made or removed, so nobody is asked about one at which nothing may be changed.
pub(super) fn resolve_entry(workdir: &Workdir, text: &str) -> Result<WorkdirPath, ToolError> {
    let path = entry(workdir, text)?;
    writable(workdir, &path)?;
    Ok(path)
}

fn entry(workdir: &Workdir, text: &str) -> Result<WorkdirPath, ToolError> {
    let trimmed = text.trim_end_matches('/');
    let (directory, name) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    let directory = if directory.is_empty() && trimmed.starts_with('/') { "/" } else { directory };
    let named = if matches!(name, "" | "." | "..") { None } else { resolve(workdir, directory).ok() };
    match named.and_then(|directory| directory.join_file_name(name)) {
        Some(path) => Ok(path),
        None => resolve(workdir, text),
    }
}

/// Refuses the working directory itself.
pub(super) fn not_the_root(path: &WorkdirPath, action: &'static str) -> Result<(), ToolError> {
    if path.is_root() { Err(failure(Error::IsRoot { action })) } else { Ok(()) }
}

/// Refuses a place inside the entry that is to go there.
pub(super) fn not_inside(from: &WorkdirPath, to: &WorkdirPath) -> Result<(), ToolError> {
    if !to.starts_with(from) {
        return Ok(());
    }
    Err(ToolError::invalid_input(format!(
        "`{}` is `{}` or inside it; use a path elsewhere",
        Shown::new(to.as_str()),
        Shown::new(from.as_str())
    )))
}

/// Says that something is where an entry is to go.
pub(super) fn occupied(to: &WorkdirPath) -> ToolError {
    ToolError::invalid_input(format!(
        "`{}` already exists; give the whole new path of the entry, its name included, or remove what is there first",
        Shown::new(to.as_str())
    ))
}
