//! Programs that end with everything they started, and the environment they are given.
//!
//! The shell tool runs scripts, hooks run programs of the host's, servers are spoken to over pipes: all of them start
//! processes, and none of these may outlive what it was started for. Capabilities do not depend on each other, so what
//! they have in common here stands below them. It knows no tool, no call and no protocol.
//!
//! An [`Environment`] holds the variables a program is given, and nothing is inherited besides. A [`ProcessTree`] is a
//! program that was started, as the leader of a session of its own, together with all that comes of it. What it prints is
//! taken [`Alongside`] waiting for it.
//!
//! # How processes are found again
//!
//! By their process group, by their session, and by the variable `HAFT_CALL`, which is different for each tree and which
//! each process passes on to those it starts. The last two need Linux and its `/proc`; elsewhere there is the group
//! alone.
//!
//! # When the host is killed
//!
//! With the first tree, a host starts one more process: a shell that waits for the host to end, then looks for the
//! variable `HAFT_CALL` and ends whoever has it from this host, asking first and killing after a second. It uses nothing
//! while it waits, and ends when it is done. So also processes that a host let go of do not outlive it.
//!
//! # What it does not do
//!
//! - It does not find a process that left the session *and* cleared its environment, nor, on systems other than Linux,
//!   one that only left the group.
//! - It ends nothing after the death of the host where there is no `/proc`, `/bin/sh` or `grep`, nor a process that cleared
//!   its environment, unless it is in the group of one that did not.
//! - It does not connect anything: standard input and both outputs are whatever the command was given.
//!
//! The crate needs Unix and is empty elsewhere. Running needs a tokio runtime with its timer and IO enabled.

#![cfg(unix)]

mod alongside;
mod cgroup;
mod environment;
mod lifeline;
mod live_process;
mod marker;
mod process_tree;
mod program;
#[cfg(feature = "sandbox")]
pub mod sandbox;
mod spawning;
mod survivors;
mod terminal;

pub use alongside::Alongside;
pub use environment::{Environment, EnvironmentError};
pub use live_process::{LiveProcess, ProcessSignal};
pub use process_tree::ProcessTree;
pub use program::Program;
pub use terminal::Terminal;
