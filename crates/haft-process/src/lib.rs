//! Programs that end with everything they started, and the environment they are given.
//!
//! The shell tool runs scripts, hooks run programs of the host's, servers are spoken to over pipes: all of them start
//! processes, and none of these may outlive what it was started for. Capabilities do not depend on each other, so what
//! they have in common here stands below them. It knows no tool, no call and no protocol.
//!
//! An [`Environment`] holds the variables a program is given, and nothing is inherited besides. A [`ProcessTree`] is a
//! [`Program`] that was started, as the leader of a session of its own, together with all that comes of it. What it prints
//! is taken [`Alongside`] waiting for it.
//!
//! # How a program is started
//!
//! On Linux on x86-64, [`ProcessTree::start`] makes the new process with `clone3`: it shares the host's memory until its
//! program is executed, as with `posix_spawn`, starts a session, and is in its control group from its first moment on. So the
//! cost does not grow with the memory of the host, of which `fork` would copy the tables: some 80 ms for 1 GiB. From
//! Linux 5.11 on no descriptor but the standard ones reaches the program, whoever left it open. Elsewhere, where the kernel refuses that, and
//! for a command that does more before its program is executed ([`ProcessTree::spawn`], as in a sandbox, and
//! [`ProcessTree::spawn_in_terminal`]), the standard library's `fork` is used, without a control group.
//!
//! # How processes are found again
//!
//! By their process group, by their session, and by the variable `HAFT_CALL`, which is different for each tree and which
//! each process passes on to those it starts. The last two need Linux and its `/proc`; elsewhere there is the group
//! alone.
//!
//! Where Linux has cgroup v2 (5.14 or later) and the host may make groups below its own place, as root where the mount may
//! be written (in containers by default it may not) and in a unit with `Delegate=yes`, a tree that was started by [`ProcessTree::start`] is in a group of its own
//! besides: `haft-…/N` below that place, wherever `/proc` says that it is. Then processes are found whatever they leave and
//! clear, and are killed together (`cgroup.kill`), so that none escapes by starting another. Who was moved to another group,
//! as by `sudo` where that begins a session of systemd's, is found by the other signs. No controller is enabled. It is looked
//! for once; where there are no groups nothing changes ([`ProcessTree::is_contained`] tells). The directories are removed
//! when the host ends, and those of a host whose end nobody saw when the next one starts.
//!
//! # When the host is killed
//!
//! With the first tree, a host starts one more process: a shell that waits for the host to end, then looks for the
//! variable `HAFT_CALL` and in the control groups of the host, and ends whom it finds there, asking first and killing after
//! a second. It uses nothing while it waits, and ends when it is done. So also processes that a host let go of do not
//! outlive it.
//!
//! # What it does not do
//!
//! - Without a control group it does not find a process that left the session *and* cleared its environment, nor, on systems
//!   other than Linux, one that only left the group. In one it finds it, unless who may write there has moved it away.
//! - It ends nothing after the death of the host where there is no `/proc`, `/bin/sh` or `grep`, nor, without a control group,
//!   a process that cleared its environment, unless it is in the process group of one that did not.
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
