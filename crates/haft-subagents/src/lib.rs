//! Sub-agents: delegation to runs that cannot exceed their parent, over any agent loop.
//!
//! An [`AgentSpec`] says what an agent is there for, which tools it has, and what it may spend; it is written in code, or in
//! Markdown with front matter. A [`Supervisor`] gives the tools by which a model delegates to agents, and starts their runs;
//! a [`Runner`] drives them.

mod agent_runner;
mod isolation;
mod limits;
mod markdown;
mod record;
mod result;
mod runner;
mod spec;
mod store;
mod supervisor;
mod tools;

pub use agent_runner::AgentRunner;
pub use isolation::{
    ApplyChanges, ChangesError, FileChange, KeptChanges, LeftOut, Patch, PatchFile, Placed, ShowChanges,
    Workplace, WorkplaceError, Workplaces, take_changes,
};
#[cfg(all(unix, feature = "worktrees"))]
pub use isolation::{PlaceLimits, Worktrees};
pub use limits::SpawnLimits;
pub use markdown::{AgentDirectory, AgentFile, AgentFileError, AgentFiles, FileNote, NoteKind};
pub use record::{ChildEnd, ChildRecord, ChildResult, ChildStatus};
pub use result::{ExpectedResult, InvalidOutputSchema, Unfit};
pub use runner::{ChildMeter, ChildOutcome, ChildRun, Runner};
pub use spec::{AgentSpec, Isolation, Share};
pub use store::{ChildMemory, ChildStore, MemoryChildren};
pub use supervisor::{Supervisor, SupervisorBuilder};
