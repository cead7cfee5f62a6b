//! What `haft.toml` says: the files that are in force, and what they say beside rules of tools, directories and agents.

mod agent_table;
pub(crate) mod arguments;
mod check;
mod entries;
mod files;
mod reading;
mod show;
mod tables;

pub(crate) use entries::beside_policy;
pub(crate) use files::{ConfigFile, ConfigFiles, Layer};
pub(crate) use reading::told;
pub(crate) use tables::{Settings, narrowed};

use crate::exit::Exit;
use anyhow::Result;
use arguments::ConfigCommand;

/// The tables of `haft.toml` that are no part of a policy.
pub(crate) const TABLES: [&str; 5] = ["agent", "mcp", "openapi", "tools", "workdir"];

/// Does what one of the subcommands says.
pub(crate) fn config(command: &ConfigCommand) -> Result<Exit> {
    match command {
        ConfigCommand::Check(options) => check::check(options),
        ConfigCommand::Show(options) => show::show(options),
    }
}
