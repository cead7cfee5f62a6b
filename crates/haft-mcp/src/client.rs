//! Servers as their tools' client: configuration, connections, listings, calls, trust, and what servers ask.

mod address;
mod answer;
mod answers;
mod auth;
mod call;
mod config;
mod content;
mod convert;
mod era_memory;
#[cfg(test)]
mod fake;
mod host;
mod link;
mod listing;
#[cfg(all(feature = "measured", unix))]
#[doc(hidden)]
pub mod measured;
mod named_tool;
mod pages;
mod retry_pause;
mod rmcp_session;
mod server;
mod servers;
#[cfg(test)]
mod service;
mod session;
mod source;
mod tool;
mod trust;
mod ways;

#[cfg(feature = "sampling")]
pub use answer::ModelSampler;
pub use answer::{
    McpEvent, McpEventKind, McpEvents, Root, Roots, Sampled, SampledStop, Sampler, SamplingRequest,
};
pub use auth::{CredentialStore, FileCredentials, LoginConfig, MemoryCredentials, RegisteredClient};
pub use config::{
    ConfigError, ConfigProblem, Era, ExpansionError, RefusedServer, RemoteServer, ServerConfig, ServerLimits,
    ServerName, ServerNameError, ServerProgram, ServersFile, Start, Transport, expand_variables,
};
#[cfg(feature = "server")]
pub(crate) use content::read_block;
pub use era_memory::{EraMemory, MemoryEras};
pub use host::{
    Completion, CompletionOf, ListedPrompt, ListedResource, PromptText, ResourceWatch, ServerContent,
    ServerList, ServerRequestError,
};
pub use named_tool::NamedTool;
pub use server::{LoginError, McpServer, NoticeKind, ServerNotice, ServerState, ServerStatus, StartError};
pub use servers::{DuplicateServerError, McpServers, McpServersBuilder};
pub use source::McpSource;
pub use trust::{
    AcceptedTool, FilePins, MemoryPins, PinError, PinStore, QuarantinedTool, ServerIdentity, ServerPins,
    WaitingTool,
};
