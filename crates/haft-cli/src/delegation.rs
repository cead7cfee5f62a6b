//! Agents that a run can delegate to.

use crate::changes::{ChangeQuota, journalled};
use crate::config::narrowed;
use crate::exit::{UsageError, note, say_note};
use crate::groundwork::Groundwork;
use crate::kept_state::KeptState;
use crate::opened_workdir::OpenedWorkdir;
use crate::timeline::visible;
use crate::{own_tools, sandbox};
use anyhow::{Context as _, Result};
use async_trait::async_trait;
use haft::ToolRegistry;
use haft::core::RunId;
use haft::fs::ApplyPatch;
use haft::shell::Jobs;
use haft::subagents::{
    AgentDirectory, AgentFile, AgentFiles, ApplyChanges, ChildRecord, ChildStore, FileNote, KeptChanges,
    MemoryChildren, ShowChanges, Supervisor, Worktrees,
};
use haft::tools_core::{CollisionPolicy, Events, StoreError};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// An agent as a file describes it, for whoever has none yet.
const EXAMPLE: &str = "---\nname: reader\ndescription: Finds where things are in the code.\ntools: read_file, grep, glob\n---\n\
    You look for code. Answer with paths and line numbers.";

/// Reads the agents of a directory, which a person has named: one that cannot be read is an error.
pub(crate) fn load(directory: &Path) -> Result<Vec<AgentFile>> {
    let shown = directory.display().to_string();
    if !directory.is_dir() {
        let what = if directory.exists() { "is not a directory" } else { "does not exist" };
        let message = format!(
            "the directory of agents `{}` {what}; make one with a file such as `reader.md` that says:\n{EXAMPLE}",
            visible(&shown)
        );
        return Err(UsageError(message).into());
    }
    let AgentFiles { agents, errors, notes, .. } =
        AgentFiles::load([AgentDirectory::new(shown.as_str(), directory)]);
    if !errors.is_empty() {
        let errors: Vec<String> = errors.iter().map(|error| visible(&error.to_string())).collect();
        return Err(UsageError(errors.join("\n")).into());
    }
    if agents.is_empty() {
        let message = format!(
            "`{}` holds no agents; put a file such as `reader.md` into it that says:\n{EXAMPLE}",
            visible(&shown)
        );
        return Err(UsageError(message).into());
    }
    print(notes.iter().chain(agents.iter().flat_map(|agent| &agent.notes)));
    Ok(agents)
}

fn print<'a>(notes: impl IntoIterator<Item = &'a FileNote>) {
    for told in notes {
        say_note(&told.to_string());
    }
}

/// Checks that the tools which agents name are there; one that an agent is not to have could be written wrong.
fn check(agents: &[AgentFile], tools: &ToolRegistry) -> Result<()> {
    // Every run below has this one beside those of the house.
    let names: Vec<&str> = tools.names().chain(["report"]).collect();
    let mut errors = Vec::new();
    for agent in agents {
        match agent.check_tools(&names) {
            Ok(notes) => print(&notes),
            Err(error) => errors.push(visible(&error.to_string())),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(UsageError(errors.join("\n")).into()) }
}

/// Says where runs of agents and what they change are kept.
pub(crate) struct Kept<'a> {
    pub(crate) state: &'a Arc<KeptState>,
    pub(crate) quota: ChangeQuota,
}

/// Makes the one who starts the runs of agents, and adds the tools by which they are delegated to.
pub(crate) fn supervise(
    agents: &[AgentFile],
    ground: &Groundwork<'_>,
    tools: &ToolRegistry,
    Kept { state, quota }: Kept<'_>,
    events: &Events,
    jobs: &Jobs,
) -> Result<(ToolRegistry, Supervisor)> {
    let (workdir, sandbox) = (&ground.workdir, ground.sandbox);
    let OpenedWorkdir { configuration, settings, .. } = ground.opened;
    let (directories, select) = (&configuration.user.directories, &settings.select);
    let mut builder = Supervisor::builder()
        .agents(agents.iter().map(|agent| agent.spec.clone()))
        .store(Arc::new(KeptChildren { state: Arc::clone(state), memory: MemoryChildren::new() }))
        .events(events.clone());
    let mut added = ToolRegistry::new();
    if let (Some(places), Some(changes)) = (directories.places()?, directories.patches()?) {
        let changes = KeptChanges::new(changes);
        let kept = changes.clone();
        let (user, jobs) = (directories.clone(), jobs.clone());
        let (catalog, below) = (configuration.catalog_elsewhere()?, select.clone());
        let places = Worktrees::new(workdir.clone(), places, move |place| {
            // What a killed process has left half done in a place is taken back before the run goes on there.
            let place = journalled(place.clone(), &user, quota).unwrap_or_else(|error| {
                note(error.as_ref());
                place.clone()
            });
            let tools = sandbox::of(sandbox).and_then(|confined| {
                let tools = own_tools::registry_in(&place, confined, &catalog, |bash| bash.jobs(&jobs))?;
                // What a run applies that works there comes there.
                Ok(tools.with(ApplyChanges::new(ApplyPatch::new(place.clone()), kept.clone()))?)
            });
            let tools = tools.unwrap_or_else(|error| {
                note(error.as_ref());
                ToolRegistry::new()
            });
            narrowed(tools, &below)
        });
        builder = builder.workplaces(places.environment(own_tools::environment()), changes.clone());
        added = added
            .with(ShowChanges::new(changes.clone()))?
            .with(ApplyChanges::new(ApplyPatch::new(workdir.clone()), changes))?;
    }
    let supervisor = builder.build();
    let merged = tools
        .merge(&supervisor.tools()?, CollisionPolicy::Refuse)
        .and_then(|tools| tools.merge(&added, CollisionPolicy::Refuse));
    let tools = merged.context("cannot add the tools by which agents are delegated to")?;
    let tools = narrowed(tools, select);
    check(agents, &tools)?;
    Ok((tools, supervisor))
}

/// Keeps runs with the one that started them, and in memory where nothing can be kept.
struct KeptChildren {
    state: Arc<KeptState>,
    memory: MemoryChildren,
}

impl KeptChildren {
    fn store(&self) -> &dyn ChildStore {
        match self.state.store() {
            Ok(store) => store,
            Err(error) => {
                self.state.say(error.as_ref());
                &self.memory
            }
        }
    }
}

#[async_trait]
impl ChildStore for KeptChildren {
    async fn put(&self, record: &ChildRecord) -> Result<(), StoreError> {
        self.store().put(record).await
    }

    async fn get(&self, run: &RunId) -> Result<Option<ChildRecord>, StoreError> {
        self.store().get(run).await
    }

    async fn tree(&self, root: &RunId) -> Result<Vec<ChildRecord>, StoreError> {
        self.store().tree(root).await
    }

    async fn keep(
        &self,
        run: &RunId,
        head: Value,
        from: usize,
        entries: Vec<Value>,
    ) -> Result<(), StoreError> {
        self.store().keep(run, head, from, entries).await
    }

    async fn state(&self, run: &RunId) -> Result<Option<(Value, Vec<Value>)>, StoreError> {
        self.store().state(run).await
    }

    async fn forget(&self, root: &RunId) -> Result<(), StoreError> {
        self.store().forget(root).await
    }
}
