use super::arguments::TrustOptions;
use crate::config::{Checked, Configuration, beside_policy};
use crate::exit::{Exit, UsageError, note};
use crate::opened_workdir;
use crate::own_tools;
use crate::paint::{GOOD, NAME};
use crate::policy_setup::{PolicySetup, Texts, TrustStore, WorkspaceFile, workspace_path};
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use anyhow::Result;
use haft::Workdir;
use haft::policy::Trust;
use std::path::Path;

/// Trusts the policy file of a workspace as it is now.
pub(super) fn trust(options: &TrustOptions) -> Result<Exit> {
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let given = options.workdir.as_deref();
    let (name, user) = (given.unwrap_or(Path::new("")), UserDirectories::from_environment());
    let Some(file) = WorkspaceFile::look(&workdir, name, &user, &Texts::default())? else {
        let root = workdir.root_path().display();
        let message =
            format!("there is no `haft.toml` in `{root}` to trust; name its workspace with `--workdir`");
        return Err(UsageError(message).into());
    };
    // What it says of commands counts for its own tests as it will.
    let text = file.text().unwrap_or_default();
    let configuration = Configuration::read(&workdir)?;
    let catalog = configuration.catalog_with(&text)?;
    let tools = own_tools::registry_of_runs(&workdir, &catalog)?;
    // What is wrong with it is told now and not when it is needed.
    PolicySetup::new(&configuration, &workdir, given).as_trusted(&file, &tools, &catalog)?;
    let name = visible(&file.name.display().to_string());
    if file.trust == Trust::Trusted {
        outln!("{NAME}{name}{NAME:#} is trusted already");
        look(&workdir);
        return Ok(Exit::Done);
    }
    TrustStore::of(&user)?.trust(&file)?;
    outln!("{GOOD}trusted{GOOD:#} {NAME}{name}{NAME:#} as it is now; after a change it is not trusted again");
    print_files(&file);
    let beside = beside_policy(&text);
    if !beside.is_empty() {
        outln!("It also says, beside what may be done:");
    }
    for (key, value) in beside {
        outln!("  {} = {}", visible(&key), visible(&value));
    }
    look(&workdir);
    Ok(Exit::Done)
}

/// Tells what stands in the way of those who trust the file.
fn look(workdir: &Workdir) {
    match Checked::of(workdir) {
        Ok(checked) => checked.print(),
        Err(error) => note(error.as_ref()),
    }
}

/// Trusts the policy file of a workspace no more.
pub(super) fn untrust(options: &TrustOptions) -> Result<Exit> {
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let file = workspace_path(&workdir);
    let path = visible(&file.display().to_string());
    if TrustStore::of(&UserDirectories::from_environment())?.untrust(&file)? {
        outln!("{NAME}{path}{NAME:#} is trusted no more; it only takes away now");
    } else {
        outln!("{NAME}{path}{NAME:#} was not trusted");
    }
    Ok(Exit::Done)
}

fn print_files(file: &WorkspaceFile) {
    for path in file.files() {
        outln!("  {}", visible(&path.display().to_string()));
    }
    if let Some(digest) = file.digest() {
        outln!("  sha256 {digest}");
    }
}
