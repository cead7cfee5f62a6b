//! The few system calls that differ between Unix systems.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{ANY_PLACE, PLACE, open_beneath, rename_no_replace};

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod posix;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use posix::{ANY_PLACE, PLACE, open_beneath, rename_no_replace};
