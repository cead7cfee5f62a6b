//! Starting a program at a cost that does not depend on how much memory this process has.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod sharing;

use std::io;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) use elsewhere::spawn;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use sharing::spawn;

/// Says why there is no process.
#[derive(Debug)]
pub(crate) enum NotStarted {
    /// It cannot be made in this way, but perhaps in another.
    Unable,
    /// The system has none to spare, or the program cannot be executed.
    Failed(io::Error),
}
