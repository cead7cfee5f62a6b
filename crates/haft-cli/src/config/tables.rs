use super::agent_table::AgentTable;
use super::executor_table::ExecutorTable;
use super::providers::{ProviderName, ProviderTable, Providers};
use super::reading::{all_parsed, parsed};
use super::store_table::StoreTable;
use super::telemetry_table::TelemetryTable;
use super::{Configuration, Layer};
use crate::agent::Header;
use crate::agent::model_settings::Like;
use crate::known_secrets::variable;
use crate::other_root::OtherRoot;
use anyhow::Result;
use haft::tools_core::Selector;
use haft::{ToolRegistry, Workdir};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Holds what the files in force say of the tools that are offered, of where they work and of who works by them.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Each takes away from what is left by those before it.
    pub(crate) select: Vec<Selector>,
    /// With absolute paths.
    pub(crate) roots: Vec<OtherRoot>,
    pub(crate) agent: AgentTable,
    pub(crate) providers: Providers,
    /// The first that there is, with whose word it is.
    pub(crate) telemetry: Option<(TelemetryTable, Layer)>,
    /// The first that there is.
    pub(crate) executor: Option<ExecutorTable>,
    /// The user's own, with the folder of the file.
    pub(crate) store: Option<(StoreTable, PathBuf)>,
    /// The files that have such a table and are not the user's own.
    pub(crate) other_stores: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tables {
    tools: ToolsTable,
    workdir: WorkdirTable,
    agent: AgentTable,
    providers: BTreeMap<ProviderName, ProviderTable>,
    telemetry: Option<TelemetryTable>,
    executor: Option<ExecutorTable>,
    store: Option<StoreTable>,
}

/// Which tools there are.
#[derive(Deserialize, Default, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ToolsTable {
    /// A selector: one that begins with `!` leaves out, as in `!web_fetch`; another keeps only what it names.
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String")]
    select: Option<Selector>,
}

/// Which other directories the tools work in.
#[derive(Deserialize, Default, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WorkdirTable {
    /// Other directories, to be read only with `:ro`, as in `../docs:ro`; a path begins in the directory of the file.
    #[serde(deserialize_with = "all_parsed")]
    #[schemars(with = "Vec<String>")]
    roots: Vec<OtherRoot>,
}

impl Settings {
    /// Reads the files in force in a directory, for whoever needs nothing else of them.
    pub(crate) fn read(workdir: &Workdir) -> Result<Self> {
        Self::of(&Configuration::read(workdir)?)
    }

    /// Gathers what the files say.
    ///
    /// A file that is not trusted only takes away: of it, which tools are offered counts, and nothing else.
    pub(crate) fn of(configuration: &Configuration) -> Result<Self> {
        let mut settings = Self::default();
        for file in configuration.files() {
            let Tables { tools, workdir, agent, providers, telemetry, executor, store } = file.parse()?;
            settings.select.extend(tools.select);
            match store {
                Some(store) if file.layer == Layer::User => {
                    settings.store = Some((store, file.folder.clone()));
                }
                Some(_) => settings.other_stores.push(file.name.clone()),
                None => {}
            }
            if file.layer != Layer::Untrusted {
                let below = |root: OtherRoot| root.below(&file.folder);
                settings.roots.extend(workdir.roots.into_iter().map(below));
                settings.providers.add(providers);
                // As a whole: no header of one goes where another says.
                let telemetry = telemetry.map(|table| (table, file.layer));
                settings.telemetry = settings.telemetry.or(telemetry);
                settings.executor = settings.executor.or(executor);
                settings.agent = agent.below(&file.folder).over(settings.agent);
            }
        }
        Ok(settings)
    }

    /// Gathers the secrets that models are asked with and spans are sent with, as far as the environment has them.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let keys = [Like::Anthropic, Like::OpenAi].map(Like::variable).into_iter();
        let keys =
            keys.chain(self.providers.iter().filter_map(|(_, table)| table.key())).filter_map(variable);
        let of_spans = self.telemetry.iter().flat_map(|(table, _)| table.header.iter().flatten());
        let headers = self.providers.iter().flat_map(|(_, table)| table.headers());
        let headers = headers.chain(self.agent.headers()).chain(of_spans);
        let headers =
            headers.filter_map(|header| Header::parse(header).ok()).flat_map(|header| header.secrets());
        let of_store = self.store.iter().filter_map(|(table, folder)| table.password(folder).ok()?);
        keys.chain(headers).chain(of_store).collect()
    }
}

/// Leaves out the tools that are not chosen.
pub(crate) fn narrowed(tools: ToolRegistry, select: &[Selector]) -> ToolRegistry {
    select.iter().fold(tools, |tools, selector| tools.filtered(selector))
}
