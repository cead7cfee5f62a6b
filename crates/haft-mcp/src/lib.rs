//! Tools of Model Context Protocol servers as ordinary tools.
//!
//! With the feature `client`, each tool of a server becomes a tool of the registry: validated, permissioned, scheduled,
//! bounded and recorded like any other. Both eras of the protocol are spoken: the one in which a connection begins with
//! `initialize` (up to the revision 2025-11-25) and the stateless one of 2026-07-28.

#[cfg(feature = "client")]
mod address;
#[cfg(feature = "client")]
mod answer;
#[cfg(feature = "client")]
mod answers;
#[cfg(feature = "client")]
mod auth;
#[cfg(feature = "client")]
mod call;
#[cfg(feature = "client")]
mod config;
mod convert;
#[cfg(feature = "client")]
mod era_memory;
#[cfg(all(test, feature = "client"))]
mod fake;
#[cfg(feature = "client")]
mod host;
#[cfg(feature = "client")]
mod link;
#[cfg(feature = "client")]
mod listing;
#[cfg(all(feature = "measured", unix))]
#[doc(hidden)]
pub mod measured;
#[cfg(feature = "client")]
mod rmcp_session;
#[cfg(feature = "client")]
mod server;
#[cfg(feature = "client")]
mod servers;
#[cfg(test)]
#[cfg(feature = "client")]
mod service;
#[cfg(feature = "client")]
mod session;
#[cfg(feature = "client")]
mod shown;
#[cfg(feature = "client")]
mod source;
#[cfg(feature = "client")]
mod tool;
#[cfg(feature = "client")]
mod trust;
#[cfg(feature = "client")]
mod ways;

#[cfg(feature = "sampling")]
pub use answer::ModelSampler;
#[cfg(feature = "client")]
pub use answer::{
    McpEvent, McpEventKind, McpEvents, Root, Roots, Sampled, SampledStop, Sampler, SamplingRequest,
};
#[cfg(feature = "client")]
pub use auth::{CredentialFiles, CredentialStore, CredentialsInProcess, LoginConfig, RegisteredClient};
#[cfg(feature = "client")]
pub use config::{
    ConfigError, ConfigProblem, Era, HttpServer, Program, RefusedServer, ServerConfig, ServerLimits,
    ServerName, ServerNameError, ServersFile, Start, Transport,
};
#[cfg(feature = "client")]
pub use era_memory::{EraMemory, EraMemoryInProcess};
#[cfg(feature = "client")]
pub use host::{
    Completion, CompletionOf, ListedPrompt, ListedResource, ListedTemplate, PromptArgument, PromptMessage,
    PromptText, ResourceWatch, ServerContent, ServerList, ServerRequestError,
};
#[cfg(feature = "client")]
pub use server::{McpServer, NoticeKind, ServerNotice, ServerState, ServerStatus};
#[cfg(feature = "client")]
pub use servers::{McpServers, McpServersBuilder, SameServerName};
#[cfg(feature = "client")]
pub use source::McpSource;
#[cfg(feature = "client")]
pub use trust::{
    AcceptedTool, FilePins, MemoryPins, PinError, PinStore, ServerIdentity, ServerPins, WaitingTool,
};
