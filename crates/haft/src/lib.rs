//! The tool system that AI agents hold the world by.
//!
//! An agent's model asks for a tool by name with JSON arguments. haft resolves it, validates the arguments, decides
//! whether it may run, asks a person where it must, runs it, and bounds and records what comes back. This crate gathers
//! the crates of the workspace under one name, each behind a feature; nothing is on by default but the vocabulary and
//! the executor.
//!
//! A [`ToolRegistry`] holds tools, a [`Policy`] says what they may do, a [`LocalExecutor`] makes the calls of a [`Batch`] under it
//! and gives a [`ToolReply`] for each. The root has the names of such a program and of a tool that is made of a function, with
//! `tools` [`default_tools`] and [`DefaultTools`], with `policy` also [`DefaultRules`]. All else is in the module that is named as its
//! crate, such as what an own implementation of [`Tool`] gives: `core::ToolSpec`, `tools_core::Prepared`. Import names and not `*`, which
//! would have `core` be this one's.
//!
//! | feature | module | brings |
//! |---|---|---|
//! | - | [`core`] | the vocabulary: specs, calls, replies, errors, events, messages |
//! | - | [`tools_core`] | registry and catalog, decisions and approvals, executor and its layers, outputs, journal |
//! | `tools`: `fs`, `search`, `shell` | `fs`, `search`, `shell`, `workdir` | tools over a directory that cannot be left |
//! | `web` | `web`, `http` | pages and searches; the guarded client that asks |
//! | `mcp-client`, `mcp-server` | `mcp` | tools of MCP servers; a registry for any MCP client |
//! | `openapi` | `openapi` | tools of APIs that a document describes |
//! | `macros` | `#[haft::tool]` | a tool of an async function |
//! | `policy` | `policy` | policy files |
//! | `hooks` | `hooks`, `process` | programs that look at calls |
//! | `model`, `anthropic`, `openai`, `genai` | `model`, `providers` | what a model is, and models of services |
//! | `agent`, `subagents` | `agent`, `subagents` | the loop, and agents below it |
//! | `store`, `changes`, `postgres` | `store` | what outlives the process |
//! | `durable`, `durable-restate` | `durable`, `durable_restate` | calls that outlive whatever makes them |
//!
//! `http`, `process` and `workdir` are there with each feature whose functions take their types; the README lists all features.
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

#[cfg(all(feature = "policy", feature = "tools"))]
mod default_rules;
#[cfg(feature = "tools")]
mod default_tools;

pub use haft_core::{self as core, ToolCall, ToolError, ToolReply};
#[doc(hidden)]
pub use haft_tools_core::__private;
pub use haft_tools_core::{
    self as tools_core, Access, AccessMode, Accesses, Batch, CallContext, CallScope, LocalExecutor, Policy,
    Resource, Rule, Scheme, Tool, ToolExecutor, ToolRegistry, tool_fn,
};

