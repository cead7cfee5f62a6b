use crate::attend::Attended;
use crate::config::{Settings, catalogue};
use crate::exit::UsageError;
use crate::kept_state::KeptState;
use crate::mcp::offered::Offered;
use crate::other_root::OtherRoot;
use crate::person::{Person, Terminal, at_terminal};
use crate::policy_setup::PolicyInForce;
use crate::sandbox;
use crate::scripts::Scripts;
use anyhow::{Context as _, Result};
use haft::agent::{ask_user, update_plan};
use haft::http::AddressPolicy;
use haft::policy::SandboxMode;
use haft::search::Outline;
use haft::shell::{Bash, Catalogue, Environment, Jobs};
use haft::web::WebFetch;
use haft::{
    CallScope, Grants, Journal, LocalExecutor, LocalExecutorBuilder, OutputStore, Redactor, RunId,
    ToolRegistry, Workdir, now_ms, read_output,
};
use std::path::Path;
use std::sync::Arc;

/// Opens the directory the tools work in.
pub(crate) fn workdir(path: Option<&Path>) -> Result<Workdir> {
    let path = path.unwrap_or(Path::new("."));
    let workdir = Workdir::open(path).with_context(|| {
        UsageError(format!(
            "cannot work in `{}`; name an existing directory with `--workdir`",
            path.display()
        ))
    })?;
    name(&workdir)?;
    Ok(workdir)
}

/// Is the directory the tools work in, with what is configured for it.
pub(crate) struct OpenedWorkdir {
    /// The directory, with the others that the tools work in.
    pub(crate) workdir: Workdir,
    /// These others, so that a run that goes on has them again.
    pub(crate) roots: Vec<OtherRoot>,
    pub(crate) config: Settings,
}

impl OpenedWorkdir {
    /// Opens a directory, with the others that are named for this run and those that `haft.toml` names.
    pub(crate) fn of(path: Option<&Path>, named: Vec<OtherRoot>) -> Result<Self> {
        let workdir = workdir(path)?;
        let mut config = Settings::read(&workdir)?;
        let mut roots = OtherRoot::absolute(named)?;
        roots.append(&mut config.roots);
        Ok(Self { workdir: OtherRoot::add(&roots, workdir)?, roots, config })
    }
}

/// Names a directory exactly, so that rules can be about it, and it can be told apart from others.
pub(crate) fn name(workdir: &Workdir) -> Result<&str> {
    let path = workdir.root_path();
    path.to_str().with_context(|| {
        let shown = path.display();
        UsageError(format!(
            "cannot work in `{shown}`, because its path is not UTF-8; rename it, or name another directory with `--workdir`"
        ))
    })
}

/// Gathers the tools that the command offers, for whoever reads rules about them or calls another.
pub(crate) fn registry(workdir: &Workdir) -> Result<ToolRegistry> {
    registry_in(workdir, SandboxMode::Off, |bash| bash)
}

/// Gathers the tools that the command offers, with commands confined as far as is said.
///
/// How `bash` is configured besides is said by whoever knows what becomes of its scripts.
pub(crate) fn registry_in(
    workdir: &Workdir,
    sandbox: SandboxMode,
    configured: impl FnOnce(Bash) -> Bash,
) -> Result<ToolRegistry> {
    let bash = match sandbox::of(sandbox)? {
        Some(sandbox) => haft::bash_in_sandbox(workdir, &environment(), sandbox),
        None => Bash::new(workdir.clone(), environment()),
    };
    registry_by(workdir, configured(bash.catalogue(catalogue(workdir)?)))
}

/// Gathers the tools that the command offers, with `bash` as it was configured.
fn registry_by(workdir: &Workdir, bash: Bash) -> Result<ToolRegistry> {
    let tools = haft::default_tools_and(workdir, bash)?;
    with_web(&tools.with(Outline::new(workdir.clone()))?)
}

/// Adds what reads the web: its public part, whatever a rule lets be connected to.
fn with_web(tools: &ToolRegistry) -> Result<ToolRegistry> {
    Ok(tools.with(WebFetch::within(AddressPolicy::public()))?)
}

/// Gathers the variables that programs are given.
pub(crate) fn environment() -> Environment {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Environment::from_vars(variables)
}

/// Gathers the tools that a run has: those that the command offers, the one that reads what was cut, and those by which a
/// model works with its jobs and turns to people.
pub(crate) fn registry_of_run(
    workdir: &Workdir,
    scripts: &Scripts,
    sandbox: SandboxMode,
) -> Result<ToolRegistry> {
    let Scripts { jobs, outputs, .. } = scripts;
    with_those_of_runs(registry_in(workdir, sandbox, |bash| bash.jobs(jobs))?, jobs, outputs)
}

fn with_those_of_runs(
    tools: ToolRegistry,
    jobs: &Jobs,
    outputs: &Arc<dyn OutputStore>,
) -> Result<ToolRegistry> {
    let tools = jobs.tools().into_iter().try_fold(tools, |tools, tool| tools.with(tool))?;
    Ok(tools.with(read_output(Arc::clone(outputs)))?.with(ask_user())?.with(update_plan())?)
}

/// Gathers the tools that runs have, for whoever reads rules about them.
pub(crate) fn registry_of_runs(workdir: &Workdir) -> Result<ToolRegistry> {
    registry_of_run(workdir, &Scripts::new(&Redactor::new())?, SandboxMode::Off)
}

/// Gathers the tools that runs would have by another catalogue of commands.
pub(crate) fn registry_of_runs_by(workdir: &Workdir, catalogue: Catalogue) -> Result<ToolRegistry> {
    let Scripts { jobs, outputs, .. } = &Scripts::new(&Redactor::new())?;
    let bash = Bash::new(workdir.clone(), environment()).catalogue(catalogue).jobs(jobs);
    with_those_of_runs(registry_by(workdir, bash)?, jobs, outputs)
}

/// Names a run by the time it starts and the process it runs in.
pub(crate) fn scope() -> Result<CallScope> {
    let id: RunId = format!("run-{:x}-{:x}", now_ms(), std::process::id()).parse()?;
    Ok(CallScope::new(id))
}

/// Holds what calls are made with: the directory, the tools, the policy and what is remembered.
pub(crate) struct Bench {
    pub(crate) workdir: Workdir,
    pub(crate) tools: ToolRegistry,
    pub(crate) policy: PolicyInForce,
    /// How far commands are confined.
    pub(crate) sandbox: SandboxMode,
    pub(crate) state: Arc<KeptState>,
    /// The MCP servers that some of the tools are of.
    pub(crate) servers: Offered,
}

impl Bench {
    /// Starts to configure an executor that keeps what waits, remembers what is answered and records both.
    pub(crate) fn executor(&self, approves_all: bool) -> Result<LocalExecutorBuilder> {
        let grants = Grants::kept_in(Arc::clone(&self.state) as _).workspace(name(&self.workdir)?);
        Ok(self
            .policy
            .apply(LocalExecutor::builder(self.tools.clone()))
            .approver(Person::new(approves_all))
            .grants(grants)
            .pending(Arc::clone(&self.state) as _)
            .journal(Journal::new(Arc::clone(&self.state) as _)))
    }

    /// Says who answers what waits.
    pub(crate) fn attended(&self, wait: bool) -> Attended {
        if wait {
            Attended::Elsewhere
        } else if at_terminal() {
            let (policy, mode) = (self.policy.loaded.policy.clone(), self.policy.mode.clone());
            Attended::Here(Box::new(Terminal { policy, mode, tools: self.tools.clone() }))
        } else {
            Attended::Nobody
        }
    }
}
