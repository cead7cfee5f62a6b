//! Connections as the protocol library makes them, under the seam that the rest of the crate builds on.
//!
//! Nothing outside of this module names a type of rmcp. What is ours: transports in which nothing of what a server sends
//! is lost ([`LineTransport`]), a layer between any transport and the library that knows which requests are under way
//! ([`Tap`]), the opening in either era ([`Opening`]), and a session whose results are the server's own JSON.

mod connection;
mod desk;
#[cfg(unix)]
mod dials;
mod flights;
mod http;
mod line_transport;
mod listening;
mod local_fault;
mod message;
mod oauth;
mod opening;
mod posts;
mod tap;

pub(crate) use connection::open;
#[cfg(unix)]
pub(crate) use dials::{StdioDial, UnixDial};
pub(crate) use http::{HttpDial, HttpDialError, authorities_of, host_of};
pub(crate) use oauth::OAuth;
pub(crate) use opening::Opening;
use posts::Posts;

#[cfg(test)]
#[cfg(unix)]
mod tests;
