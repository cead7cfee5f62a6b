//! What speaks the protocol, with rmcp: nothing of it is named elsewhere.

mod answer;
mod asked;
#[cfg(feature = "server-http")]
mod direct;
mod followers;
#[expect(deprecated, reason = "clients of the older era have logs, roots and samples")]
mod handler;
#[cfg(feature = "server-http")]
mod http_service;
#[cfg(feature = "server-http")]
mod http_session;
mod legacy_line;
mod line_transport;
mod line_writer;
mod list_changes;
mod listening;
mod message;
mod modern_line;
mod outbox;
#[cfg(feature = "server-http")]
mod outgoing;
pub(crate) mod seal;
mod serving;
mod session;
#[cfg(feature = "server-http")]
mod sessions;
#[expect(deprecated, reason = "clients of the older era have logs, roots and samples")]
mod speaker;
mod streams;
mod tasks;
mod tool_list;
#[cfg(feature = "server-http")]
mod written_page;

#[cfg(feature = "server-http")]
pub(crate) use http_service::http_service;
pub(crate) use line_transport::{LineEnd, serve_lines};
pub(crate) use serving::{Serving, Shared};
pub(crate) use streams::standard_streams;

#[cfg(test)]
mod tests;
