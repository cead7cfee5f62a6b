//! Fixtures and checks for testing haft and tools written for it.
//!
//! - [`Tree`] builds a directory to work in and removes it afterwards.
//! - [`call`] and [`call_batch`] run calls the way an agent would, through every stage of the executor, with everything
//!   permitted.
//! - [`cases::check`] runs Markdown pages that are tests and reference at once: a file tree, a call, what the model gets
//!   back.
//! - [`LogCapture`] keeps all that is logged, to tell that a secret is not.
//! - [`counting::Counting`] is an allocator that counts, for benchmarks and for tests of what something costs.
//!
//! Everything here panics when something goes wrong, with a message for whoever reads the failed test. The crate needs
//! Unix, as `haft-workdir` does, and is empty elsewhere.
//!
//! ```
//! use haft_core::ToolError;
//! use haft_testkit::{Tree, call};
//! use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
//! use serde_json::json;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Input {
//!     path: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tree = Tree::new().file("notes.txt", "one\ntwo\n");
//! let workdir = tree.workdir();
//! let count = tool_fn("count_lines", "Counts lines.", Accesses::none(), move |input: Input, _: CallContext| {
//!     let workdir = workdir.clone();
//!     async move {
//!         let path = workdir.resolve(&input.path).map_err(|error| ToolError::not_found(error.model_text()))?;
//!         let bytes = workdir.read(&path, 1024).map_err(|error| ToolError::not_found(error.model_text()))?;
//!         Ok::<_, ToolError>(bytes.split(|byte| *byte == b'\n').count() - 1)
//!     }
//! })?;
//!
//! let reply = call(&ToolRegistry::new().with(count)?, "count_lines", json!({ "path": "notes.txt" })).await;
//! assert_eq!(reply.output.to_text(), "2");
//! # Ok(())
//! # }
//! ```

#![cfg(unix)]

pub mod cases;
pub mod counting;

mod calling;
mod log_capture;
mod tree;

pub use calling::{call, call_batch};
pub use log_capture::LogCapture;
pub use tree::Tree;
