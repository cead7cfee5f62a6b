//! The shell tool for models: `bash`.
//!
//! [`Bash`] runs a script with `bash -c` in a [`Workdir`](haft_workdir::Workdir), waits for it, and gives back what it
//! printed and how it ended. A non-zero exit code is a result and not an error: whether it is one, the model knows.
//!
//! # A script's surroundings
//!
//! A script starts with nothing of the host's: the variables of an [`Environment`] and no others, an empty standard
//! input, one pipe for both of its outputs, no terminal, a session and a process group of its own. Rust opens
//! descriptors so that they are closed in it; one that a library opened otherwise is inherited.
//!
//! # What it will do
//!
//! With the feature `analysis`, on by default, a script is read before it runs, and becomes accesses: each command in it,
//! wherever it stands, is executed; what it redirects, and what the [`Catalogue`] knows that its commands read, write and
//! connect to, is declared as well. What cannot be told beforehand, such as a name that comes from a variable, adds an
//! opaque access. Rules about commands are written as [`CommandPatterns`].
//!
//! A command is named by its words, `exec:git commit -m 'a b'`; a file below the working directory by its path there,
//! `file:src/lib.rs`; another by its absolute path, `outside:/etc/hosts`; a host by its name and port, `net:example.org:443`.
//!
//! # Its output
//!
//! stdout and stderr are one stream, in the order they were written. Of a long output the first 16 KiB and the last
//! 12 KiB are kept while it streams, so memory does not grow with it; bytes that are not UTF-8 are replaced. People see
//! the newest lines as they come, through the call's updates.
//!
//! # Its end
//!
//! The script is over when the process that was started is. Output is then still taken until it is quiet for 100 ms, and
//! for 2 s at most. What is left in the background is told to end (`SIGTERM`), and killed 200 ms later. After a timeout
//! or a cancellation this happens to everything at once, with 500 ms to clean up. If the call's future is dropped,
//! everything is killed without warning.
//!
//! On Linux, processes that left the group or the session are found too: by the session, and by the variable
//! `HAFT_CALL`, which each process passes on to those it starts.
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
//! - It does not find a process that left the session *and* cleared its environment, nor, on systems other than Linux,
//!   one that only left the session. If such a process holds the output, the model is told of it.
//! - It does not end anything when the host itself is killed.
//! - Nothing runs on after a call; there are no jobs.
//!
//! The crate needs Unix and is empty elsewhere. Running needs a tokio runtime with its timer and IO enabled.

#![cfg(unix)]

#[cfg(feature = "analysis")]
mod analysis;
mod bash;
mod capture;
mod catalogue;
mod command_patterns;
mod directory;
mod jobs;
mod output_stream;
mod program;
mod reduction;
mod report;
mod running;
#[cfg(feature = "sandbox")]
mod sandbox;
#[cfg(not(feature = "sandbox"))]
#[path = "unconfined.rs"]
mod sandbox;
mod script;
mod script_outputs;
mod syntax;
mod transcript;

pub use crate::bash::{Bash, EXEC, tools};
pub use crate::catalogue::{Catalogue, CatalogueError};
pub use crate::command_patterns::CommandPatterns;
pub use crate::jobs::Jobs;
pub use crate::program::RunProgram;
#[cfg(feature = "sandbox")]
pub use crate::sandbox::ShellSandbox;
pub use crate::script_outputs::ScriptOutputs;
#[cfg(feature = "sandbox")]
pub use haft_process::sandbox::{ResourceLimits, Sandbox, SandboxLack, Scratch};
pub use haft_process::{Environment, EnvironmentError};
