//! How far the commands of `bash` are confined.

use crate::exit::UsageError;
use crate::paint::ASKS;
use crate::policy_setup::{PolicyOptions, PolicySetup};
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use haft::policy::SandboxMode;
use haft::shell::{Scratch, ShellSandbox};
use haft::{Mode, ToolRegistry, Workdir};
use std::path::Path;

/// Finds out what the policy in force says of the sandbox, before the tools are made of which it decides.
///
/// In the mode `auto`, which lets through what nobody has looked at, commands are confined where they can be, unless
/// `--sandbox` says otherwise.
pub(crate) fn mode(
    workdir: &Workdir,
    given: Option<&Path>,
    options: &PolicyOptions,
    user: &UserDirectories,
) -> SandboxMode {
    if let Some(mode) = options.sandbox {
        return mode;
    }
    // What is asked here depends on no tool, and making them takes most of the time that a call does.
    let tools = ToolRegistry::new();
    let setup = PolicySetup::new(workdir, given, &tools).for_user(user.clone());
    // What is wrong is told when the policy is read for the tools that there really are, and those are checked then.
    let Ok(policy) = setup.in_force(options) else { return SandboxMode::Off };
    let least = if policy.loaded.mode == Mode::Auto { SandboxMode::Prefer } else { SandboxMode::Off };
    policy.loaded.sandbox.max(least)
}

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
        anstream::eprintln!("{ASKS}note{ASKS:#}: the sandbox is weaker here: {lack}");
    }
    let scratch =
        Scratch::in_directory(&std::env::temp_dir()).context("cannot make a directory for commands")?;
    let own = UserDirectories::from_environment();
    let own: Vec<_> = own.own_places().collect();
    Ok(Some(own.into_iter().fold(sandbox.scratch(scratch), ShellSandbox::protect_path)))
}
