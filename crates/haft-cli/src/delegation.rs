//! Agents that a run can delegate to.

use crate::exit::{UsageError, note};
use crate::kept_state::KeptState;
use crate::paint::ASKS;
use crate::setup;
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use async_trait::async_trait;
use haft::fs::ApplyPatch;
use haft::subagents::{
    AgentDirectory, AgentFiles, AgentSpec, ApplyChanges, ChildRecord, ChildStore, KeptChanges,
    MemoryChildren, ShowChanges, Supervisor, Worktrees,
};
use haft::{CollisionPolicy, Events, RunId, StoreError, ToolRegistry, Workdir};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Reads the agents of a directory, which a person has named: one that cannot be read is an error.
pub(crate) fn load(directory: &Path) -> Result<Vec<AgentSpec>> {
    let shown = directory.display().to_string();
    let AgentFiles { agents, errors, notes, .. } =
        AgentFiles::load([AgentDirectory::new(shown.as_str(), directory)]);
    if !errors.is_empty() {
        let errors: Vec<String> = errors.iter().map(|error| visible(&error.to_string())).collect();
        return Err(UsageError(errors.join("\n")).into());
    }
    if agents.is_empty() {
        let message = format!(
            "`{shown}` holds no agents; name a directory with a Markdown file for each, as docs/reference/subagents.md \
             describes them"
        );
        return Err(UsageError(message).into());
    }
    for told in notes.iter().chain(agents.iter().flat_map(|agent| &agent.notes)) {
        anstream::eprintln!("{ASKS}note{ASKS:#}: {}", visible(&told.to_string()));
    }
    Ok(agents.into_iter().map(|agent| agent.spec).collect())
}

/// Says where runs of agents and what they change are kept.
pub(crate) struct Kept<'a> {
    pub(crate) state: &'a Arc<KeptState>,
    pub(crate) directories: &'a UserDirectories,
}

/// Makes the one who starts the runs of agents, and adds the tools by which they are delegated to.
pub(crate) fn supervise(
    agents: Vec<AgentSpec>,
    workdir: &Workdir,
    tools: &ToolRegistry,
    Kept { state, directories }: Kept<'_>,
    events: &Events,
) -> Result<(ToolRegistry, Supervisor)> {
    let mut builder = Supervisor::builder()
        .agents(agents)
        .store(Arc::new(KeptChildren { state: Arc::clone(state), memory: MemoryChildren::new() }))
        .events(events.clone());
    let mut added = ToolRegistry::new();
    if let (Some(places), Some(changes)) = (directories.places()?, directories.patches()?) {
        let changes = KeptChanges::new(changes);
        let places = Worktrees::new(workdir.clone(), places, |place| {
            setup::registry(place).unwrap_or_else(|error| {
                note(error.as_ref());
                ToolRegistry::new()
            })
        });
        builder = builder.workplaces(places.environment(setup::environment()), changes.clone());
        added = added
            .with(ShowChanges::new(changes.clone()))?
            .with(ApplyChanges::new(ApplyPatch::new(workdir.clone()), changes))?;
    }
    let supervisor = builder.build();
    let merged = tools
        .merge(&supervisor.tools()?, CollisionPolicy::Refuse)
        .and_then(|tools| tools.merge(&added, CollisionPolicy::Refuse));
    let tools = merged.context("cannot add the tools by which agents are delegated to")?;
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
