use crate::agent_run::{Shown, Stage};
use crate::bench::Bench;
use crate::delegation::{Kept, load, supervise};
use crate::exit::note;
use crate::groundwork::Groundwork;
use crate::keeper::Keeper;
use crate::left_behind::clear_up;
use crate::offered::offer;
use crate::opened_workdir::OpenedWorkdir;
use crate::own_tools::with_those_of_runs;
use crate::scripts::Scripts;
use crate::task::Task;
use crate::telemetry::Telling;
use crate::{known_secrets, telemetry};
use anyhow::Result;
use haft::CallScope;
use haft::subagents::{AgentSpec, Supervisor};
use haft::tools_core::Redactor;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Holds what is known of a run that is to be driven, before its tools and its model are there.
pub(crate) struct SetUp<'a> {
    pub(crate) task: &'a Task,
    pub(crate) opened: OpenedWorkdir,
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
        let state = &self.keeper.state;
        let OpenedWorkdir { configuration, settings, .. } = &self.opened;
        // What cannot be read must not be found out when it is needed, in the middle of the work.
        state.existing()?;
        telemetry::begin(settings, Telling::AtEnd);
        let agents = self.task.agents.as_deref().map(load).transpose()?;
        let specs = agents.iter().flatten().map(|agent| agent.spec.clone()).collect();
        known_secrets::register(configuration, settings, &self.redactor);
        let scripts = Scripts::new(&self.redactor)?;
        let (jobs, options, quota) = (&scripts.jobs, self.task.policy()?, self.task.quota);
        let ground = Groundwork::lay(&self.opened, self.given, &options, quota, |bash| bash.jobs(jobs))?;
        let tools = with_those_of_runs(ground.own.clone(), &scripts)?;
        let (tools, servers) = offer(&self.opened, tools, self.task.wanted()).await?;
        let shown = Shown::new(self.task.json, jobs);
        let (tools, supervisor) = match agents {
            Some(agents) => {
                // What processes left that were killed must not be in the way.
                if let Err(error) = clear_up(state).await {
                    note(error.as_ref());
                }
                let kept = Kept { state, quota };
                let (tools, supervisor) = supervise(&agents, &ground, &tools, kept, &shown.events, jobs)?;
                (tools, Some(supervisor))
            }
            None => (tools, None),
        };
        let bench = ground.bench(tools, servers, state)?;
        Ok((bench, Around { scripts, shown, supervisor, agents: specs }))
    }

    /// Sets the stage, on which only the model is missing.
    pub(crate) fn stage(self, bench: &Bench, around: Around) -> Stage<'_> {
        let Self { task, keeper, scope, redactor, token, .. } = self;
        Stage { bench, keeper, around, scope, approves_all: task.approve_all, redactor, token }
    }
}
