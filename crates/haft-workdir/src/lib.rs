//! A rooted file tree that cannot be left.
//!
//! A model names files by text, and text can name anything: `../../etc/passwd`, an absolute path, a symbolic link that
//! someone put into the project. This crate turns such text into a place inside one directory, or says why not, and
//! works on that place in a way that no later change of the tree can bend.
//!
//! # How the types fit
//!
//! A [`Workdir`] is a directory that the host chose, opened once as a handle. Nothing in this crate looks up a host path
//! after that, so renaming the directory, or putting another in its place, changes nothing for whoever holds it.
//!
//! [More directories](Workdir::with_root) can be added as roots, to be read and written or only read.
//!
//! A [`WorkdirPath`] is a place in that tree, in one spelling: relative, `/` between the names, no `.`, no `..`, no
//! symbolic link on the way. It cannot be made from text except by [`Workdir::resolve`], which follows the links there
//! are and refuses the ways out, each with its own [`ResolveError`]. Since there is one spelling, two calls that mean
//! the same file have equal paths, and a rule about `src` covers every way to say it.
//!
//! Resolving and operating are two steps because something happens between them: the path is what a permission is
//! asked for, what calls are ordered by and what a person is shown. The second step must therefore mean the very same
//! place. It does, because no operation follows a symbolic link, in any part of the path: if a directory has become a
//! link since, even one that stays inside, the answer is [`Error::Changed`] and not another file.
//!
//! ```text
//!  model's text ── Workdir::resolve ──▶ WorkdirPath ──▶ open_file  read  write_atomic  rename  …
//!  "./lib/../a"    follows links inside   "a"    │       from the root's handle, following no link
//!                                                └────▶ permission, ordering, what is shown
//! ```
//!
//! A [`Walk`] lists a tree under the same promise, honouring ignore files, and a [`WalkDirectory`] lets the caller choose
//! the order and the threads; [`Workdir::near_names`] finds what a path
//! that does not exist was probably meant to be.
//!
//! Changes that a call makes together go through an [`OpenChangeSet`]: all of them are made or none, and where the
//! `Workdir` has a [`ChangeJournal`], they are taken back after a crash and can be undone later ([`UndoPlan`]).
//!
//! Every error has two texts: `Display` for the host, with the cause as its source, and `model_text` for the model, with
//! the next step and without host paths.
//!
//! # Example
//!
//! ```
//! use haft_workdir::{Error, Existing, Workdir};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let project = scratch.path();
//! # std::fs::create_dir(project.join("src"))?;
//! # std::fs::write(project.join("README.md"), "old")?;
//! let workdir = Workdir::open(project)?;
//!
//! // All that a model may write for one file is one path.
//! let readme = workdir.resolve("README.md")?;
//! assert_eq!(workdir.resolve("./src/..//README.md")?, readme);
//! assert_eq!(workdir.resolve(&format!("{}/README.md", project.display()))?, readme);
//! assert_eq!(workdir.read(&readme, 64 * 1024)?, b"old");
//!
//! // A file in a directory that does not exist yet.
//! let page = workdir.resolve("docs/guide/start.md")?;
//! if let Some(directory) = page.parent() {
//!     let created = workdir.create_dir_all(&directory)?;
//!     assert_eq!(created.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["docs", "docs/guide"]);
//! }
//! workdir.write_atomic(&page, b"Start here.", Existing::Refuse)?;
//!
//! // The file becomes a link to the outside between the two steps.
//! std::fs::remove_file(project.join("README.md"))?;
//! std::os::unix::fs::symlink("/etc/passwd", project.join("README.md"))?;
//! assert!(matches!(workdir.read(&readme, 64 * 1024), Err(Error::Changed { .. })));
//! assert_eq!(
//!     workdir.resolve("README.md").unwrap_err().model_text(),
//!     "the path `README.md` goes through the symbolic link `README.md`, which leads out of the working directory; \
//!      use a path inside it that does not go through this link",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a place is looked up
//!
//! On Linux the kernel does it: `openat2` with `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS` and `RESOLVE_NO_MAGICLINKS`.
//! Where it is missing or filtered, and on other Unix systems, each component is opened from the one before it without
//! following links. The crate needs Unix and is empty elsewhere.
//!
//! The contract of haft names `cap-std` for systems other than Linux. It is not used, for three reasons. A `cap_std::fs::Dir`
//! follows links that stay inside, anew at each operation, and can be told not to for the last name of a path alone; here links are followed once, when a
//! path is resolved, and an operation on the path that was decided about follows none. What is needed beside opening (`renameat2`
//! that replaces nothing, extended attributes and owners by handle, advisory locks, flushing a directory) is asked of the system
//! through `rustix` in any case, so that `cap-std` would stand beside it and not in its place. And the walk without `openat2` is
//! the same code on every system, so that Linux tests it (`tests/it/filtered.rs`, where a filter takes `openat2` away) and not only
//! the machines of those who have another one.
//!
//! # What it does not do
//!
//! - It does not confine other processes, and a child process that is given [`Workdir::root_path`] is not confined.
//! - It does not know where a hard link or a mount inside the root has its content from: both are files of the tree.
//! - It does not stop a directory from being moved out of the root by someone else while it is in use; an operation
//!   that has it open ends where it began.
//! - File names that are not UTF-8 can be seen in a listing, but not opened.
//! - It orders two writers of one file only if both hold its [lock](Workdir::lock); otherwise each write is whole, and the
//!   last one stays.

#![cfg(unix)]

mod advisory_lock;
mod at_hand;
mod attributes;
mod changes;
mod error;
mod handle;
mod holds;
mod identity;
mod ignore_rules;
mod in_place;
mod leftovers;
mod listing;
mod lock;
mod manage;
mod metadata;
mod near;
mod path;
mod platform;
mod resolve;
mod resolve_error;
mod roots;
mod shown;
mod temporary;
mod unread_rules;
mod walk;
mod walk_directory;
mod workdir;
mod write;

pub use crate::changes::{
    ChangeJournal, ChangeJournalError, ChangeLimits, ChangeOrigin, ChangeSet, ChangeSetId, ChangeStep,
    ChangedRun, Conflict, ConflictKind, ContentDigest, ContentDigestError, Expected, FileAttributes,
    Finished, MemoryChanges, NewFile, OpenChangeSet, PathState, Recovered, RecoveryLock, SetEnd, SetStart,
    SetState, UndoEffect, UndoError, UndoPlan, Undone,
};
pub use crate::error::Error;
pub use crate::listing::DirEntry;
pub use crate::lock::FileLocks;
pub use crate::metadata::{EntryKind, Metadata, SpecialKind};
pub use crate::path::WorkdirPath;
pub use crate::resolve_error::ResolveError;
pub use crate::roots::RootAccess;
pub use crate::shown::Shown;
pub use crate::unread_rules::UnreadRules;
pub use crate::walk::{Skipped, Walk, WalkEntry, WalkError, WalkOptions};
pub use crate::walk_directory::{ListedEntry, PassedOver, WalkDirectory, WalkListing};
pub use crate::workdir::Workdir;
pub use crate::write::{Existing, Written};
