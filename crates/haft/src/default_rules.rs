use haft_policy::HostPatterns;
use haft_tool_fs::PathPatterns;
use haft_tool_shell::CommandPatterns;
use haft_tools_core::{AccessMode, PatternError, RuleLanguage};
use haft_workdir::Workdir;
use std::path::Path;

/// The language that rules over files, commands and hosts are written in.
///
/// Patterns of `read(..)` and `write(..)` are those of [`PathPatterns`] below the working directory, those of `exec(..)`
/// are those of [`CommandPatterns`], and those of `connect(..)` those of [`HostPatterns`].
///
/// ```
/// use haft::DefaultRules;
///
/// # let project = tempfile::tempdir()?;
/// let workdir = haft::Workdir::open(project.path())?;
/// let language = DefaultRules::new(&workdir).language();
/// assert!(language.rule("write(src/**)").is_ok());
/// assert!(language.rule("exec(git diff *)").is_ok());
/// // Whose home it would be was not said.
/// assert!(language.rule("write(~/notes/**)").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "it makes a language only when `language` is called"]
pub struct DefaultRules {
    reading: PathPatterns,
    writing: PathPatterns,
    commands: CommandPatterns,
}

impl DefaultRules {
    /// Takes the working directory that relative paths are below.
    ///
    /// ```
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// let language = haft::DefaultRules::new(&workdir).language();
    /// assert!(language.rule("read(docs/**)").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(workdir: &Workdir) -> Self {
        let root = workdir.root_path();
        Self {
            reading: PathPatterns::for_reading().root(root),
            writing: PathPatterns::for_writing().root(root),
            commands: CommandPatterns::new(),
        }
    }

    /// Sets what `~` stands for, a directory without symbolic links; without, patterns with `~` are refused.
    ///
    /// ```
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// let language = haft::DefaultRules::new(&workdir).home("/home/ann").language();
    /// assert!(language.rule("write(~/notes/**)").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn home(mut self, home: impl AsRef<Path>) -> Self {
        self.reading = self.reading.home(home.as_ref());
        self.writing = self.writing.home(home.as_ref());
        self
    }

    /// Adds a place that no wildcard opens for writing, with all below it, such as where the host keeps its policy.
    ///
    /// ```
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// let rules = haft::DefaultRules::new(&workdir).protect("/etc/gardener")?;
    /// assert!(rules.language().rule("write(src/**)").is_ok());
    ///
    /// // A place has to be told as the file system has it.
    /// assert!(haft::DefaultRules::new(&workdir).protect("gardener.toml").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the place is not an absolute path in UTF-8, or is the working directory; a place above it protects only what
    /// lies outside. Symbolic links are not followed: give the path without.
    pub fn protect(mut self, place: impl AsRef<Path>) -> Result<Self, PatternError> {
        self.writing = self.writing.protect_path(place)?;
        Ok(self)
    }

    /// Sets how rules about commands are read, such as by a catalog of the host's; `bash` should go by the same.
    ///
    /// ```
    /// use haft::shell::{CommandCatalog, CommandPatterns};
    ///
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// let catalog = CommandCatalog::built_in().extended("[check-styles]\noperands = 'read*'")?;
    /// let commands = CommandPatterns::new().catalog(catalog);
    /// let language = haft::DefaultRules::new(&workdir).commands(commands).language();
    /// assert!(language.rule("exec(check-styles *)").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn commands(mut self, commands: CommandPatterns) -> Self {
        self.commands = commands;
        self
    }

    /// Makes the language.
    ///
    /// ```
    /// # let project = tempfile::tempdir()?;
    /// # let workdir = haft::Workdir::open(project.path())?;
    /// let language = haft::DefaultRules::new(&workdir).language();
    /// assert!(language.rule("connect(api.example.com)").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn language(self) -> RuleLanguage {
        RuleLanguage::new()
            .with(AccessMode::Read, self.reading)
            .with(AccessMode::Write, self.writing)
            .with(AccessMode::Execute, self.commands)
            .with(AccessMode::Connect, HostPatterns)
    }
}
