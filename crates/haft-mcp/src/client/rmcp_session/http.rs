//! Servers that are services, spoken to by streamable HTTP.
//!
//! The library keeps sessions, resumes streams and says which headers a request has; the requests themselves are made
//! here, by a guarded client.

mod answer;
mod carry;
mod client;
mod dial;
mod events;
mod transport;

#[cfg(test)]
mod tests;

pub(crate) use dial::{HttpDial, HttpDialError, authorities_of, host_of};
