//! What the crate promises, from the outside.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod attacks;
#[cfg(target_os = "linux")]
mod attributes;
mod changes;
mod child;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod filtered;
mod fixture;
#[cfg(target_os = "linux")]
mod full_disk;
#[cfg(target_os = "linux")]
mod killed;
mod leftovers;
mod listing;
mod locking;
mod near_names;
mod open;
#[cfg(target_os = "linux")]
mod other_user;
mod paths;
mod permissions;
#[cfg(target_os = "linux")]
mod proc_links;
mod properties;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod races;
mod reading;
mod renaming;
mod resolving;
mod roots;
mod stepping;
mod walking;
mod writing;
