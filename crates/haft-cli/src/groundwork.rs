use crate::bench::Bench;
use crate::changes::{ChangeQuota, journalled};
use crate::kept_state::KeptState;
use crate::mcp::offered::Offered;
use crate::opened_workdir::OpenedWorkdir;
use crate::policy_setup::{PolicyAhead, PolicyOptions, PolicySetup};
use crate::{own_tools, sandbox};
use anyhow::Result;
use haft::policy::SandboxMode;
use haft::shell::{Bash, CommandCatalog};
use haft::{ToolRegistry, Workdir};
use std::path::Path;
use std::sync::Arc;

/// Is what every command lays first that makes calls: the directory, the command's own tools in it, and the policy as far as
/// it can be told before the other tools are there.
pub(crate) struct Groundwork<'a> {
    pub(crate) opened: &'a OpenedWorkdir,
    policy: PolicyAhead<'a>,
    /// What is known of commands.
    catalog: CommandCatalog,
    /// The directory, in which changes are recorded.
    pub(crate) workdir: Workdir,
    /// How far commands are confined.
    pub(crate) sandbox: SandboxMode,
    /// The tools that the command offers itself.
    pub(crate) own: ToolRegistry,
}

impl<'a> Groundwork<'a> {
    /// Makes a directory ready for calls; `given` names it as people know it, and `bash` says what becomes of its scripts.
    pub(crate) fn lay(
        opened: &'a OpenedWorkdir,
        given: Option<&'a Path>,
        options: &'a PolicyOptions,
        quota: ChangeQuota,
        bash: impl FnOnce(Bash) -> Bash,
    ) -> Result<Self> {
        let configuration = &opened.configuration;
        let workdir = journalled(opened.workdir.clone(), &configuration.user.directories, quota)?;
        let policy = PolicyAhead::of(PolicySetup::new(configuration, &opened.workdir, given), options);
        let sandbox = policy.sandbox();
        let confined = sandbox::of(sandbox)?;
        let catalog = configuration.catalog()?;
        let own = own_tools::registry_in(&workdir, confined, &catalog, bash)?;
        Ok(Self { opened, policy, catalog, workdir, sandbox, own })
    }

    /// Makes a bench of all tools that there are: loads the policy for them, and says what of it people should know.
    pub(crate) fn bench(
        self,
        tools: ToolRegistry,
        servers: Offered,
        state: &Arc<KeptState>,
    ) -> Result<Bench> {
        let Self { workdir, sandbox, .. } = self;
        let given = self.policy.given_sandbox();
        let policy = self.policy.in_force(&tools, &self.catalog)?;
        policy.check_sandbox(sandbox, given)?;
        policy.print_notes();
        Ok(Bench { workdir, tools, policy, sandbox, state: Arc::clone(state), servers })
    }
}
