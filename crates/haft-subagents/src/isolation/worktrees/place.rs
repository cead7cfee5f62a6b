use super::super::patch::{Patch, PatchFile};
use super::super::workplaces::{Workplace, WorkplaceError};
use super::PlaceLimits;
use super::changes::changes;
use super::git::Repository;
use super::layout::{Hold, Layout, Ready};
use async_trait::async_trait;
use haft_core::CallId;
use haft_core::RunId;
use haft_tool_fs::ApplyPatch;
use haft_tools_core::ToolRegistry;
use haft_tools_core::{CallContext, CallScope, Tool as _};
use haft_workdir::Workdir;
use serde_json::json;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Mutex;

/// Is a directory that one child works in.
pub(super) struct Place {
    run: RunId,
    workdir: Workdir,
    tools: ToolRegistry,
    repository: Repository,
    layout: Layout,
    ready: Ready,
    limits: PlaceLimits,
    /// Whether what the run had changed before was put in.
    taken_up: AtomicBool,
    /// Held while the place is there; whoever tells its changes or removes it has it to themselves.
    hold: Mutex<Option<Hold>>,
}

impl Place {
    #[expect(clippy::too_many_arguments, reason = "made in one place, of what is known there")]
    pub(super) fn new(
        run: RunId,
        workdir: Workdir,
        tools: ToolRegistry,
        repository: Repository,
        layout: Layout,
        hold: Hold,
        ready: Ready,
        limits: PlaceLimits,
    ) -> Self {
        let (taken_up, hold) = (AtomicBool::new(ready.taken_up), Mutex::new(Some(hold)));
        Self { run, workdir, tools, repository, layout, ready, limits, taken_up, hold }
    }

    pub(super) fn workdir(&self) -> &Workdir {
        &self.workdir
    }

    async fn told(&self) -> Result<Patch, WorkplaceError> {
        self.layout.unlock()?;
        changes(&self.repository, &self.layout, &self.ready, &self.limits).await
    }

    /// Makes changes here, as a call of the tool does.
    async fn apply(&self, patch: &Patch) -> Result<(), WorkplaceError> {
        let unfit = || WorkplaceError::Unfit { run: self.run.clone() };
        let call: CallId = "changes".parse().map_err(|_| unfit())?;
        let scope = CallScope::new(self.run.clone());
        let (tool, input) = (ApplyPatch::new(self.workdir.clone()), json!({ "patch": patch.text }));
        let prepared = tool.prepare(&input, &scope).map_err(|_| unfit())?;
        prepared.run(CallContext::detached(call, scope)).await.map(drop).map_err(|_| unfit())
    }
}

#[async_trait]
impl Workplace for Place {
    fn run(&self) -> &RunId {
        &self.run
    }

    fn tools(&self) -> &ToolRegistry {
        &self.tools
    }

    fn missing(&self) -> &[String] {
        &self.ready.missing
    }

    fn path(&self) -> Option<&Path> {
        Some(self.workdir.root_path())
    }

    async fn take_up(&self, patch: &Patch) -> Result<(), WorkplaceError> {
        let hold = self.hold.lock().await;
        if hold.is_none() {
            return Err(gone());
        }
        if self.has_taken_up() {
            return Ok(());
        }
        let there = self.told().await?;
        let is_there = |file: &PatchFile| there.files.iter().any(|there| there.path == file.path);
        if there.is_empty() {
            self.apply(patch).await?;
        } else if !patch.files.iter().all(is_there) {
            // It broke off while it was put in.
            return Err(WorkplaceError::Unfit { run: self.run.clone() });
        }
        self.layout.finish(&Ready { taken_up: true, ..self.ready.clone() })?;
        self.taken_up.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn has_taken_up(&self) -> bool {
        self.taken_up.load(Ordering::Relaxed)
    }

    async fn changes(&self) -> Result<Patch, WorkplaceError> {
        let hold = self.hold.lock().await;
        if hold.is_none() {
            return Err(gone());
        }
        self.told().await
    }

    async fn remove(&self) -> Result<(), WorkplaceError> {
        let mut guarded = self.hold.lock().await;
        let Some(hold) = guarded.take() else { return Ok(()) };
        let layout = self.layout.clone();
        let removed = tokio::task::spawn_blocking(move || layout.remove(hold)).await;
        let removed = removed
            .map_err(|error| WorkplaceError::Other { action: "remove the place", source: Box::new(error) })
            .flatten();
        if removed.is_err() {
            *guarded = self.layout.hold(&self.run).ok();
        }
        removed
    }
}

fn gone() -> WorkplaceError {
    let source = std::io::Error::from(std::io::ErrorKind::NotFound);
    WorkplaceError::Other { action: "look at a place that was removed", source: Box::new(source) }
}
