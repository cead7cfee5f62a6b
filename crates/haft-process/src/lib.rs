//! Programs that end with everything they started, and the environment they are given.
//!
//! The shell tool runs scripts, hooks run programs of the host's, servers are spoken to over pipes: all of them start
//! processes, and none of these may outlive what it was started for. Capabilities do not depend on each other, so what
//! they have in common here stands below them. It knows no tool, no call and no protocol.
//!
//! An [`Environment`] holds the variables a program is given, and nothing is inherited besides. A [`ProcessTree`] is a
//! [`Program`] that was started, as the leader of a session of its own, together with all that comes of it. What it prints
//! is taken [`Alongside`] waiting for it. Before it is started, a `sandbox::Sandbox` can confine it, to what a
//! `sandbox::Confinement` lists; `sandbox::Scratch` is a directory of its own for it.
//!
//! ```
//! use haft_process::{Environment, ProcessTree, Program};
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let build = Program::new("/bin/sh").arguments(["-c", "sleep 60 & exit 3"]);
//! let mut processes = ProcessTree::start(build, &Environment::minimal())?;
//! processes.exited().await;
//! assert_eq!(processes.reap().and_then(|status| status.code()), Some(3));
//! // What it has left behind ends, too: it is asked, and killed after a while.
//! processes.end(Duration::from_millis(200)).await;
//! assert!(processes.are_gone(Duration::ZERO).await);
//! # Ok(())
//! # }
//! ```
//!
//! # How a program is started
//!
//! On Linux on x86-64, [`ProcessTree::start`] makes the new process with `clone3`: it shares the host's memory until its
//! program is executed, as with `posix_spawn`, starts a session, takes its terminal and its confinement, and is in its
//! control group from its first moment on. So the
//! cost does not grow with the memory of the host, of which `fork` would copy the tables: some 80 ms for 1 GiB. From
//! Linux 5.11 on no descriptor but the standard ones reaches the program, whoever left it open. Elsewhere, where the kernel refuses that, and
//! for a command to which something was done that a [`Program`] does not know ([`ProcessTree::spawn`]), the standard library's
//! `fork` is used, without a control group.
//!
//! # How processes are found again
//!
//! By their process group, by their session, and by two marks that are different for each tree and that each process passes on
//! to those it starts: the variable `HAFT_CALL`, and a limit (`RLIMIT_LOCKS`, which Linux keeps and holds nobody to). All but
//! the group need Linux and its `/proc`; elsewhere there is the group alone. The limit is passed on whatever session a process
//! begins, whatever variables it clears and whatever program it executes, so that also what does both is found
//! (`env -i setsid …`), and it can be read of every process. Only who sets another on purpose (`ulimit -x`) loses it.
//!
//! Where Linux has cgroup v2 (5.14 or later) and the host may make groups below its own place, as root where the mount may
//! be written (in containers by default it may not) and in a unit with `Delegate=yes`, a tree that was started by [`ProcessTree::start`] is in a group of its own
//! besides: `haft-…/N` below that place, wherever `/proc` says that it is. Then processes are found whatever they do to
//! their marks, and are killed together (`cgroup.kill`), so that none escapes by starting another. Who was moved to another group,
//! as by `sudo` where that begins a session of systemd's, is found by the other signs. No controller is enabled. It is looked
//! for once; where there are no groups nothing changes ([`ProcessTree::is_contained`] tells). The directories are removed
//! when the host ends, and those of a host whose end nobody saw when the next one starts.
//!
//! # Why nothing is made a subreaper
//!
//! A subreaper (`PR_SET_CHILD_SUBREAPER`) gets those whose parent has ended. The host cannot be it: it would get them from all
//! of its trees at once, beside the children of all else in its process, and could not tell whose they are; what waits for any
//! child would see strangers. The leader of a tree is gone just when they are left. So it would be one more process for each tree, which
//! starts the leader and stays: the host could then neither wait for the leader nor keep its number, each start would execute one
//! program more, and who kills that process has left it. The limit tells the same without any of this.
//!
//! # When the host is killed
//!
//! With the first tree, a host starts one more process: a shell that waits for the host to end, then looks for the
//! variable `HAFT_CALL`, the limit and in the control groups of the host, and ends whom it finds there, asking first and killing
//! after a second. It uses nothing while it waits, and ends when it is done. So also processes that a host let go of do not
//! outlive it.
//!
//! What it kept in a [`TemporaryDirectory`] is removed by the next host that makes one for the same purpose in the same place.
//!
//! # What it does not do
//!
//! - Without a control group it does not find a process that left the session, cleared its environment *and* set the limit that
//!   marks it, nor, on systems other than Linux, one that only left the group. In one it finds it, unless who may write there has
//!   moved it away.
//! - It ends nothing after the death of the host where there is no `/proc`, `/bin/sh` or `grep`.
//! - It does not connect anything: standard input and both outputs are whatever the command was given.
//!
//! The crate needs Unix and is empty elsewhere. Running needs a tokio runtime with its timer and IO enabled.

#![cfg(unix)]

mod alongside;
mod cgroup;
mod environment;
mod lifeline;
mod limit_mark;
mod live_process;
mod marker;
mod preparation;
mod process_tree;
mod program;
mod remove_tree;
#[cfg(feature = "sandbox")]
pub mod sandbox;
mod spawning;
mod survivors;
mod temporary_directory;
mod terminal;

pub use alongside::Alongside;
pub use cgroup::control_groups;
pub use environment::{Environment, EnvironmentError};
pub use live_process::{LiveProcess, ProcessSignal};
pub use process_tree::ProcessTree;
pub use program::Program;
pub use remove_tree::remove_tree;
pub use temporary_directory::TemporaryDirectory;
pub use terminal::Terminal;
