use super::arguments::TrustOptions;
use super::files::{self, McpJson, WORKSPACE_FILE};
use crate::exit::{Exit, UsageError};
use crate::opened_workdir;
use crate::paint::{GOOD, NAME};
use crate::timeline::visible;
use anyhow::Result;
use haft::mcp::ServersFile;

/// Lets the servers of a workspace be started, as its file is now.
pub(super) fn trust(options: &TrustOptions) -> Result<Exit> {
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let Some(file) = McpJson::of(&workdir)? else {
        let root = workdir.root_path().display();
        let message = format!(
            "there is no `{WORKSPACE_FILE}` in `{root}` to trust; name its workspace with `--workdir`"
        );
        return Err(UsageError(message).into());
    };
    // What is wrong with it is told now and not when it is needed.
    let read = ServersFile::from_json(&file.text, WORKSPACE_FILE, &|_| Some("x".to_owned()));
    let read = read.map_err(|error| UsageError(error.to_string()))?;
    let path = visible(&file.path.display().to_string());
    if file.is_trusted()? {
        outln!("{NAME}{path}{NAME:#} is trusted already");
        return Ok(Exit::Done);
    }
    file.trust()?;
    outln!("{GOOD}trusted{GOOD:#} {NAME}{path}{NAME:#} as it is now; after a change it is not trusted again");
    for server in read.servers {
        outln!("  {}", server.name);
    }
    Ok(Exit::Done)
}

/// Lets the servers of a workspace be started no more.
pub(super) fn untrust(options: &TrustOptions) -> Result<Exit> {
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let was = files::untrust(&workdir)?;
    let after = if was { "is trusted no more; its servers are not started" } else { "was not trusted" };
    outln!("{NAME}{WORKSPACE_FILE}{NAME:#} {after}");
    Ok(Exit::Done)
}