#[cfg(all(feature = "policy", feature = "tools"))]
pub use default_rules::DefaultRules;
#[cfg(feature = "tools")]
pub use default_tools::{DefaultTools, FILE, default_tools};
#[cfg(feature = "agent")]
pub use haft_agent as agent;
#[cfg(feature = "durable")]
pub use haft_durable as durable;
#[cfg(feature = "durable-restate")]
pub use haft_durable_restate as durable_restate;
#[cfg(feature = "hooks")]
pub use haft_hooks as hooks;
#[cfg(any(
    feature = "anthropic",
    feature = "durable-restate",
    feature = "genai",
    feature = "mcp-server",
    feature = "openai",
    feature = "openapi",
    feature = "web"
))]
pub use haft_http as http;
/// Makes a tool of an async function: its documentation is what the model reads, its arguments are the schema.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use haft::{ToolError, ToolRegistry};
///
/// /// Counts the words of a text.
/// #[haft::tool(accesses = none, read_only)]
/// async fn count_words(
///     /// The text to count.
///     text: String,
///     /// Only words of at least this many letters.
///     #[default(1)]
///     min_letters: usize,
/// ) -> Result<usize, ToolError> {
///     Ok(text.split_whitespace().filter(|word| word.chars().count() >= min_letters).count())
/// }
///
/// // The function is still a function, and `count_words_tool` makes the tool of it.
/// assert_eq!(count_words("a haft is a handle".into(), 4).await?, 2);
///
/// let registry = ToolRegistry::new().with(count_words_tool())?;
/// let spec = registry.get("count_words").expect("it was just registered");
/// assert_eq!(spec.description(), "Counts the words of a text.");
/// let schema = spec.input_schema().as_value();
/// assert_eq!(schema["properties"]["text"]["description"], "The text to count.");
/// assert_eq!(schema["properties"]["min_letters"]["default"], 1);
/// assert_eq!(schema["required"], serde_json::json!(["text"]));
/// # Ok(())
/// # }
/// ```
///
/// What a tool needs of the host is given to the function that makes it, and borrowed by each call. What a call touches is
/// declared by an expression of the arguments, in which they have their names:
///
/// ```
/// use haft::{Access, CallContext, Resource, Scheme, ToolError, ToolRegistry};
/// use std::collections::BTreeMap;
///
/// const NOTE: Scheme = Scheme::new("note");
///
/// struct Notes(BTreeMap<String, String>);
///
/// /// Reads a note.
/// #[haft::tool(accesses = Access::read(Resource::exact(NOTE, title.as_str())), read_only)]
/// async fn read_note(
///     #[state] notes: &Notes,
///     /// The title of the note.
///     title: String,
///     cx: CallContext,
/// ) -> Result<String, ToolError> {
///     cx.progress("looking");
///     let note = notes.0.get(&title);
///     note.cloned().ok_or_else(|| ToolError::not_found(format!("there is no note `{title}`; write it first")))
/// }
///
/// let notes = Notes(BTreeMap::from([("plan".into(), "sow, reap".into())]));
/// let registry = ToolRegistry::new().with(read_note_tool(notes))?;
/// assert_eq!(registry.names().collect::<Vec<_>>(), ["read_note"]);
/// # Ok::<(), haft::tools_core::RegistryError>(())
/// ```
#[cfg(feature = "macros")]
pub use haft_macros::tool;
#[cfg(any(feature = "mcp-client", feature = "mcp-server"))]
pub use haft_mcp as mcp;
#[cfg(feature = "model")]
pub use haft_model as model;
#[cfg(feature = "openapi")]
pub use haft_openapi as openapi;
#[cfg(feature = "policy")]
pub use haft_policy as policy;
#[cfg(any(feature = "hooks", feature = "mcp-client", feature = "shell", feature = "subagents"))]
pub use haft_process as process;
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
#[cfg(any(feature = "fs", feature = "search", feature = "shell", feature = "subagents"))]
pub use haft_workdir::{self as workdir, Workdir};

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Compiles and runs the programs of the guide.
#[cfg(all(doctest, feature = "full"))]
mod guide {
    #[doc = include_str!("../../../docs/guide/first-tool.md")]
    struct FirstTool;

    #[doc = include_str!("../../../docs/guide/permissions.md")]
    struct Permissions;

    #[doc = include_str!("../../../docs/guide/files-and-scripts.md")]
    struct FilesAndScripts;

    #[doc = include_str!("../../../docs/guide/servers-and-apis.md")]
    struct ServersAndApis;

    #[doc = include_str!("../../../docs/guide/agent.md")]
    struct Agent;

    #[doc = include_str!("../../../docs/guide/serving.md")]
    struct Serving;
}

/// Compiles the program of the guide's page on durable calls, whose engine brings many crates.
#[cfg(all(doctest, feature = "durable-restate"))]
#[doc = include_str!("../../../docs/guide/durable.md")]
struct DurableGuide;
