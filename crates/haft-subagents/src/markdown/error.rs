use haft_core::Visible;
use std::io;

/// Cuts what a file says to what is worth repeating, on one line.
pub(super) fn shown(text: &str) -> String {
    cut(text, 80)
}

/// Cuts a reason that somebody else gives, on one line.
pub(super) fn reason(text: &str) -> String {
    cut(text, 400)
}

fn cut(text: &str, most: usize) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(most).collect();
    let dots = if characters.next().is_some() { "…" } else { "" };
    format!("{}{dots}", Visible::line(&start))
}

/// Says why no agent could be read from a file: where, and what to do about it.
///
/// ```
/// use haft_subagents::AgentFile;
///
/// let error = AgentFile::parse("You look for code.\n", "agents/reader.md").unwrap_err();
/// assert!(error.to_string().starts_with("`agents/reader.md` has no front matter"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentFileError {
    /// The file or directory cannot be read.
    #[error("cannot read `{file}`")]
    Read {
        /// What it is called, for people.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The file is no file of its own.
    #[error("`{file}` is {what}; put the file itself there")]
    NotAFile {
        /// What it is called, for people.
        file: String,
        /// What it is instead.
        what: &'static str,
    },
    /// The file is larger than is read.
    #[error("`{file}` has more than {most} bytes; shorten what the agent is told")]
    TooLarge {
        /// What it is called, for people.
        file: String,
        /// The most bytes.
        most: usize,
    },
    /// There are more files than are read.
    #[error(
        "`{directory}` holds more than {most} files of agents, or too many levels; move what is not an agent out of it"
    )]
    TooMany {
        /// What the directory is called, for people.
        directory: String,
        /// The most files.
        most: usize,
    },
    /// The file does not begin with front matter.
    #[error(
        "`{file}` has no front matter; begin it with a line `---`, then `name: …` and `description: …`, then a line `---`"
    )]
    NoFrontMatter {
        /// What it is called, for people.
        file: String,
    },
    /// The front matter does not end.
    #[error("the front matter of `{file}` does not end; put a line `---` below its last key")]
    Unterminated {
        /// What it is called, for people.
        file: String,
    },
    /// The front matter is not YAML, or not such as is read.
    #[error("{file}:{line}: the front matter cannot be read: {reason}")]
    Syntax {
        /// What the file is called, for people.
        file: String,
        /// The line, 1-based.
        line: usize,
        /// Why, and what to write instead.
        reason: String,
    },
    /// A key says something that cannot be, or cannot be kept.
    #[error("{file}:{line}: `{key}` {reason}")]
    Key {
        /// What the file is called, for people.
        file: String,
        /// The line, 1-based.
        line: usize,
        /// The key.
        key: String,
        /// What is wrong with it, and what to write instead.
        reason: String,
    },
    /// Two files of one directory are agents of the same name.
    #[error("`{first}` and `{second}` are both agents of the name `{name}`; rename one of them")]
    Twice {
        /// The name.
        name: String,
        /// The first file, as it is called for people.
        first: String,
        /// The second.
        second: String,
    },
}
