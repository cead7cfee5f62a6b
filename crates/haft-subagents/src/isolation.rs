//! Places of their own for children, and the changes that come back from them.
//!
//! A [`Workplaces`] makes a [`Workplace`] for a child's run: a directory that holds what its parent's holds, with the tools
//! that work in it. When the child is done, what it changed there is a [`Patch`], which is kept in [`KeptChanges`] while the
//! place goes away. The parent looks at it with [`ShowChanges`] and has it applied with [`ApplyChanges`], which is what
//! `apply_patch` does: a person is shown the same diff and asked about the same files.

mod apply_changes;
mod kept_changes;
mod patch;
mod show_changes;
mod workplaces;
#[cfg(all(unix, feature = "worktrees"))]
mod worktrees;

pub use apply_changes::ApplyChanges;
pub use kept_changes::{ChangesError, KeptChanges};
pub use patch::{FileChange, LeftOut, Patch, PatchFile};
pub use show_changes::ShowChanges;
pub use workplaces::{Placed, Workplace, WorkplaceError, Workplaces, take_changes, take_up_changes};
#[cfg(all(unix, feature = "worktrees"))]
pub use worktrees::{PlaceLimits, Worktrees};
