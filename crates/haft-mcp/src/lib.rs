//! Tools of Model Context Protocol servers as ordinary tools.
//!
//! With the feature `client`, each tool of a server becomes a tool of the registry: validated, permissioned, scheduled,
//! bounded and recorded like any other. Both eras of the protocol are spoken: the one in which a connection begins with
//! `initialize` (up to the revision 2025-11-25) and the stateless one of 2026-07-28.

#[cfg(feature = "client")]
mod auth;
#[cfg(feature = "client")]
mod config;
#[cfg(test)]
#[cfg(feature = "client")]
mod conformance;
#[cfg(feature = "client")]
mod era_memory;
#[cfg(feature = "client")]
mod link;
#[cfg(all(feature = "measured", unix))]
#[doc(hidden)]
pub mod measured;
#[cfg(feature = "client")]
mod rmcp_session;
#[cfg(test)]
#[cfg(feature = "client")]
mod service;
#[cfg(feature = "client")]
mod session;

#[cfg(feature = "client")]
pub use auth::{CredentialFiles, CredentialStore, CredentialsInProcess, LoginConfig, RegisteredClient};
#[cfg(feature = "client")]
pub use config::{
    Era, HttpServer, Program, ServerConfig, ServerLimits, ServerName, ServerNameError, Start, Transport,
};
#[cfg(feature = "client")]
pub use era_memory::{EraMemory, EraMemoryInProcess};
