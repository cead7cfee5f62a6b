//! The few system calls that differ between Unix systems.

/// An extended attribute: its name, and its value.
pub(crate) type ExtendedAttribute = (Vec<u8>, Vec<u8>);

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{ANY_PLACE, PLACE, born, each_entry, open_beneath, rename_no_replace};

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod posix;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use posix::{ANY_PLACE, PLACE, born, each_entry, open_beneath, rename_no_replace};

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
mod extended_attributes;
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
pub(crate) use extended_attributes::{
    extended_attributes, keep_extended_attributes, set_extended_attributes,
};

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
pub(crate) use posix::{extended_attributes, keep_extended_attributes, set_extended_attributes};
