//! Tools that find things: `grep` looks into files, `glob` looks at their names, `find_files` at names known in part, and
//! `outline` (with the feature `code`) at what code defines.
//!
//! All search a [`Workdir`](haft_workdir::Workdir) in this process, on several threads, without another program, and share their
//! manners: they obey ignore files and leave out hidden entries unless told otherwise, never follow a symbolic link out of the
//! working directory, answer in the same order every time, stop at an exact limit, give what they have found when their
//! [time](SearchOptions::timeout) is over, and say what they left out. All only read, and declare that they read everything
//! below the directory they start in and the ignore files above it.
//!
//! ```text
//! input ── prepare ──▶ where to start (resolved)     ┐
//!                      what to look for (compiled)   ├──▶ threads: list ▶ match, in the order of paths ▶ bound ──▶ text
//!                      `read file:START/**`          ┘         └── asks before each file and piece whether to stop
//! ```
//!
//! # Example
//!
//! ```
//! use haft_core::ToolCall;
//! use haft_tools_core::{AllowAll, Batch, CallScope, LocalExecutor, ToolExecutor as _, ToolRegistry};
//! use haft_workdir::Workdir;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! # let project = scratch.path();
//! # std::fs::create_dir(project.join("src"))?;
//! # std::fs::write(project.join("src/main.rs"), "fn main() {\n    todo!()\n}\n")?;
//! let workdir = Workdir::open(project)?;
//! let registry = ToolRegistry::of(haft_tool_search::tools(&workdir))?;
//! let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
//!
//! let call = ToolCall::new("c1".parse()?, "grep", json!({ "pattern": "todo!", "glob": "*.rs" }));
//! let outcome = executor.execute_batch(Batch::new(CallScope::new("run-1".parse()?), vec![call])).await;
//! let replies = outcome.into_replies()?;
//! assert_eq!(replies[0].output.to_text(), "src/main.rs:2:     todo!()\n\n1 match in 1 file");
//! # Ok(())
//! # }
//! ```
//!
//! # What it does not do
//!
//! - Patterns have no look-around and no backreferences: matching takes time in proportion to the text.
//! - Symbolic links to files are not searched, since what they lead to is searched where it is.
//! - File names that are not UTF-8 are counted and left out: nothing could name them in a next call.
//! - Nothing is indexed or remembered between two calls.

#![cfg(unix)]

mod excerpt;
mod file_filter;
mod find_files;
mod glob;
mod grep;
mod left_out;
mod options;
mod order;
#[cfg(feature = "outline")]
// With some of the languages alone, not all of what describes languages is used.
#[cfg_attr(
    not(feature = "code"),
    allow(dead_code, unused_imports, reason = "each language uses a part of it")
)]
mod outline;
mod page;
mod path_pattern;
mod scan;
mod start;
mod toolset;
mod watch;
mod wording;

pub use crate::find_files::FindFiles;
pub use crate::glob::Glob;
pub use crate::grep::Grep;
pub use crate::options::SearchOptions;
#[cfg(feature = "outline")]
pub use crate::outline::Outline;
pub use crate::toolset::tools;
