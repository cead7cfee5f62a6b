use crate::exit::UsageError;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// How the name of each copy begins.
const PREFIX: &str = "haft-run-";

/// How deep a project may be nested before copying it is given up.
const MOST_LEVELS: u32 = 64;

/// Copies a project into a directory of its own, which is removed when the handle is dropped.
///
/// Build output (`target`) and the repository (`.git`) stay behind; links are refused, since a copy of one would still
/// lead to the original.
pub(crate) fn copy(project: &Path) -> Result<TempDir> {
    let scratch = tempfile::Builder::new()
        .prefix(PREFIX)
        .tempdir()
        .context("cannot make a directory for the scratch copy; make that of TMPDIR writable")?;
    copy_tree(project, scratch.path(), MOST_LEVELS).with_context(|| {
        UsageError(format!(
            "cannot copy the project `{}`; put right what the cause says, or play in it with `--workdir`",
            project.display()
        ))
    })?;
    Ok(scratch)
}

fn copy_tree(from: &Path, to: &Path, levels: u32) -> Result<()> {
    if levels == 0 {
        bail!("`{}` is nested too deep; take it out of the session's project", from.display());
    }
    for entry in fs::read_dir(from).with_context(|| format!("cannot list `{}`", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if entry.file_name() == "target" || entry.file_name() == ".git" {
                continue;
            }
            fs::create_dir(&target)?;
            copy_tree(&source, &target, levels - 1)?;
        } else if kind.is_file() {
            fs::copy(&source, &target).with_context(|| format!("cannot copy `{}`", source.display()))?;
        } else {
            bail!(
                "`{}` is neither a file nor a directory; take it out of the session's project",
                source.display()
            );
        }
    }
    Ok(())
}

/// Removes a copy that was made, as far as that can be done.
pub(crate) fn remove(copy: &Path) {
    // The path may come from a file, so nothing goes that does not bear the name of a copy.
    let is_copy = copy.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    if is_copy
        && let Err(error) = fs::remove_dir_all(copy)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        errln!("cannot remove the scratch copy `{}`: {error}", copy.display());
    }
}
