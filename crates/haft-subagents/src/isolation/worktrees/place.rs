use super::super::patch::Patch;
use super::super::workplaces::{Workplace, WorkplaceError};
use super::PlaceLimits;
use super::changes::changes;
use super::git::Repository;
use super::layout::{Hold, Layout, Ready};
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::ToolRegistry;
use haft_workdir::Workdir;
use std::any::Any;
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
        Self { run, workdir, tools, repository, layout, ready, limits, hold: Mutex::new(Some(hold)) }
    }

    pub(super) fn workdir(&self) -> &Workdir {
        &self.workdir
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

    fn as_any(&self) -> &dyn Any {
        self
    }

    async fn changes(&self) -> Result<Patch, WorkplaceError> {
        let hold = self.hold.lock().await;
        if hold.is_none() {
            return Err(gone());
        }
        self.layout.unlock()?;
        changes(&self.repository, &self.layout, &self.ready, &self.limits).await
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
