use super::agent_table::AgentTable;
use super::reading::{all_parsed, parsed};
use super::{ConfigFiles, Layer};
use crate::other_root::OtherRoot;
use anyhow::Result;
use haft::{Selector, ToolRegistry, Workdir};
use serde::Deserialize;

/// Holds what the files in force say of the tools that are offered, of where they work and of who works by them.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Each takes away from what is left by those before it.
    pub(crate) select: Vec<Selector>,
    /// With absolute paths.
    pub(crate) roots: Vec<OtherRoot>,
    pub(crate) agent: AgentTable,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tables {
    tools: ToolsTable,
    workdir: WorkdirTable,
    agent: AgentTable,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct ToolsTable {
    #[serde(deserialize_with = "parsed")]
    select: Option<Selector>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct WorkdirTable {
    #[serde(deserialize_with = "all_parsed")]
    roots: Vec<OtherRoot>,
}

impl Settings {
    /// Reads the files in force in a directory.
    ///
    /// A file that is not trusted only takes away: of it, which tools are offered counts, and nothing else.
    pub(crate) fn read(workdir: &Workdir) -> Result<Self> {
        let mut settings = Self::default();
        for file in ConfigFiles::read(workdir)?.iter() {
            let Tables { tools, workdir, agent } = file.parse()?;
            settings.select.extend(tools.select);
            if file.layer != Layer::Untrusted {
                let below = |root: OtherRoot| root.below(&file.folder);
                settings.roots.extend(workdir.roots.into_iter().map(below));
                settings.agent = agent.below(&file.folder).over(settings.agent);
            }
        }
        Ok(settings)
    }
}

/// Leaves out the tools that are not chosen.
pub(crate) fn narrowed(tools: ToolRegistry, select: &[Selector]) -> ToolRegistry {
    select.iter().fold(tools, |tools, selector| tools.filtered(selector))
}
