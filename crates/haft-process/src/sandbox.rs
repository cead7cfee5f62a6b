//! Bounds of the kernel's around a program: what it may read, write and connect to, and how much it may use.
//!
//! A program's own good will counts for nothing here, nor does what was understood of it beforehand: Linux refuses what a
//! [`Confinement`] does not allow, to the program and to everything that comes of it.
//!
//! ```
//! use haft_process::sandbox::{Confinement, Sandbox};
//! use haft_process::{Environment, ProcessTree, Program};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! # let directory = tempfile::tempdir()?;
//! # let project = directory.path().canonicalize()?;
//! let sandbox = Sandbox::probe();
//! println!("{sandbox}");
//!
//! let environment = Environment::minimal();
//! let confinement = Confinement::of_programs(&environment).write(&project);
//! if sandbox.lacks(&confinement).is_empty() {
//!     let program = Program::new("/bin/sh").arguments(["-c", "echo in > inside; echo out > /usr/outside"]);
//!     let program = sandbox.confine(program, &confinement, &project)?;
//!     let mut processes = ProcessTree::start(program, &environment)?;
//!     processes.exited().await;
//!     assert!(processes.reap().is_some_and(|status| !status.success()));
//!     assert_eq!(std::fs::read_to_string(project.join("inside"))?, "in\n");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Where it stands
//!
//! Whoever starts programs can confine them: the shell today, and hooks and servers over pipes by the same few lines. None
//! of these depend on each other, so what confines stands below them, beside what ends them ([`ProcessTree`]). It knows
//! paths and ports, and neither accesses nor rules: to make a confinement of what was allowed is the caller's part.
//!
//! # What it is made of
//!
//! - **Landlock** confines files and TCP ports, and keeps signals from reaching other processes.
//! - A **filter of system calls** (seccomp) decides which sockets there can be, and refuses what has no place in a program
//!   that is confined: looking into other processes (`ptrace`, `process_vm_readv`), `io_uring`, namespaces, mounts, `bpf`,
//!   `keyctl` and the like. `clone3`, whose arguments a filter cannot see, is said not to exist, so that `clone` is used.
//! - **Namespaces** protect places below writable directories: each is mounted onto itself to be read only, and what lies
//!   above it is held in its place. They give a network with nobody in it, and temporary directories of the program's own.
//! - **Resource limits** bound memory, processes and the size of files; `no_new_privs` takes the power from `sudo`.
//!
//! All is prepared before the program's process is made. In it there are only system calls, since other threads of the
//! host may have held locks, such as that of the allocator, when it was made.
//!
//! # On macOS
//!
//! There `sandbox-exec` confines a program by a [`SeatbeltProfile`] of the same confinement: files, the ports of TCP, services and
//! signals. **This part was never run on macOS.** The profile is made and tested on every system; that macOS takes it, and
//! does what it says, is not, and where macOS refuses it, no program starts. What differs: there is no network of a
//! program's own, so that [`Network::Loopback`] is none; it serves on the ports that are named and on none that the system
//! chooses; a scratch directory is nowhere but where it is; memory and processes are not bounded; what is protected or
//! hidden is so also when it is not there yet; a program is called by its path.
//!
//! # When bubblewrap is used
//!
//! `bwrap` makes the same namespaces by the same system calls, in one more process that stays. What it makes cannot be
//! confined by Landlock before, because that forbids mounts, nor after without a program of the host's in there. So where there
//! are Landlock and namespaces, it adds nothing and is not used. Where one of them is missing, and `bwrap` can be
//! used by a process that gets no more rights, it gives the program a file tree in which there is nothing but what it may read: private
//! temporary directories, nothing of hidden files, a network of its own. Landlock's rules about ports and signals come before it, and it
//! is handed the filter of system calls. A program that it starts is called by its path, and one that a signal has ended exits with 128 and its number.
//!
//! # What it does not do
//!
//! - It hides no file's existence, but by bubblewrap: names, sizes and times can be looked at everywhere, and `/proc` shows which
//!   processes there are.
//! - It knows ports and not hosts; with port 53, by which names are looked up, UDP reaches any port.
//! - A protected place that is not there yet can be made, and so can one below a directory that is made later.
//! - Below a user namespace the files of all users but one's own are nobody's, also for root.
//! - Programs of another architecture than the host's, such as those of 32 bits, are killed.
//!
//! [`ProcessTree`]: crate::ProcessTree

mod confinement;
mod lack;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod none;
mod probed;
mod scratch;
mod seatbelt;

pub use confinement::{Confinement, Network, ResourceLimits};
pub use lack::SandboxLack;
pub use probed::Sandbox;
pub use scratch::Scratch;
pub use seatbelt::SeatbeltProfile;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
use none as system;
