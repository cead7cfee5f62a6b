use haft_tool_shell::{Bash, Environment};
use haft_tools_core::{RegistryError, Scheme, Tool, ToolRegistry};
use haft_workdir::Workdir;
use std::sync::Arc;

/// The scheme of the files below a working directory, for rules about them.
pub const FILE: Scheme = Scheme::new("file");

/// Makes a registry of all built-in tools over one working directory.
///
/// `bash` gets the smallest environment there is; use [`default_tools_with`] to give it another.
///
/// ```
/// # let project = tempfile::tempdir()?;
/// let workdir = haft::Workdir::open(project.path())?;
/// let registry = haft::default_tools(&workdir)?;
/// assert!(["bash", "edit_file", "grep", "read_file"].iter().all(|name| registry.get(name).is_some()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When the tools cannot be put into one registry, which their own tests rule out.
pub fn default_tools(workdir: &Workdir) -> Result<ToolRegistry, RegistryError> {
    default_tools_with(workdir, &Environment::minimal())
}

/// Makes a registry of all built-in tools, with the environment that `bash` runs its commands in.
///
/// ```
/// use haft::shell::Environment;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use haft_testkit::call;
/// # let project = tempfile::tempdir()?;
/// # let workdir = haft::Workdir::open(project.path())?;
/// let environment = Environment::minimal().with("STAGE", "test")?;
/// let registry = haft::default_tools_with(&workdir, &environment)?;
/// let reply = call(&registry, "bash", serde_json::json!({ "command": "echo on $STAGE" })).await;
/// assert_eq!(reply.output.to_text(), "on test\n[exit code 0]");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As for [`default_tools`].
pub fn default_tools_with(
    workdir: &Workdir,
    environment: &Environment,
) -> Result<ToolRegistry, RegistryError> {
    default_tools_and(workdir, Bash::new(workdir.clone(), environment.clone()))
}

/// Makes a registry of all built-in tools, with `bash` as it was configured, and `run_program` in the same surroundings; if it has
/// [jobs](haft_tool_shell::Bash::jobs), the tools for these are to be added.
///
/// With a catalog that knows a program of the project's, by which commands are decided:
///
/// ```
/// use haft::shell::{Bash, CommandCatalog, Environment};
///
/// # let project = tempfile::tempdir()?;
/// # let workdir = haft::Workdir::open(project.path())?;
/// let catalog = CommandCatalog::built_in().extended("[check-styles]\noperands = 'read*'")?;
/// let bash = Bash::new(workdir.clone(), Environment::minimal()).catalog(catalog);
/// let registry = haft::default_tools_and(&workdir, bash)?;
/// assert!(registry.get("bash").is_some() && registry.get("run_program").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As for [`default_tools`].
pub fn default_tools_and(workdir: &Workdir, bash: Bash) -> Result<ToolRegistry, RegistryError> {
    let files = haft_tool_fs::tools(workdir);
    let search = haft_tool_search::tools(workdir);
    let program = bash.program();
    let shell: [Arc<dyn Tool>; 2] = [Arc::new(bash), Arc::new(program)];
    ToolRegistry::of(files.into_iter().chain(search).chain(shell))
}

/// Makes a registry of all built-in tools, in which the commands of `bash` are confined.
///
/// The [protected places](haft_tool_fs::protected_places) are read only for them, too.
///
/// ```
/// use haft::shell::{Environment, ShellSandbox};
///
/// # let project = tempfile::tempdir()?;
/// let workdir = haft::Workdir::open(project.path())?;
/// let registry = haft::default_tools_in_sandbox(&workdir, &Environment::minimal(), ShellSandbox::prefer())?;
/// // The model is told that its commands are confined.
/// let bash = registry.get("bash").ok_or("it is one of them")?;
/// assert!(bash.description().contains("A sandbox confines it"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As for [`default_tools`].
#[cfg(feature = "sandbox")]
pub fn default_tools_in_sandbox(
    workdir: &Workdir,
    environment: &Environment,
    sandbox: haft_tool_shell::ShellSandbox,
) -> Result<ToolRegistry, RegistryError> {
    default_tools_and(workdir, bash_in_sandbox(workdir, environment, sandbox))
}

/// Makes `bash` in a sandbox in which the [protected places](haft_tool_fs::protected_places) are read only.
///
/// ```
/// use haft::shell::{Environment, Jobs, ScriptOutputs, ShellSandbox};
///
/// # let project = tempfile::tempdir()?;
/// # let workdir = haft::Workdir::open(project.path())?;
/// # let outputs = tempfile::tempdir()?;
/// // As part of a registry that has more than `default_tools_in_sandbox` gives.
/// let jobs = Jobs::new(ScriptOutputs::spilling_into(outputs.path()));
/// let bash = haft::bash_in_sandbox(&workdir, &Environment::minimal(), ShellSandbox::prefer()).jobs(&jobs);
/// let registry = haft::default_tools_and(&workdir, bash)?;
/// assert!(registry.get("bash").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "sandbox")]
pub fn bash_in_sandbox(
    workdir: &Workdir,
    environment: &Environment,
    sandbox: haft_tool_shell::ShellSandbox,
) -> Bash {
    let places = haft_tool_fs::protected_places().iter().filter(|place| place.covers_tree());
    let sandbox = places.fold(sandbox, |sandbox, place| sandbox.protect(place.pattern()));
    Bash::new(workdir.clone(), environment.clone()).sandbox(sandbox)
}
