use crate::exit::UsageError;
use anyhow::{Context as _, Result};
use haft::shell::Environment;
use haft::{CallScope, LocalOutputs, RunId, ToolRegistry, Workdir, read_output};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Opens the directory the tools work in.
pub(crate) fn workdir(path: Option<&Path>) -> Result<Workdir> {
    let path = path.unwrap_or(Path::new("."));
    Workdir::open(path).with_context(|| {
        UsageError(format!("cannot work in `{}`; name an existing directory with --workdir", path.display()))
    })
}

/// Gathers the tools that the command offers.
pub(crate) fn registry(workdir: &Workdir) -> Result<ToolRegistry> {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(haft::default_tools_with(workdir, &Environment::from_vars(variables))?)
}

/// Gathers the tools that a run has: those that the command offers, and the one that reads what was cut.
pub(crate) fn registry_of_runs(workdir: &Workdir) -> Result<ToolRegistry> {
    Ok(registry(workdir)?.with(read_output(Arc::new(LocalOutputs::in_memory())))?)
}

/// Names a run by the time it starts and the process it runs in.
pub(crate) fn scope() -> Result<CallScope> {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let id: RunId = format!("run-{:x}-{:x}", since_epoch.as_millis(), std::process::id()).parse()?;
    Ok(CallScope::new(id))
}
