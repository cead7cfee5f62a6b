use std::fmt;
use std::sync::Arc;

/// Says what has to be known about how a file was read.
///
/// Prints as `agents/reader.md:4: …`.
///
/// ```
/// use haft_subagents::AgentFile;
///
/// let text = "---\nname: reader\ndescription: Finds things.\ntools: Read\n---\nYou look for code.\n";
/// let notes = AgentFile::parse(text, "agents/reader.md")?.notes;
/// assert_eq!((notes[0].line, notes[0].key.as_str()), (4, "tools"));
/// # Ok::<(), haft_subagents::AgentFileError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileNote {
    /// What the file is called, for people.
    pub file: Arc<str>,
    /// The line, 1-based.
    pub line: usize,
    /// The key of the front matter that it is about.
    pub key: String,
    /// What kind of note it is.
    pub kind: NoteKind,
    /// What is to be known, in one sentence.
    pub text: String,
}

/// Says what a note is about.
///
/// ```
/// use haft_subagents::{AgentFile, NoteKind};
///
/// let text = "---\nname: reader\ndescription: Finds things.\ntools: Read\n---\nYou look for code.\n";
/// let notes = AgentFile::parse(text, "agents/reader.md")?.notes;
/// assert_eq!(notes[0].kind, NoteKind::Mapped);
/// # Ok::<(), haft_subagents::AgentFileError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// Something means nothing here, and was left out.
    Ignored,
    /// Something was taken for what does the same here.
    Mapped,
    /// Something is not known, and was taken as it stands.
    Unknown,
    /// Something was read as if it were quoted.
    Quoted,
    /// An agent of the same name in an earlier directory counts in place of this one.
    Shadowed,
}

impl fmt::Display for FileNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}
