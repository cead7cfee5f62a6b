//! The web tools against servers of their own on this machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod described;
mod fetching;
mod refused;
mod robots;
mod searching;
mod server;
