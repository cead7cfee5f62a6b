//! How far the commands of `bash` are confined.

use crate::exit::UsageError;
use crate::paint::ASKS;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use haft::policy::SandboxMode;
use haft::shell::{Scratch, ShellSandbox};

/// Makes the sandbox of a mode; says what is weaker, and refuses what is required and cannot be had.
pub(crate) fn of(mode: SandboxMode) -> Result<Option<ShellSandbox>> {
    let sandbox = match mode {
        SandboxMode::Off => return Ok(None),
        SandboxMode::Prefer => ShellSandbox::prefer(),
        SandboxMode::Require => ShellSandbox::require(),
    };
    let lacks = sandbox.lacks();
    let told: Vec<String> =
        lacks.iter().filter(|lack| !lack.is_of_limits()).map(ToString::to_string).collect();
    if mode == SandboxMode::Require && !told.is_empty() {
        let why = told.join("; ");
        let message = format!(
            "the sandbox that is required cannot be had here: {why}; give `--sandbox prefer` to do with what there is"
        );
        return Err(UsageError(message).into());
    }
    for lack in told {
        errln!("{ASKS}note{ASKS:#}: the sandbox is weaker here: {lack}");
    }
    let scratch = Scratch::in_directory(&std::env::temp_dir())
        .context("cannot make a directory for commands; make that of TMPDIR writable")?;
    let own = UserDirectories::from_environment();
    let own: Vec<_> = own.own_places().collect();
    Ok(Some(own.into_iter().fold(sandbox.scratch(scratch), ShellSandbox::protect_path)))
}
