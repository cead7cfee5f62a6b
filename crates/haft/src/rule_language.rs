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
    of(reading(workdir, home), writing(workdir, home))
}

/// Makes the language with more places that no wildcard opens for writing, such as where the host keeps its policy.
///
/// The places are absolute paths without symbolic links; all below them is protected too.
///
/// # Errors
///
/// When a place is not an absolute path in UTF-8, or has the whole working directory in it.
pub fn rule_language_with<P: AsRef<Path>>(
    workdir: &Workdir,
    home: Option<&Path>,
    protected: impl IntoIterator<Item = P>,
) -> Result<RuleLanguage, PatternError> {
    let mut patterns = writing(workdir, home);
    for (index, place) in protected.into_iter().enumerate() {
        let literal = literal(place.as_ref()).ok_or_else(|| {
            let shown = place.as_ref().display();
            PatternError::new(
                index,
                0..0,
                format!("`{shown}` is not an absolute path in UTF-8; name one to protect it"),
            )
        })?;
        patterns = patterns.protect(&literal)?;
    }
    Ok(of(reading(workdir, home), patterns))
}

fn of(reading: PathPatterns, writing: PathPatterns) -> RuleLanguage {
    RuleLanguage::new()
        .with(AccessMode::Read, reading)
        .with(AccessMode::Write, writing)
        .with(AccessMode::Execute, CommandPatterns::new())
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

/// Writes a path as the pattern that means it and nothing else.
fn literal(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|_| path.is_absolute())?;
    let mut literal = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '\\') {
            literal.push('\\');
        }
        literal.push(character);
    }
    Some(literal)
}
