use crate::agent_run::{Shown, Stage};
use crate::bench::Bench;
use crate::changes::journalled;
use crate::delegation::{Below, Kept, load, supervise};
use crate::exit::note;
use crate::keeper::Keeper;
use crate::known_secrets;
use crate::left_behind::clear_up;
use crate::offered::offer;
use crate::own_tools;
use crate::policy_setup::PolicySetup;
use crate::scripts::Scripts;
use crate::task::Task;
use crate::telemetry::Telling;
use crate::user_directories::UserDirectories;
use crate::{sandbox, telemetry};
use anyhow::Result;
use haft::subagents::{AgentSpec, Supervisor};
use haft::{CallScope, Redactor, Workdir};
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Holds what is known of a run that is to be driven, before its tools and its model are there.
pub(crate) struct SetUp<'a> {
    pub(crate) task: &'a Task,
    pub(crate) workdir: Workdir,
    /// The directory as it was given, for names that people know.
    pub(crate) given: Option<&'a Path>,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) scope: CallScope,
    /// Knows the secrets that nothing may show.
    pub(crate) redactor: Redactor,
    pub(crate) token: CancellationToken,
}

/// Holds what there is around the calls of a run.
pub(crate) struct Around {
    pub(crate) scripts: Scripts,
    pub(crate) shown: Shown,
    /// Who starts the runs that are delegated to agents, where there are some.
    pub(crate) supervisor: Option<Supervisor>,
    /// The agents that it can be delegated to.
    pub(crate) agents: Vec<AgentSpec>,
}

impl SetUp<'_> {
    /// Gathers what the calls of the run are made with.
    ///
    /// The registry of a run begins here: what its model is told of is what the bench holds.
    pub(crate) async fn bench(&self) -> Result<(Bench, Around)> {
        // What cannot be read must not be found out when it is needed, in the middle of the work.
        self.keeper.state.existing()?;
        telemetry::begin(&self.workdir, Telling::AtEnd);
        let agents = self.task.agents.as_deref().map(load).transpose()?;
        let specs = agents.iter().flatten().map(|agent| agent.spec.clone()).collect();
        known_secrets::register(&self.workdir, &self.redactor);
        let scripts = Scripts::new(&self.redactor)?;
        let user = UserDirectories::from_environment();
        let workdir = journalled(self.workdir.clone(), &user, self.task.quota)?;
        let options = self.task.policy()?;
        let sandbox = sandbox::mode(&workdir, self.given, &options, &user);
        let tools = own_tools::registry_of_run(&workdir, &scripts, sandbox)?;
        let (tools, servers) = offer(&workdir, tools, self.task.wanted()).await?;
        let shown = Shown::new(self.task.json, &scripts.jobs);
        let state = Arc::clone(&self.keeper.state);
        let (tools, supervisor) = match agents {
            Some(agents) => {
                // What processes left that were killed must not be in the way.
                if let Err(error) = clear_up(&state).await {
                    note(error.as_ref());
                }
                let kept = Kept { state: &state, directories: &user, quota: self.task.quota };
                let scripts_below = Below { jobs: &scripts.jobs, sandbox };
                let (tools, supervisor) =
                    supervise(&agents, &workdir, &tools, kept, &shown.events, scripts_below)?;
                (tools, Some(supervisor))
            }
            None => (tools, None),
        };
        let policy = PolicySetup::new(&workdir, self.given, &tools).in_force(&options)?;
        policy.check_sandbox(sandbox)?;
        policy.print_notes();
        let bench = Bench { workdir, tools, policy, sandbox, state, servers };
        Ok((bench, Around { scripts, shown, supervisor, agents: specs }))
    }

    /// Sets the stage, on which only the model is missing.
    pub(crate) fn stage(self, bench: &Bench, around: Around) -> Stage<'_> {
        let Self { task, keeper, scope, redactor, token, .. } = self;
        Stage { bench, keeper, around, scope, approves_all: task.approve_all, redactor, token }
    }
}
