use haft_policy::HostPatterns;
use haft_tool_fs::PathPatterns;
use haft_tool_shell::CommandPatterns;
use haft_tools_core::{AccessMode, PatternError, RuleLanguage};
use haft_workdir::Workdir;
use std::path::Path;

/// Makes the language that rules over files, commands and hosts are written in.
///
/// Patterns of `read(..)` and `write(..)` are those of [`PathPatterns`] below the working directory, those of `exec(..)`
/// are those of [`CommandPatterns`], and those of `connect(..)` those of [`HostPatterns`]. The home directory is what `~` stands
/// for, without symbolic links; where there is none, patterns with it are refused.
///
/// ```
/// # let project = tempfile::tempdir()?;
/// let workdir = haft::Workdir::open(project.path())?;
/// let language = haft::rule_language(&workdir, None);
/// assert!(language.rule("write(src/**)").is_ok());
/// assert!(language.rule("exec(git diff *)").is_ok());
/// assert!(language.rule("write(~/notes/**)").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rule_language(workdir: &Workdir, home: Option<&Path>) -> RuleLanguage {
    of(reading(workdir, home), writing(workdir, home), CommandPatterns::new())
}

/// Makes the language with more places that no wildcard opens for writing, such as where the host keeps its policy.
///
/// The places are absolute paths without symbolic links; all below them is protected too.
///
/// ```
/// # let project = tempfile::tempdir()?;
/// let workdir = haft::Workdir::open(project.path())?;
/// let language = haft::rule_language_with(&workdir, None, ["/etc/gardener"])?;
/// assert!(language.rule("write(src/**)").is_ok());
///
/// // A place has to be told as the file system has it.
/// assert!(haft::rule_language_with(&workdir, None, ["gardener.toml"]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When a place is not an absolute path in UTF-8, or is the working directory; a place above it protects only what lies
/// outside.
pub fn rule_language_with<P: AsRef<Path>>(
    workdir: &Workdir,
    home: Option<&Path>,
    protected: impl IntoIterator<Item = P>,
) -> Result<RuleLanguage, PatternError> {
    rule_language_by(CommandPatterns::new(), workdir, home, protected)
}

/// Makes the language with more places that no wildcard opens for writing, in which rules about commands go by a catalog of
/// the host's; `bash` should go by the same.
///
/// ```
/// use haft::shell::{CommandCatalog, CommandPatterns};
///
/// # let project = tempfile::tempdir()?;
/// # let workdir = haft::Workdir::open(project.path())?;
/// let catalog = CommandCatalog::built_in().extended("[check-styles]\noperands = 'read*'")?;
/// let commands = CommandPatterns::new().catalog(catalog);
/// let language = haft::rule_language_by(commands, &workdir, None, ["/etc/gardener"])?;
/// assert!(language.rule("exec(check-styles *)").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As for [`rule_language_with`].
pub fn rule_language_by<P: AsRef<Path>>(
    commands: CommandPatterns,
    workdir: &Workdir,
    home: Option<&Path>,
    protected: impl IntoIterator<Item = P>,
) -> Result<RuleLanguage, PatternError> {
    let writing = protected.into_iter().try_fold(writing(workdir, home), PathPatterns::protect_path)?;
    Ok(of(reading(workdir, home), writing, commands))
}

fn of(reading: PathPatterns, writing: PathPatterns, commands: CommandPatterns) -> RuleLanguage {
    RuleLanguage::new()
        .with(AccessMode::Read, reading)
        .with(AccessMode::Write, writing)
        .with(AccessMode::Execute, commands)
        .with(AccessMode::Connect, HostPatterns)
}

fn reading(workdir: &Workdir, home: Option<&Path>) -> PathPatterns {
    placed(PathPatterns::for_reading(), workdir, home)
}

fn writing(workdir: &Workdir, home: Option<&Path>) -> PathPatterns {
    placed(PathPatterns::for_writing(), workdir, home)
}

fn placed(patterns: PathPatterns, workdir: &Workdir, home: Option<&Path>) -> PathPatterns {
    let patterns = patterns.root(workdir.root_path());
    match home {
        Some(home) => patterns.home(home),
        None => patterns,
    }
}
