//! `haft serve`: the tools of this command for MCP clients, behind one policy, one way to approve and one journal.

mod access_log;
mod arguments;
mod clients;
mod console;
mod directory;
mod ending;
mod instructions;
mod place;
mod places;
mod print_config;
mod serving;
mod told_state;
mod toolbox;
mod waiting_calls;

pub(crate) use arguments::{Route, ServeOptions};

use crate::cluster::ServedCluster;
use crate::config::{Configuration, ExecutorTable, UserConfig};
use crate::exit::{Exit, UsageError};
use crate::kept_state::KeptState;
use crate::opened_workdir::{self, OpenedWorkdir};
use crate::other_root::OtherRoot;
use crate::telemetry::{self, Telling};
use anyhow::Result;
use arguments::ExecutorKind;
use clients::Clients;
use console::Console;
use directory::Directory;
use ending::Ending;
use haft::tools_core::PrivateFiles;
use place::LeftOut;
use serving::{Serving, Way};
use std::sync::Arc;
use toolbox::{ServedToolsets, Settings};

/// Serves clients until they are gone or the process is told to stop.
pub(crate) async fn serve(options: ServeOptions) -> Result<Exit> {
    if let Some(client) = options.print_config {
        return print_config::print(client, &options);
    }
    let way = Way::of(&options)?;
    // Who asks while servers are being started does not end the process.
    let _telling = told_state::on_signals()?;
    let console = options.console.map(Console::bind).transpose()?;
    let user = UserConfig::read()?;
    let state = KeptState::of(&user).await?;
    // Who called what is recorded from the first call on; without a place for it calls cannot wait either.
    if let Err(error) = state.store() {
        crate::exit::note(
            error.context("what haft remembers cannot be opened, so calls are not recorded and none can wait for an approval; put right what the cause says, and start again").as_ref(),
        );
    }
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let (directories, start) = (user.directories.clone(), workdir.clone());
    // What is wrong with what is configured is said of the client that works there.
    let mut opened = Configuration::beside(user, &workdir)
        .and_then(|configuration| OpenedWorkdir::by(configuration, workdir));
    if let Ok(opened) = &opened {
        telemetry::begin(&opened.settings, Telling::AtOnce);
    }
    let cluster = if is_local(&options)? {
        None
    } else {
        let found = opened?;
        let cluster = cluster(&options, found.settings.executor.clone().unwrap_or_default()).await?;
        opened = Ok(found);
        Some(cluster)
    };
    let settings = Settings {
        // Over HTTP nobody is known to have this machine for their own.
        directory: Directory::of(
            &start,
            options.workdir.is_some() || options.no_roots || options.http.is_some(),
        ),
        roots: OtherRoot::absolute(options.roots.clone())?,
        left_out: LeftOut { mcp: options.no_mcp, openapi: options.no_openapi },
        quota: options.quota,
        policy: options.policy.clone(),
        clients: Clients::of(options.clients.as_deref())?,
        attended: console.is_some().then_some(console::STAYS_OPEN),
        cluster,
    };
    let toolsets = ServedToolsets::new(settings, Arc::clone(&state), directories);
    // What is wrong with the policy is said to the person who starts this, not to the first client.
    toolsets.started_in(start.root_path(), opened).check().await?;
    let ending = Ending::on_signals()?;
    let serving = Serving {
        toolbox: toolsets.clone(),
        way,
        tools: options.tools.clone(),
        state_key: options.state_key.as_deref().map(read_key).transpose()?,
        rates: toolsets.rates(),
        options,
    };
    let console = match console {
        Some(console) => Some(console.open(toolsets.clone(), state, ending.token())?),
        None => None,
    };
    let served = serving::run(serving, &ending).await;
    if let Some(console) = console {
        console.end().await;
    }
    toolsets.stop().await;
    served.map(|()| Exit::Done)
}

/// Tells whether this process makes the calls, and no workers of an engine.
fn is_local(options: &ServeOptions) -> Result<bool> {
    let ServeOptions { executor, restate, pool, routes, .. } = options;
    let is_local = match executor {
        Some(ExecutorKind::Local) => true,
        Some(ExecutorKind::Restate) => false,
        None => restate.is_none(),
    };
    if is_local && (restate.is_some() || pool.is_some() || !routes.is_empty()) {
        let message = "`--restate`, `--pool` and `--route` are for calls that an engine has made; give `--executor restate`, or \
                       leave them out";
        return Err(UsageError(message.to_owned()).into());
    }
    Ok(is_local)
}

/// Finds the engine whose workers make the calls.
async fn cluster(options: &ServeOptions, configured: ExecutorTable) -> Result<ServedCluster> {
    let ServeOptions { restate, pool, routes, .. } = options;
    let engine = restate.clone().or(configured.restate).ok_or_else(|| {
        let message =
            "no engine is named; name it with `--restate`, or as `restate` in `[executor]` of `haft.toml`";
        UsageError(message.to_owned())
    })?;
    let pool = pool.clone().or(configured.pool).unwrap_or_else(|| "tools".to_owned());
    let routes = if routes.is_empty() { configured.routes } else { routes.clone() };
    ServedCluster::find(&engine, &pool, &routes).await
}

/// Reads the key that what clients carry from call to call is sealed with: 64 hexadecimal digits.
fn read_key(path: &std::path::Path) -> Result<[u8; 32]> {
    use anyhow::Context as _;
    let shown = path.display();
    let wrong = || {
        UsageError(format!(
            "`{shown}` holds no key; write 64 hexadecimal digits, as of `openssl rand -hex 32`"
        ))
    };
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(wrong)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let files = PrivateFiles::new(directory.unwrap_or(std::path::Path::new("."))).most_bytes(1024);
    let text = files
        .read(name)
        .with_context(|| {
            UsageError(format!("cannot use the key in `{shown}`; name a file that only you can read"))
        })?
        .ok_or_else(wrong)?;
    let text = text.trim();
    let mut key = [0; 32];
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(wrong().into());
    }
    for (byte, place) in key.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&text[place..place + 2], 16).map_err(|_| wrong())?;
    }
    Ok(key)
}

#[cfg(test)]
mod tests;
