//! The tools that this command brings itself.

use crate::config::catalog;
use crate::sandbox;
use crate::scripts::Scripts;
use anyhow::Result;
use haft::agent::{ask_user, update_plan};
use haft::http::AddressPolicy;
use haft::policy::SandboxMode;
use haft::search::Outline;
use haft::shell::{Bash, CommandCatalog, Environment, Jobs};
use haft::web::WebFetch;
use haft::{OutputStore, ReadOutput, Redactor, ToolRegistry, Workdir};
use std::sync::Arc;

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
    registry_by(workdir, configured(bash.catalog(catalog(workdir)?)))
}

/// Gathers the tools that the command offers, with `bash` as it was configured.
fn registry_by(workdir: &Workdir, bash: Bash) -> Result<ToolRegistry> {
    let tools = haft::default_tools_and(workdir, bash)?;
    with_web(&tools.with(Outline::new(workdir.clone()))?)
}

/// Adds what reads the web: its public part, whatever a rule lets be connected to.
fn with_web(tools: &ToolRegistry) -> Result<ToolRegistry> {
    Ok(tools.with(WebFetch::held_to(AddressPolicy::public()))?)
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
    Ok(tools.with(ReadOutput::new(Arc::clone(outputs)))?.with(ask_user())?.with(update_plan())?)
}

/// Gathers the tools that runs have, for whoever reads rules about them.
pub(crate) fn registry_of_runs(workdir: &Workdir) -> Result<ToolRegistry> {
    registry_of_run(workdir, &Scripts::new(&Redactor::new())?, SandboxMode::Off)
}

/// Gathers the tools that runs would have by another catalog of commands.
pub(crate) fn registry_of_runs_by(workdir: &Workdir, catalog: CommandCatalog) -> Result<ToolRegistry> {
    let Scripts { jobs, outputs, .. } = &Scripts::new(&Redactor::new())?;
    let bash = Bash::new(workdir.clone(), environment()).catalog(catalog).jobs(jobs);
    with_those_of_runs(registry_by(workdir, bash)?, jobs, outputs)
}
