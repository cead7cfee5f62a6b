//! Changes of the tree that are recorded, so that they can be rolled back and undone.
//!
//! An [`OpenChangeSet`] makes changes one after the other and has each recorded before it is made, with what was there. If
//! one fails, those before it are taken back; if the process is killed, the next one that works in the tree takes them back
//! ([`Workdir::recover`](crate::Workdir::recover)). What was finished can be undone later ([`UndoPlan`]).

mod digest;
mod file_attributes;
mod journal;
mod look;
mod memory;
mod new_file;
mod open_set;
mod overlay;
mod put;
mod reach;
mod record;
mod recover;
mod undo;
mod undo_error;

pub use digest::{ContentDigest, ContentDigestError};
pub use file_attributes::FileAttributes;
pub use journal::{
    ChangeJournal, ChangeJournalError, ChangeLimits, ChangedRun, RecoveryLock, SetEnd, SetStart,
};
pub use memory::MemoryChanges;
pub use new_file::{Expected, NewFile};
pub use open_set::{Finished, OpenChangeSet};
pub use record::{ChangeOrigin, ChangeSet, ChangeSetId, ChangeStep, PathState, SetState};
pub use recover::Recovered;
pub use undo::{UndoEffect, UndoPlan, Undone};
pub use undo_error::{Conflict, ConflictKind, UndoError};
