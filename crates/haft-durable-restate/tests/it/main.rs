//! What the crate promises, from the outside.
//!
//! What is below `with_engine` needs the server that `cargo xtask durable` installs.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

mod agents;
mod clock;
mod cost;
mod engine;
mod processes;
mod proxy;
mod tools;
mod with_engine;
mod without_engine;
