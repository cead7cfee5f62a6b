//! `haft init`: writes a `haft.toml` for the project that is here.

mod javascript;
mod project;
mod written;

use crate::exit::{Exit, UsageError};
use crate::paint::{GOOD, NAME};
use crate::policy_setup::PolicySetup;
use crate::setup;
use crate::timeline::visible;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use anyhow::{Context as _, Result};
use clap::Args;
use haft::{PrivateFiles, Workdir};
use project::Project;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct InitOptions {
    /// The directory of the project; the current one by default
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    workdir: Option<PathBuf>,
    /// Write your own file, which holds in all directories
    #[arg(long)]
    user: bool,
    /// Print it, and write nothing
    #[arg(long)]
    print: bool,
}

/// Writes the file, or prints it.
pub(crate) fn init(options: &InitOptions) -> Result<Exit> {
    if options.user {
        return for_user(options.print);
    }
    let workdir = setup::workdir(options.workdir.as_deref())?;
    let project = Project::of(workdir.root_path());
    let text = written::for_project(&project);
    if options.print {
        anstream::print!("{text}");
        return Ok(Exit::Done);
    }
    let path = options.workdir.as_deref().unwrap_or(Path::new("")).join(POLICY_FILE);
    let shown = visible(&path.display().to_string());
    let mut file = match File::create_new(workdir.root_path().join(POLICY_FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(is_there(&shown).into()),
        Err(error) => {
            let message = format!("cannot write `{shown}`; make its directory writable, or give --print");
            return Err(error).with_context(|| UsageError(message));
        }
    };
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{shown}`"))?;
    anstream::println!("{GOOD}wrote{GOOD:#} {NAME}{shown}{NAME:#} for {}", project.describe());
    trust(&workdir, &text);
    anstream::println!("\nLook at it, then try:");
    for command in next_steps(&project) {
        anstream::println!("  {command}");
    }
    Ok(Exit::Done)
}

/// Trusts what was just written; it holds as far as it takes away where that cannot be remembered.
fn trust(workdir: &Workdir, text: &str) {
    let trusted = setup::registry_of_runs(workdir).and_then(|tools| {
        let setup = PolicySetup::new(workdir, Some(workdir.root_path()), &tools);
        let file = setup.look_at_workspace()?.context("the file is gone")?;
        anyhow::ensure!(
            file.text().as_deref() == Some(text),
            "somebody has changed the file since it was written"
        );
        setup.as_trusted(&file)?;
        setup.trust_store()?.trust(&file)
    });
    match trusted {
        Ok(()) => anstream::println!("It is trusted as it is now; after a change, say `haft policy trust`."),
        Err(error) => {
            crate::exit::note(
                error.context("it only takes away before you say `haft policy trust`").as_ref(),
            );
        }
    }
}

fn next_steps(project: &Project) -> Vec<String> {
    let mut steps = vec!["haft config show".to_owned()];
    let command = project.commands().next().unwrap_or("git status");
    steps.push(format!("haft policy explain '{command}'"));
    if project.has_mcp_json {
        steps.push("haft mcp trust      # the servers of .mcp.json, once you have looked at them".to_owned());
    }
    steps.push("haft serve --print-config claude-code".to_owned());
    steps
}

fn for_user(print: bool) -> Result<Exit> {
    let text = written::FOR_USER;
    if print {
        anstream::print!("{text}");
        return Ok(Exit::Done);
    }
    let directories = UserDirectories::from_environment();
    let (folder, written) = directories.config().with_context(|| {
        UsageError("there is no directory for your configuration; set HOME or XDG_CONFIG_HOME".to_owned())
    })?;
    let shown = format!("{written}/{POLICY_FILE}");
    if folder.join(POLICY_FILE).symlink_metadata().is_ok() {
        return Err(is_there(&shown).into());
    }
    let cannot =
        || UsageError(format!("cannot write `{shown}`; make its directory writable, or give --print"));
    PrivateFiles::new(folder).write(POLICY_FILE, text).with_context(cannot)?;
    anstream::println!("{GOOD}wrote{GOOD:#} {NAME}{shown}{NAME:#}");
    anstream::println!("It holds in all directories. `haft config show` shows what is set, and where.");
    Ok(Exit::Done)
}

fn is_there(shown: &str) -> UsageError {
    UsageError(format!(
        "there is a `{shown}` already, which is kept; look at it with `haft config show`, or compare it with `haft init --print`"
    ))
}
