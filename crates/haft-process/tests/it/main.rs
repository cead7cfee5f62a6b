//! What becomes of processes, with real ones.

#![cfg(unix)]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

#[cfg(all(target_os = "linux", feature = "sandbox"))]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod contained;
mod lifeline;
#[cfg(all(target_os = "linux", feature = "sandbox"))]
mod sandbox;
mod temporary_directory;
mod trees;
