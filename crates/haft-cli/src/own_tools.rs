//! The tools that this command brings itself.

use crate::scripts::Scripts;
use anyhow::Result;
use haft::agent::{ask_user, update_plan};
use haft::http::AddressPolicy;
use haft::search::Outline;
use haft::shell::{Bash, CommandCatalog, Environment, ShellSandbox};
use haft::tools_core::{ReadOutput, Redactor};
use haft::web::WebFetch;
use haft::{DefaultTools, ToolRegistry, Workdir};
use std::sync::Arc;

/// Gathers the tools that the command offers, for whoever reads rules about them or calls another.
pub(crate) fn registry(workdir: &Workdir, catalog: &CommandCatalog) -> Result<ToolRegistry> {
    registry_in(workdir, None, catalog, |bash| bash)
}

/// Gathers the tools that the command offers, with commands confined where there is a sandbox for them.
///
/// How `bash` is configured besides is said by whoever knows what becomes of its scripts.
pub(crate) fn registry_in(
    workdir: &Workdir,
    sandbox: Option<ShellSandbox>,
    catalog: &CommandCatalog,
    configured: impl FnOnce(Bash) -> Bash,
) -> Result<ToolRegistry> {
    let tools = DefaultTools::new(workdir).environment(environment());
    let tools = match sandbox {
        Some(sandbox) => tools.sandbox(sandbox),
        None => tools,
    };
    let tools = tools.bash(|bash| configured(bash.catalog(catalog.clone()))).registry()?;
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

/// Adds the tools that a run has beside those that the command offers: the one that reads what was cut, and those by which a
/// model works with its jobs and turns to people.
pub(crate) fn with_those_of_runs(tools: ToolRegistry, scripts: &Scripts) -> Result<ToolRegistry> {
    let tools = scripts.jobs.tools().into_iter().try_fold(tools, |tools, tool| tools.with(tool))?;
    let outputs = Arc::clone(&scripts.outputs);
    Ok(tools.with(ReadOutput::new(outputs))?.with(ask_user())?.with(update_plan())?)
}

/// Gathers the tools that runs have, for whoever reads rules about them.
pub(crate) fn registry_of_runs(workdir: &Workdir, catalog: &CommandCatalog) -> Result<ToolRegistry> {
    let scripts = Scripts::new(&Redactor::new())?;
    let tools = registry_in(workdir, None, catalog, |bash| bash.jobs(&scripts.jobs))?;
    with_those_of_runs(tools, &scripts)
}
