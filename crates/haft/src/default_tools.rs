use haft_tool_shell::{Bash, Environment};
use haft_tools_core::{RegistryError, Scheme, Tool, ToolRegistry};
use haft_workdir::Workdir;
use std::sync::Arc;

/// The scheme of the files below a working directory, for rules about them.
pub const FILE: Scheme = Scheme::new("file");

/// Makes a registry of all built-in tools over one working directory.
///
/// `bash` gets the smallest environment there is, and no sandbox; use [`DefaultTools`] to have it otherwise.
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
    DefaultTools::new(workdir).registry()
}

/// All built-in tools over one working directory, as a host wants them.
///
/// ```
/// use haft::DefaultTools;
/// use haft::shell::{CommandCatalog, Environment};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use haft_testkit::call;
/// # let project = tempfile::tempdir()?;
/// # let workdir = haft::Workdir::open(project.path())?;
/// // A program of the project's, by which commands are decided, and a variable that they see.
/// let catalog = CommandCatalog::built_in().extended("[check-styles]\noperands = 'read*'")?;
/// let registry = DefaultTools::new(&workdir)
///     .environment(Environment::minimal().with("STAGE", "test")?)
///     .bash(|bash| bash.catalog(catalog))
///     .registry()?;
/// let reply = call(&registry, "bash", serde_json::json!({ "command": "echo on $STAGE" })).await;
/// assert_eq!(reply.output.to_text(), "on test\n[exit code 0]");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "it makes tools only when `registry` is called"]
pub struct DefaultTools {
    workdir: Workdir,
    bash: Bash,
}

impl DefaultTools {
    /// Takes the working directory that they all work in.
    ///
    /// ```
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// let registry = haft::DefaultTools::new(&workdir).registry()?;
    /// assert!(registry.get("run_program").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(workdir: &Workdir) -> Self {
        let bash = Bash::new(workdir.clone(), Environment::minimal());
        Self { workdir: workdir.clone(), bash }
    }

    /// Sets the environment of commands; without, it is [`Environment::minimal`].
    ///
    /// ```
    /// use haft::shell::Environment;
    ///
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// let environment = Environment::minimal().with("STAGE", "test")?;
    /// let registry = haft::DefaultTools::new(&workdir).environment(environment).registry()?;
    /// assert!(registry.get("bash").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn environment(self, environment: Environment) -> Self {
        self.bash(|bash| bash.environment(environment))
    }

    /// Confines commands to a sandbox, in which the [protected places](haft_tool_fs::protected_places) are read only, save those
    /// that git has to write.
    ///
    /// ```
    /// use haft::shell::ShellSandbox;
    ///
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// let registry = haft::DefaultTools::new(&workdir).sandbox(ShellSandbox::prefer()).registry()?;
    /// // The model is told that its commands are confined.
    /// let bash = registry.get("bash").ok_or("it is one of them")?;
    /// assert!(bash.description().contains("A sandbox confines it"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "sandbox")]
    pub fn sandbox(self, sandbox: haft_tool_shell::ShellSandbox) -> Self {
        let places = haft_tool_fs::protected_places().iter();
        let places = places.filter(|place| place.covers_tree() && !place.is_versioned());
        let sandbox = places.fold(sandbox, |sandbox, place| sandbox.protect(place.pattern()));
        self.bash(|bash| bash.sandbox(sandbox))
    }

    /// Changes `bash` by its own settings; what is set holds for `run_program`, too.
    ///
    /// If it gets [jobs](haft_tool_shell::Bash::jobs), the tools for these are to be added to the registry.
    ///
    /// ```
    /// use haft::shell::{Jobs, ScriptOutputs};
    ///
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// # let outputs = tempfile::tempdir()?;
    /// let jobs = Jobs::new(ScriptOutputs::spilling_into(outputs.path()));
    /// let registry = haft::DefaultTools::new(&workdir).bash(|bash| bash.jobs(&jobs)).registry()?;
    /// assert!(registry.get("bash").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bash(mut self, change: impl FnOnce(Bash) -> Bash) -> Self {
        self.bash = change(self.bash);
        self
    }

    /// Makes a registry of the tools.
    ///
    /// ```
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// let registry = haft::DefaultTools::new(&workdir).registry()?;
    /// assert!(registry.get("edit_file").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the tools cannot be put into one registry, which their own tests rule out.
    pub fn registry(self) -> Result<ToolRegistry, RegistryError> {
        let files = haft_tool_fs::tools(&self.workdir);
        let search = haft_tool_search::tools(&self.workdir);
        let program = self.bash.program();
        let shell: [Arc<dyn Tool>; 2] = [Arc::new(self.bash), Arc::new(program)];
        ToolRegistry::of(files.into_iter().chain(search).chain(shell))
    }
}
