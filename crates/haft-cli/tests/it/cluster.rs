//! Calls that an engine keeps: workers, clients that are served by them, and people who answer from any machine.
//!
//! What is below `with_engine` needs the server that `cargo xtask durable` installs.

mod asked;
mod client;
mod engine;
mod nginx;
mod with_engine;
mod without_engine;
mod worker;
