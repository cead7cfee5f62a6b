use super::arguments::TrustOptions;
use crate::config::{beside_policy, catalog_with};
use crate::exit::{Exit, UsageError};
use crate::opened_workdir;
use crate::own_tools;
use crate::paint::{GOOD, NAME};
use crate::policy_setup::{PolicySetup, WorkspaceFile};
use crate::timeline::visible;
use anyhow::Result;
use haft::ToolRegistry;
use haft::policy::Trust;

/// Trusts the policy file of a workspace as it is now.
pub(super) fn trust(options: &TrustOptions) -> Result<Exit> {
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let given = options.workdir.as_deref();
    let Some(file) = PolicySetup::new(&workdir, given, &ToolRegistry::new()).look_at_workspace()? else {
        let root = workdir.root_path().display();
        let message =
            format!("there is no `haft.toml` in `{root}` to trust; name its workspace with `--workdir`");
        return Err(UsageError(message).into());
    };
    // What it says of commands counts for its own tests as it will.
    let text = file.text().unwrap_or_default();
    let catalog = catalog_with(&workdir, &text)?;
    let tools = own_tools::registry_of_runs_by(&workdir, catalog.clone())?;
    let setup = PolicySetup::new(&workdir, given, &tools).by_catalog(catalog);
    // What is wrong with it is told now and not when it is needed.
    setup.as_trusted(&file)?;
    let name = visible(&file.name.display().to_string());
    if file.trust == Trust::Trusted {
        anstream::println!("{NAME}{name}{NAME:#} is trusted already");
        return Ok(Exit::Done);
    }
    setup.trust_store()?.trust(&file)?;
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
    let tools = own_tools::registry_of_runs(&workdir)?;
    let setup = PolicySetup::new(&workdir, options.workdir.as_deref(), &tools);
    let path = visible(&setup.workspace_path().display().to_string());
    if setup.trust_store()?.untrust(&setup.workspace_path())? {
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
