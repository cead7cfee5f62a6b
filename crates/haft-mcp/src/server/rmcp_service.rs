//! What speaks the protocol, with rmcp: nothing of it is named elsewhere.

mod direct;
mod followers;
mod handler;
#[cfg(feature = "server-http")]
mod http_service;
mod legacy_line;
mod line_transport;
mod list_changes;
mod message;
mod modern_line;
mod outbox;
mod rounds;
pub(crate) mod seal;
mod session;
#[cfg(feature = "server-http")]
mod sessions;
mod speaker;

pub(crate) use direct::DirectCalls;
pub(crate) use handler::{Serving, Shared};
#[cfg(feature = "server-http")]
pub(crate) use http_service::http_service;
pub(crate) use line_transport::{LineEnd, serve_lines};
