//! The few system calls that differ between Unix systems.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{ANY_PLACE, PLACE, open_beneath, rename_no_replace};

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod posix;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use posix::{ANY_PLACE, PLACE, open_beneath, rename_no_replace};

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
mod extended_attributes;
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
pub(crate) use extended_attributes::keep_extended_attributes;

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
pub(crate) use posix::keep_extended_attributes;
