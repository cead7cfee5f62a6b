//! What stands before the protocol in HTTP: who is let in, how much of them, and what is remembered of it.
//!
//! A request is looked at in this order, and refused at the first that does not hold: is there room for its connection; did
//! its head come in time; is it for a host that is served and from an origin that may ask (before anything is said about who
//! may); who sends it; does it come too often; is there room to serve it; is its body small, in time and JSON; does the
//! session that it names belong to who sends it. Only then the protocol sees it, without what authenticated it.

mod access_log;
mod body;
mod challenge;
mod config;
mod doors;
mod envelope;
mod gate;
mod listener;
mod open_files;
mod owners;
mod passage;
mod rates;
mod reply;
mod stalling;
#[cfg(test)]
mod tests;

pub use access_log::{AccessEntry, AccessLog, JsonlAccessLog};
pub use config::{HttpConfig, HttpLimits, Rate};
pub use doors::{AllowedHost, AllowedOrigin, DoorError};
pub use listener::{HttpListener, ServeError};
