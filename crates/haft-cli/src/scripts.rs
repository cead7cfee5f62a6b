//! What scripts leave: what they print, and what of them runs on.

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use haft::agent::News;
use haft::process::TemporaryDirectory;
use haft::shell::{Bash, Jobs, ScriptOutputs};
use haft::tools_core::{LocalOutputs, OutputStore, ReadOutput, Redactor};
use haft::{CallScope, ToolRegistry};
use std::sync::Arc;

/// Holds the jobs of a run and of those below it, and all outputs.
pub(crate) struct Scripts {
    pub(crate) jobs: Jobs,
    pub(crate) outputs: Arc<dyn OutputStore>,
    /// Where large outputs are; it goes with them.
    _spilled: TemporaryDirectory,
}

impl Scripts {
    /// Keeps outputs without these secrets, for as long as the process lasts.
    pub(crate) fn new(redactor: &Redactor) -> Result<Self> {
        let (outputs, spilled) = spilling()?;
        let outputs = outputs.over(Arc::new(LocalOutputs::in_memory())).redactor(redactor.clone());
        Ok(Self { jobs: Jobs::new(outputs.clone()), outputs: Arc::new(outputs), _spilled: spilled })
    }
}

/// Holds the outputs of scripts that go with no run of this process, as those of clients: none of them runs on.
pub(crate) struct Outputs {
    of_scripts: ScriptOutputs,
    pub(crate) store: Arc<dyn OutputStore>,
    /// Where large outputs are; it goes with them.
    _spilled: TemporaryDirectory,
}

impl Outputs {
    /// Keeps outputs without these secrets, for as long as the process lasts.
    pub(crate) fn new(redactor: &Redactor) -> Result<Self> {
        let (of_scripts, spilled) = spilling()?;
        let of_scripts = of_scripts.redactor(redactor.clone());
        Ok(Self { store: Arc::new(of_scripts.clone()), of_scripts, _spilled: spilled })
    }

    /// Has scripts leave their outputs here.
    pub(crate) fn of(&self, bash: Bash) -> Bash {
        bash.outputs(&self.of_scripts)
    }

    /// Adds the tool that reads what was cut.
    pub(crate) fn readable(&self, tools: &ToolRegistry) -> Result<ToolRegistry> {
        Ok(tools.with(ReadOutput::new(Arc::clone(&self.store)))?)
    }
}

fn spilling() -> Result<(ScriptOutputs, TemporaryDirectory)> {
    let spilled = TemporaryDirectory::new_in(&std::env::temp_dir(), "outputs")
        .context("cannot make a directory for large outputs; make that of TMPDIR writable")?;
    Ok((ScriptOutputs::spilling_into(spilled.path()), spilled))
}

/// Tells runs of their jobs that have ended.
pub(crate) struct JobNews(pub(crate) Jobs);

#[async_trait]
impl News for JobNews {
    async fn news(&self, scope: &CallScope) -> Vec<String> {
        self.0.take_news(scope.run())
    }
}
