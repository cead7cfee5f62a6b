use super::WorkerOptions;
use crate::bench::Bench;
use crate::changes::journalled;
use crate::exit::{UsageError, note};
use crate::kept_state::KeptState;
use crate::mcp::offered::Wanted;
use crate::offered::{WantedTools, offer};
use crate::opened_workdir::OpenedWorkdir;
use crate::own_tools;
use crate::policy_setup::PolicySetup;
use crate::telemetry::Telling;
use crate::user_directories::UserDirectories;
use crate::{known_secrets, sandbox, telemetry};
use anyhow::{Context as _, Result};
use haft::shell::ScriptOutputs;
use haft::{LocalExecutorBuilder, OutputStore, ReadOutput};
use std::sync::Arc;
use tempfile::TempDir;

/// Holds what a worker makes calls with: the tools of a directory, under the policy in force there.
pub(crate) struct WorkerBench {
    pub(crate) bench: Bench,
    outputs: Arc<dyn OutputStore>,
    redactor: haft::Redactor,
    /// Where large outputs are; it goes with them.
    _spilled: TempDir,
}

impl WorkerBench {
    /// Gathers it, and starts the servers that some of the tools are of.
    pub(crate) async fn gather(options: &WorkerOptions) -> Result<Self> {
        let state = KeptState::find().await?;
        // Who called what is recorded from the first call on.
        if let Err(error) = state.store() {
            note(
                error.context("what haft remembers cannot be opened, so calls are not recorded and nothing that is approved is remembered; put right what the cause says, and start again").as_ref(),
            );
        }
        let given = options.workdir.as_deref();
        let user = UserDirectories::from_environment();
        let OpenedWorkdir { workdir, .. } = OpenedWorkdir::of(given, options.roots.clone())?;
        telemetry::begin(&workdir, Telling::AtOnce);
        let workdir = journalled(workdir, &user, options.quota)?;
        let redactor = known_secrets::redactor(&workdir);
        let spilled = tempfile::tempdir()
            .context("cannot make a directory for large outputs; make that of TMPDIR writable")?;
        let of_scripts = ScriptOutputs::spilling_into(spilled.path()).redactor(redactor.clone());
        let outputs: Arc<dyn OutputStore> = Arc::new(of_scripts.clone());
        let sandbox = sandbox::mode(&workdir, given, &options.policy, &user);
        let tools = own_tools::registry_in(&workdir, sandbox, |bash| bash.outputs(&of_scripts))?;
        let tools = tools.with(ReadOutput::new(Arc::clone(&outputs)))?;
        let wanted = WantedTools::new(Wanted::All, options.no_mcp, options.no_openapi);
        let (tools, servers) = offer(&workdir, tools, wanted).await?;
        let tools = tools.filtered(&options.tools);
        if tools.is_empty() {
            let message =
                format!("no tool is `{}`; see those that there are with `haft tools`", options.tools);
            return Err(UsageError(message).into());
        }
        let policy = PolicySetup::new(&workdir, given, &tools).in_force(&options.policy)?;
        policy.check_sandbox(sandbox)?;
        policy.print_notes();
        let bench = Bench { workdir, tools, policy, sandbox, state, servers };
        Ok(Self { bench, outputs, redactor, _spilled: spilled })
    }

    /// Starts to configure an executor that keeps what is granted and records what is called.
    pub(crate) fn executor(&self) -> Result<LocalExecutorBuilder> {
        let executor = self.bench.executor(false)?;
        Ok(executor.outputs(Arc::clone(&self.outputs)).redactor(self.redactor.clone()))
    }
}
