//! The tool system that AI agents hold the world by.
//!
//! An agent's model asks for a tool by name with JSON arguments. haft resolves it, validates the arguments, decides
//! whether it may run, asks a person where it must, runs it, and bounds and records what comes back. This crate gathers
//! the crates of the workspace under one name, each behind a feature; nothing is on by default but the vocabulary and
//! the executor.
//!
//! ```
//! # #[cfg(feature = "tools")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use haft::{
//!     AccessMode, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, ToolCall, ToolExecutor as _, Workdir,
//! };
//!
//! # let project = tempfile::tempdir()?;
//! # std::fs::write(project.path().join("notes.md"), "# Notes\n")?;
//! let workdir = Workdir::open(project.path())?;
//! let reads = Rule::access(AccessMode::Read, Resource::subtree(haft::FILE, ""));
//! let executor =
//!     LocalExecutor::builder(haft::default_tools(&workdir)?).policy(Policy::new().allow(reads)).build();
//!
//! let call = ToolCall::new("c1".parse()?, "read_file", serde_json::json!({ "path": "notes.md" }));
//! let replies = executor.execute_batch(Batch::new(CallScope::new("run-1".parse()?), vec![call])).await.into_replies()?;
//! assert!(replies[0].output.to_text().contains("# Notes"));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "tools"))]
//! # fn main() {}
//! ```

#[cfg(feature = "tools")]
mod default_tools;
#[cfg(all(feature = "policy", feature = "tools"))]
mod rule_language;

pub use haft_core::*;
pub use haft_tools_core::*;

#[cfg(feature = "sandbox")]
pub use default_tools::default_tools_in_sandbox;
#[cfg(feature = "tools")]
pub use default_tools::{FILE, default_tools, default_tools_with};
#[cfg(feature = "agent")]
pub use haft_agent as agent;
#[cfg(feature = "hooks")]
pub use haft_hooks as hooks;
#[cfg(any(
    feature = "anthropic",
    feature = "genai",
    feature = "openai",
    feature = "openapi",
    feature = "web"
))]
pub use haft_http as http;
#[cfg(any(feature = "mcp", feature = "serve"))]
pub use haft_mcp as mcp;
#[cfg(feature = "model")]
pub use haft_model as model;
#[cfg(feature = "openapi")]
pub use haft_openapi as openapi;
#[cfg(feature = "policy")]
pub use haft_policy as policy;
#[cfg(any(feature = "anthropic", feature = "genai", feature = "openai"))]
pub use haft_providers as providers;
#[cfg(feature = "store")]
pub use haft_store as store;
#[cfg(feature = "subagents")]
pub use haft_subagents as subagents;
#[cfg(feature = "fs")]
pub use haft_tool_fs as fs;
#[cfg(feature = "search")]
pub use haft_tool_search as search;
#[cfg(feature = "shell")]
pub use haft_tool_shell as shell;
#[cfg(feature = "web")]
pub use haft_tool_web as web;
#[cfg(any(feature = "fs", feature = "search", feature = "shell"))]
pub use haft_workdir::{self as workdir, RootAccess, Workdir};
#[cfg(all(feature = "policy", feature = "tools"))]
pub use rule_language::{rule_language, rule_language_with};

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
