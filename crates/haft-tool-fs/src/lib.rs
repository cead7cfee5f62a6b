//! File tools for models: [`ReadFile`], [`WriteFile`], [`EditFile`], [`ApplyPatch`] and [`ListFiles`].
//!
//! Each works in one [`Workdir`](haft_workdir::Workdir) and cannot leave it. Preparing a call resolves the path it
//! names, symbolic links included, and declares what will be read or written: `read file:src/lib.rs`, `write
//! file:src/lib.rs`, `read file:src/**` for a listing. What else a call touches is declared too: directories that a write
//! creates, ignore files above a listing, the directory whose names a reply shows where a path does not exist. Running
//! it works on exactly that place and follows no link that came to be meanwhile.
//!
//! | tool | what it does | what a reply never does |
//! |---|---|---|
//! | `read_file` | numbered lines of a text file, a slice at a time | fail because a file is large |
//! | `write_file` | a whole file, atomically, with the directories above it | leave half a file |
//! | `edit_file` | replacements of exact texts, all or none | guess which place was meant |
//! | `apply_patch` | a patch of several files, all or none | apply a part of it |
//! | `list_files` | a directory as a tree with sizes | leave something out without counting it |
//!
//! What a model reads in each case is written down in `tests/cases`, page by page. Texts name paths as the model
//! knows them, never those of the host, and say what to do next.
//!
//! ```
//! use haft_core::{ToolCall, ToolError};
//! use haft_tools_core::{AccessMode, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme};
//! use haft_tools_core::{ToolExecutor as _, ToolRegistry};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let tree = haft_testkit::Tree::new().file("src/lib.rs", "//! A library.\n");
//! # let workdir = tree.workdir();
//! // `workdir` is a `haft_workdir::Workdir`.
//! let registry = ToolRegistry::of(haft_tool_fs::tools(&workdir))?;
//! let everything = Resource::subtree(Scheme::new("file"), "");
//! let executor = LocalExecutor::builder(registry)
//!     .policy(Policy::new().allow(Rule::access(AccessMode::Read, everything)))
//!     .build();
//!
//! let call = ToolCall::new("c1".parse()?, "read_file", json!({ "path": "src/lib.rs" }));
//! let outcome = executor.execute_batch(Batch::new(CallScope::new("run-1".parse()?), vec![call])).await;
//! assert_eq!(outcome.into_replies()?[0].output.to_text(), "src/lib.rs: 1 line, 15 bytes\n1\t//! A library.");
//! # Ok(())
//! # }
//! ```
//!
//! [`PathPatterns`] reads the patterns of `read(..)` and `write(..)` rules, and [`protected_places`] lists what no wildcard
//! opens for writing.
//!
//! The crate needs Unix, as `haft-workdir` does, and is empty elsewhere.

#![cfg(unix)]

#[cfg(test)]
#[global_allocator]
static ALLOCATOR: haft_testkit::counting::Counting = haft_testkit::counting::Counting;

mod apply_patch;
mod blocking;
mod commit;
mod diff;
mod digest;
mod edit_file;
mod encoding;
mod failure;
mod file_tools;
mod hints;
mod lines;
mod list_files;
#[cfg(feature = "manage")]
mod manage;
mod origin;
mod path_patterns;
mod read_file;
mod resource;
mod text_change;
mod whole;
mod words;
mod write_file;

pub use apply_patch::ApplyPatch;
pub use edit_file::EditFile;
pub use file_tools::tools;
pub use list_files::ListFiles;
#[cfg(feature = "manage")]
pub use manage::{CopyEntry, DeleteEntry, MakeDirectory, MoveEntry, manage_tools};
pub use path_patterns::{PathPatterns, ProtectedPlace, protected_places};
pub use read_file::{ReadFile, ReadLimits};
pub use write_file::WriteFile;
