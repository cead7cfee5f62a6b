//! What scripts of a run leave: what they print, and what of them runs on.

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use haft::agent::News;
use haft::shell::{Jobs, ScriptOutputs};
use haft::{CallScope, LocalOutputs, OutputStore, Redactor};
use std::sync::Arc;
use tempfile::TempDir;

/// Holds the jobs of a run and of those below it, and all outputs.
pub(crate) struct Scripts {
    pub(crate) jobs: Jobs,
    pub(crate) outputs: Arc<dyn OutputStore>,
    /// Where large outputs are; it goes with them.
    _spilled: TempDir,
}

impl Scripts {
    /// Keeps outputs without these secrets, for as long as the process lasts.
    pub(crate) fn new(redactor: &Redactor) -> Result<Self> {
        let spilled = tempfile::tempdir()
            .context("cannot make a directory for large outputs; make that of TMPDIR writable")?;
        let outputs = ScriptOutputs::spilling_into(spilled.path());
        let outputs = outputs.over(Arc::new(LocalOutputs::in_memory())).redactor(redactor.clone());
        Ok(Self { jobs: Jobs::new(outputs.clone()), outputs: Arc::new(outputs), _spilled: spilled })
    }
}

/// Tells runs of their jobs that have ended.
pub(crate) struct JobNews(pub(crate) Jobs);

#[async_trait]
impl News for JobNews {
    async fn news(&self, scope: &CallScope) -> Vec<String> {
        self.0.take_news(scope.run())
    }
}
