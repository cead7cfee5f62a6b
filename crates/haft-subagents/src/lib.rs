//! Sub-agents: delegation to runs that cannot exceed their parent, over any agent loop.
//!
//! An [`AgentSpec`] says what an agent is there for, which tools it has, and what it may spend; it is written in code, or in
//! Markdown with front matter.

mod isolation;
mod spec;

pub use isolation::{
    ApplyChanges, ChangesError, FileChange, KeptChanges, LeftOut, Patch, PatchFile, Placed, ShowChanges,
    Workplace, WorkplaceError, Workplaces, take_changes,
};
#[cfg(all(unix, feature = "worktrees"))]
pub use isolation::{PlaceLimits, Worktrees};
pub use spec::{AgentSpec, Isolation, Share};
