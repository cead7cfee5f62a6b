//! What `haft.toml` says: the files that are in force, and what they say beside rules of tools, directories and agents.

mod agent_table;
pub(crate) mod arguments;
mod check;
mod commands;
mod entries;
mod executor_table;
mod files;
mod providers;
mod reading;
mod schema;
mod show;
mod store_table;
mod tables;
mod telemetry_table;

pub(crate) use check::{Checked, CheckedConfig};
pub(crate) use commands::{catalog, catalog_with};
pub(crate) use entries::beside_policy;
pub(crate) use files::{ConfigFile, ConfigFiles, Layer};
pub(crate) use providers::{ProviderName, ProviderTable, Providers, Resolved};
pub(crate) use reading::told;
pub(crate) use show::ShownConfig;
pub(crate) use store_table::StoreTable;
pub(crate) use tables::{Settings, narrowed};
pub(crate) use telemetry_table::TelemetryTable;

use crate::exit::Exit;
use anyhow::Result;
use arguments::ConfigCommand;

/// The tables of `haft.toml` that are no part of a policy.
pub(crate) const TABLES: [&str; 10] =
    ["agent", "executor", "mcp", "openapi", "providers", "shell", "store", "telemetry", "tools", "workdir"];

/// Does what one of the subcommands says.
pub(crate) fn config(command: &ConfigCommand) -> Result<Exit> {
    match command {
        ConfigCommand::Check(options) => check::check(options),
        ConfigCommand::Show(options) => show::show(options),
        ConfigCommand::Schema => Ok(schema::print()),
    }
}
