//! Sub-agents: delegation to runs that cannot exceed their parent, over any agent loop.
//!
//! An [`AgentSpec`] says what an agent is there for, which tools it has, and what it may spend; it is written in code, or in
//! Markdown with front matter.

mod markdown;
mod report;
mod result;
mod spec;

pub use markdown::{AgentDirectory, AgentFile, AgentFileError, AgentFiles, FileNote, NoteKind};
pub use report::report;
pub use result::{ExpectedResult, InvalidOutputSchema, Unfit};
pub use spec::{AgentSpec, Isolation, Share};
