//! Reads agents from Markdown files with front matter, in the format that people use for them already.

mod directory;
mod error;
mod front_matter;
mod keys;
mod named_tools;
mod note;
mod quoting;
mod tool_terms;
mod yaml;

pub use directory::{AgentDirectory, AgentFiles};
pub use error::AgentFileError;
pub use note::{FileNote, NoteKind};

use crate::AgentSpec;
use named_tools::NamedTool;
use std::sync::Arc;

/// The largest file that is read, in bytes.
const MOST_BYTES: usize = 256 * 1024;

/// Holds an agent that was read from a file, and what has to be known about how it was read.
///
/// The front matter has the keys of the format that other programs use for their agents (`name`, `description`, `tools`,
/// `disallowedTools`, `model`, `permissionMode`, `maxTurns`) and some of haft's own (`mode`, `limits`, `context`, `output`,
/// `isolation`); what stands below it is what the agent is told. Names of tools of that format are taken for those of haft that
/// do the same. Whatever was mapped, or means nothing here, is [noted](Self::notes); a restriction that cannot be kept is an
/// error, and so is a key that is not known.
///
/// ```
/// use haft_subagents::AgentFile;
///
/// let text = "---\nname: reader\ndescription: Finds things.\ntools: Read, Grep\n---\nYou look for code.\n";
/// let file = AgentFile::parse(text, "agents/reader.md")?;
/// assert_eq!(file.spec.tools.to_string(), "read_file, grep");
/// assert_eq!(file.notes[0].to_string(), "agents/reader.md:4: `Read` in `tools` is `read_file` here");
/// # Ok::<(), haft_subagents::AgentFileError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentFile {
    /// The agent.
    pub spec: AgentSpec,
    /// What was mapped, left out or read in another way than it is written, in the order of the file.
    pub notes: Vec<FileNote>,
    /// What the file is called, for people.
    pub source: Arc<str>,
    named: Vec<NamedTool>,
}

impl AgentFile {
    /// Reads the text of a file of that name, of at most 256 KiB.
    ///
    /// The name is for people alone: nothing is opened.
    ///
    /// # Errors
    ///
    /// When there is no front matter, it is not YAML, or a key of it is missing, unknown, of another type, or says something that
    /// cannot be kept; says which, where it stands, and what to write instead.
    pub fn parse(text: &str, source: &str) -> Result<Self, AgentFileError> {
        if text.len() > MOST_BYTES {
            return Err(AgentFileError::TooLarge { file: source.into(), most: MOST_BYTES });
        }
        let text = front_matter::normalized(text);
        let parts = front_matter::split(&text, source)?;
        let read = yaml::read(parts.front, source)?;
        let (spec, notes, named) = keys::spec(read, &parts, source)?;
        Ok(Self { spec, notes, source: source.into(), named })
    }
}

impl AgentSpec {
    /// Reads an agent from the text of a Markdown file of that name; see [`AgentFile::parse`], which also gives what was noted.
    ///
    /// # Errors
    ///
    /// As for [`AgentFile::parse`].
    pub fn from_markdown(text: &str, source: &str) -> Result<Self, AgentFileError> {
        AgentFile::parse(text, source).map(|file| file.spec)
    }
}

#[cfg(test)]
mod tests;
