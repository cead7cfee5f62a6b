//! What hooks are told, what their answers mean and how they end, with real programs.

#![cfg(unix)]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod answers;
mod configuration;
mod ending;
mod failing;
mod harness;
mod together;
mod told;
