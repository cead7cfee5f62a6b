use haft_tool_shell::Environment;
use haft_tools_core::{RegistryError, Scheme, ToolRegistry};
use haft_workdir::Workdir;

/// The scheme of the files below a working directory, for rules about them.
pub const FILE: Scheme = Scheme::new("file");

/// Makes a registry of all built-in tools over one working directory.
///
/// `bash` gets the smallest environment there is; use [`default_tools_with`] to give it another.
///
/// # Errors
///
/// When the tools cannot be put into one registry, which their own tests rule out.
pub fn default_tools(workdir: &Workdir) -> Result<ToolRegistry, RegistryError> {
    default_tools_with(workdir, &Environment::minimal())
}

/// Makes a registry of all built-in tools, with the environment that `bash` runs its commands in.
///
/// # Errors
///
/// As for [`default_tools`].
pub fn default_tools_with(
    workdir: &Workdir,
    environment: &Environment,
) -> Result<ToolRegistry, RegistryError> {
    let files = haft_tool_fs::tools(workdir);
    let search = haft_tool_search::tools(workdir);
    let shell = haft_tool_shell::tools(workdir, environment);
    ToolRegistry::of(files.into_iter().chain(search).chain(shell))
}
