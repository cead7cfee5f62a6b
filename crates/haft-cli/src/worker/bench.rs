use super::WorkerOptions;
use crate::bench::Bench;
use crate::config::{Configuration, UserConfig};
use crate::exit::{UsageError, note};
use crate::groundwork::Groundwork;
use crate::kept_state::KeptState;
use crate::mcp::offered::Wanted;
use crate::offered::{WantedTools, offer};
use crate::opened_workdir::{self, OpenedWorkdir};
use crate::scripts::Outputs;
use crate::telemetry::Telling;
use crate::{known_secrets, telemetry};
use anyhow::Result;
use haft::tools_core::{LocalExecutorBuilder, Redactor};
use std::sync::Arc;

/// Holds what a worker makes calls with: the tools of a directory, under the policy in force there.
pub(crate) struct WorkerBench {
    pub(crate) bench: Bench,
    outputs: Outputs,
    redactor: Redactor,
}

impl WorkerBench {
    /// Gathers it, and starts the servers that some of the tools are of.
    pub(crate) async fn gather(options: &WorkerOptions) -> Result<Self> {
        let user = UserConfig::read()?;
        let state = KeptState::of(&user).await?;
        // Who called what is recorded from the first call on.
        if let Err(error) = state.store() {
            note(
                error.context("what haft remembers cannot be opened, so calls are not recorded and nothing that is approved is remembered; put right what the cause says, and start again").as_ref(),
            );
        }
        let given = options.workdir.as_deref();
        let workdir = opened_workdir::workdir(given)?;
        let opened = OpenedWorkdir::by(Configuration::beside(user, &workdir)?, workdir)?;
        let opened = opened.with_roots(options.roots.clone())?;
        telemetry::begin(&opened.settings, Telling::AtOnce);
        let redactor = known_secrets::redactor(&opened.configuration, &opened.settings);
        let outputs = Outputs::new(&redactor)?;
        let ground =
            Groundwork::lay(&opened, given, &options.policy, options.quota, |bash| outputs.of(bash))?;
        let wanted = WantedTools::new(Wanted::All, options.no_mcp, options.no_openapi);
        let (tools, servers) = offer(&opened, outputs.readable(&ground.own)?, wanted).await?;
        let tools = tools.filtered(&options.tools);
        if tools.is_empty() {
            let message =
                format!("no tool is `{}`; see those that there are with `haft tools`", options.tools);
            return Err(UsageError(message).into());
        }
        let bench = ground.bench(tools, servers, &state)?;
        Ok(Self { bench, outputs, redactor })
    }

    /// Starts to configure an executor that keeps what is granted and records what is called.
    pub(crate) fn executor(&self) -> Result<LocalExecutorBuilder> {
        let executor = self.bench.executor(false)?;
        Ok(executor.outputs(Arc::clone(&self.outputs.store)).redactor(self.redactor.clone()))
    }
}
