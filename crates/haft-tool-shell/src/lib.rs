//! Shell tools for models: `bash`, its jobs, and programs without a shell.
//!
//! [`Bash`] runs a script with `bash -c` in a [`Workdir`](haft_workdir::Workdir), waits for it, and gives back what it
//! printed and how it ended. A non-zero exit code is a result and not an error: whether it is one, the model knows.
//!
//! A [`Bash`] is one tool over one directory. What it is given says what becomes of its scripts: an [`Environment`] holds the
//! variables they get, [`ScriptOutputs`] keep what they print, [`Jobs`] own what runs on and bring tools of their own, and a
//! `ShellSandbox` has the kernel confine them. [`RunProgram`] runs programs without a shell, by the same rules.
//!
//! ```
//! use haft_tool_shell::{Bash, Environment, Jobs, ScriptOutputs};
//! use haft_tools_core::{LocalExecutor, ReadOutput, ToolRegistry};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (tree, place) = (haft_testkit::Tree::new(), haft_testkit::Tree::new());
//! let outputs = ScriptOutputs::spilling_into(place.path());
//! let jobs = Jobs::new(outputs.clone());
//! let bash = Bash::new(tree.workdir(), Environment::minimal()).outputs(&outputs).jobs(&jobs);
//!
//! let outputs = Arc::new(outputs);
//! let mut tools = ToolRegistry::new().with(bash)?.with(ReadOutput::new(Arc::clone(&outputs) as _))?;
//! for tool in jobs.tools() {
//!     tools = tools.with(tool)?;
//! }
//! assert!(tools.names().any(|name| name == "job_poll"));
//! let executor = LocalExecutor::builder(tools).outputs(outputs).build();
//! # drop(executor);
//! # Ok(())
//! # }
//! ```
//!
//! # A script's surroundings
//!
//! A script starts with nothing of the host's: the variables of an [`Environment`] and no others, a standard input that is
//! empty or what the call gives, one pipe for both of its outputs, no terminal but as a job that asks for one, a session
//! and a process group of its own. Rust opens descriptors so that they are closed in it; one that a library opened
//! otherwise is inherited.
//!
//! It starts where the last script of its run ended by `cd`, as far as that could be followed in its text.
//!
//! # What it will do
//!
//! With the feature `analysis`, on by default, a script is read before it runs, and becomes accesses: each command in it,
//! wherever it stands, is executed; what it redirects, and what the [`CommandCatalog`] knows that its commands read,
//! write and connect to, is declared as well. What cannot be told beforehand, such as a name that comes from a variable,
//! adds an opaque access. Rules about commands are written as [`CommandPatterns`].
//!
//! A command is named by its words, `exec:git commit -m 'a b'`; a file below the working directory by its path there,
//! `file:src/lib.rs`; another by its absolute path, `outside:/etc/hosts`; a host by its name and port, `net:example.org:443`.
//!
//! # Its output
//!
//! stdout and stderr are one stream, in the order they were written. The model reads what a terminal would show in the end:
//! without colours, a line that was written over as what it became, and of a line that comes again and again how often. Of a
//! long output it reads the first 16 KiB and the last 12 KiB; bytes that are not UTF-8 are replaced. With [`ScriptOutputs`] all
//! of it is kept as it came, a little in memory and more in a file; memory does not grow with it. People see the newest lines
//! as they come, through the call's updates.
//!
//! # Its end
//!
//! The script is over when the process that was started is. Output is then still taken until it is quiet for 100 ms, and
//! for 1.2 s at most. What is left in the background goes on as one of the [`Jobs`], or, where there are none, is
//! told to end (`SIGTERM`), and killed 200 ms later. After a timeout
//! or a cancellation this happens to everything at once, with 500 ms to clean up. If the call's future is dropped,
//! everything is killed without warning.
//!
//! On Linux, processes that left the group or the session are found too: by the session, by the variable `HAFT_CALL` and a limit,
//! which each process passes on to those it starts, and by a control group where the host may make one ([`haft_process`]). A call is back within 2 s of the end of its script.
//!
//! # Beside calls
//!
//! With [`Jobs`] a script can run on while the model goes on: one that it starts in the background, one that takes longer than
//! it wants to wait for, and what others leave running. The tools of [`Jobs::tools`] look at them, write to them, wait for them
//! and end them. They end with the run that they belong to.
//!
//! # Within bounds
//!
//! With the feature `sandbox` and `Bash::sandbox`, the kernel of Linux holds a script to what its call was allowed: what it
//! was not allowed to write, it cannot write, however it tries. What it is denied the model is told, and how to ask for it.
//!
//! # What it does not do
//!
//! - Without a [sandbox](#within-bounds) it does not confine the script: the working directory is where it starts, not where
//!   it has to stay.
//! - Without a control group it does not find a process that left the session, cleared its environment *and* set the limit that marks
//!   it, nor, on systems other than Linux, one that only left the session. If such a process holds the output, the model is told of it.
//! - It has no terminal to offer but to jobs that ask for one: other programs that need one do not run.
//! - What moves the cursor to other lines is not followed: of several bars below one another each line is shown.
//!
//! The crate needs Unix and is empty elsewhere. Running needs a tokio runtime with its timer and IO enabled.

#![cfg(unix)]

#[cfg(feature = "analysis")]
mod analysis;
mod bash;
mod capture;
mod catalog;
mod command_patterns;
mod directory;
mod feed;
mod jobs;
mod last_directory;
mod output_stream;
mod program;
mod reduction;
mod repeats;
mod report;
mod running;
#[cfg(feature = "sandbox")]
mod sandbox;
#[cfg(not(feature = "sandbox"))]
#[path = "unconfined.rs"]
mod sandbox;
mod screen;
mod script;
mod script_outputs;
mod syntax;
mod terminal_end;
mod transcript;
mod withheld;

pub use crate::bash::{Bash, EXEC, tools};
pub use crate::catalog::{CommandCatalog, CommandCatalogError};
pub use crate::command_patterns::CommandPatterns;
pub use crate::jobs::Jobs;
pub use crate::last_directory::ScriptsApart;
pub use crate::program::RunProgram;
#[cfg(feature = "sandbox")]
pub use crate::sandbox::ShellSandbox;
pub use crate::script_outputs::ScriptOutputs;
#[cfg(feature = "sandbox")]
pub use haft_process::sandbox::{ResourceLimits, Sandbox, SandboxLack, Scratch};
pub use haft_process::{Environment, EnvironmentError, control_groups};
