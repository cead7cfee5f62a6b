//! Programs that end with everything they started, and the environment they are given.
//!
//! The shell tool runs scripts, hooks run programs of the host's, servers are spoken to over pipes: all of them start
//! processes, and none of these may outlive what it was started for. Capabilities do not depend on each other, so what
//! they have in common here stands below them. It knows no tool, no call and no protocol.
//!
//! An [`Environment`] holds the variables a program is given, and nothing is inherited besides. A [`ProcessTree`] is a
//! program that was started, as the leader of a session of its own, together with all that comes of it.
//!
//! # How processes are found again
//!
//! By their process group, by their session, and by the variable `HAFT_CALL`, which is different for each tree and which
//! each process passes on to those it starts. The last two need Linux and its `/proc`; elsewhere there is the group
//! alone.
//!
//! # What it does not do
//!
//! - It does not find a process that left the session *and* cleared its environment, nor, on systems other than Linux,
//!   one that only left the group.
//! - It does not end anything when the host itself is killed.
//! - It does not connect anything: standard input and both outputs are whatever the command was given.
//!
//! The crate needs Unix and is empty elsewhere. Running needs a tokio runtime with its timer and IO enabled.

#![cfg(unix)]

mod environment;
mod marker;
mod process_tree;
mod survivors;

pub use environment::{Environment, EnvironmentError};
pub use process_tree::ProcessTree;
