//! The client against servers of its own on this machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod client;
mod compressed;
mod fixture;
mod proxies;
mod redirects;
mod retries;
mod secrets;
mod times;
mod tls;
