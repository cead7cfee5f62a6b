//! Fixtures and checks for testing haft and tools written for it.
//!
//! Without any feature, for everything that is written for `haft-tools-core`:
//!
//! - [`call`] and [`call_batch`] run calls the way an agent would, through every stage of the executor, with everything
//!   permitted.
//! - [`Deciding`] tells how a policy decides calls, by which rule and about what, without running them.
//! - [`FakeClock`] lets time pass when a test says so (feature `clock`).
//! - [`counting::Counting`] is an allocator that counts, for benchmarks and for tests of what something costs.
//! - [`Beside`] is a row of a benchmark: what two works took that were measured by turns.
//! - [`free_port`] finds a port for a program that has to be told where to listen.
//! - [`laid_out`] writes JSON for a snapshot, short enough to be read.
//!
//! With features, which bring the crates they are about:
//!
//! - `fs`: [`Tree`] builds a directory to work in, of a text or step by step, and removes it afterwards;
//!   [`cases::check`] runs Markdown pages that are tests and reference at once: a file tree, a call, what the model gets back.
//! - `logs`: [`LogCapture`] keeps all that is logged, to tell that a secret is not.
//! - `model`: [`Script`] writes what a model says, and the model that plays it remembers what it was asked.
//! - `mcp`: [`McpPair`] is a server and a client of the Model Context Protocol in one process.
//!
//! Everything here panics when something goes wrong, with a message for whoever reads the failed test. What stands on
//! directories and sockets needs Unix, as `haft-workdir` does; the crate is empty elsewhere.
//!
//! ```
//! # #[cfg(feature = "fs")]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
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
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # #[cfg(feature = "fs")]
//! # example().await?;
//! # Ok(())
//! # }
//! ```

#![cfg(unix)]

#[cfg(feature = "fs")]
pub mod cases;
pub mod counting;

mod beside;
mod calling;
mod deciding;
#[cfg(feature = "clock")]
mod fake_clock;
mod free_port;
mod laid_out;
#[cfg(feature = "logs")]
mod log_capture;
#[cfg(feature = "mcp")]
mod mcp_pair;
#[cfg(feature = "model")]
mod script;
#[cfg(feature = "fs")]
mod tree;
#[cfg(feature = "fs")]
mod tree_text;

pub use beside::Beside;
pub use calling::{call, call_batch};
pub use deciding::{Decided, Deciding};
#[cfg(feature = "clock")]
pub use fake_clock::FakeClock;
pub use free_port::free_port;
pub use laid_out::laid_out;
#[cfg(feature = "logs")]
pub use log_capture::LogCapture;
#[cfg(feature = "mcp")]
pub use mcp_pair::McpPair;
#[cfg(feature = "model")]
pub use script::{PlayedScript, Script};
#[cfg(feature = "fs")]
pub use tree::Tree;
