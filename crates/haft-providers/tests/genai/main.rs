//! Models that are asked by the crate `genai`, against a server on this machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod answers;
mod faults;
mod fixture;
mod requests;
#[path = "../it/server.rs"]
#[expect(dead_code, reason = "the tests of the other models use all of it")]
mod server;
#[path = "../it/turns.rs"]
mod turns;
