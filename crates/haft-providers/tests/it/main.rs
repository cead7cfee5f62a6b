//! Models of providers against a server on this machine, which says what their services are documented to say.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod answers;
mod faults;
mod hostile;
mod interleaving;
mod requests;
mod round_trip;
mod secrets;
mod server;
mod truncation;
mod turns;
mod wire;
