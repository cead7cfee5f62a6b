use super::arguments::TrustOptions;
use crate::config::{Configuration, beside_policy};
use crate::exit::{Exit, UsageError};
use crate::opened_workdir;
use crate::own_tools;
use crate::paint::{GOOD, NAME};
use crate::policy_setup::{PolicySetup, Texts, TrustStore, WorkspaceFile, workspace_path};
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use anyhow::Result;
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
        anstream::println!("{NAME}{name}{NAME:#} is trusted already");
        return Ok(Exit::Done);
    }
    TrustStore::of(&user)?.trust(&file)?;
    anstream::println!(
        "{GOOD}trusted{GOOD:#} {NAME}{name}{NAME:#} as it is now; after a change it is not trusted again"
    );
    print_files(&file);
    let beside = beside_policy(&text);
    if !beside.is_empty() {
        anstream::println!("It also says, beside what may be done:");
    }
    for (key, value) in beside {
        anstream::println!("  {} = {}", visible(&key), visible(&value));
    }
    Ok(Exit::Done)
}

/// Trusts the policy file of a workspace no more.
pub(super) fn untrust(options: &TrustOptions) -> Result<Exit> {
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let file = workspace_path(&workdir);
    let path = visible(&file.display().to_string());
    if TrustStore::of(&UserDirectories::from_environment())?.untrust(&file)? {
        anstream::println!("{NAME}{path}{NAME:#} is trusted no more; it only takes away now");
    } else {
        anstream::println!("{NAME}{path}{NAME:#} was not trusted");
    }
    Ok(Exit::Done)
}

fn print_files(file: &WorkspaceFile) {
    for path in file.files() {
        anstream::println!("  {}", visible(&path.display().to_string()));
    }
    if let Some(digest) = file.digest() {
        anstream::println!("  sha256 {digest}");
    }
}
