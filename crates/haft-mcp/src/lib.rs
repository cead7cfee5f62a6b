//! Tools of Model Context Protocol servers as ordinary tools.
//!
//! With the feature `client`, each tool of a server becomes a tool of the registry: validated, permissioned, scheduled,
//! bounded and recorded like any other. Both eras of the protocol are spoken: the one in which a connection begins with
//! `initialize` (up to the revision 2025-11-25) and the stateless one of 2026-07-28.

#[cfg(feature = "client")]
mod client;
#[cfg(all(feature = "client", feature = "server"))]
mod forwarding;
#[cfg(any(feature = "client", feature = "server"))]
mod lines;
#[cfg(any(feature = "client", feature = "server"))]
mod log_level;
#[cfg(feature = "server")]
mod server;
#[cfg(any(feature = "client", feature = "server"))]
mod shown;

#[cfg(feature = "sampling")]
pub use client::ModelSampler;
#[cfg(all(feature = "measured", unix))]
#[doc(hidden)]
pub use client::measured;
#[cfg(feature = "client")]
pub use client::{
    AcceptedTool, Completion, CompletionOf, ConfigError, ConfigProblem, CredentialFiles, CredentialStore,
    CredentialsInProcess, Era, EraMemory, EraMemoryInProcess, ExpansionError, FilePins, HttpServer,
    ListedPrompt, ListedResource, ListedTemplate, LoginConfig, LoginError, McpEvent, McpEventKind, McpEvents,
    McpServer, McpServers, McpServersBuilder, McpSource, MemoryPins, NamedTool, NoticeKind, PinError,
    PinStore, Program, PromptArgument, PromptMessage, PromptText, QuarantinedTool, RefusedServer,
    RegisteredClient, ResourceWatch, Root, Roots, SameServerName, Sampled, SampledStop, Sampler,
    SamplingRequest, ServerConfig, ServerContent, ServerIdentity, ServerLimits, ServerList, ServerName,
    ServerNameError, ServerNotice, ServerPins, ServerRequestError, ServerState, ServerStatus, ServersFile,
    Start, Transport, WaitingTool, expand_variables,
};
#[cfg(all(feature = "client", feature = "server"))]
pub use forwarding::{ClientRoots, ClientSampler};
#[cfg(any(feature = "client", feature = "server"))]
pub use log_level::LogLevel;
#[cfg(all(feature = "server", unix))]
pub use server::SocketError;
#[cfg(feature = "server")]
pub use server::{
    Abilities, Ability, Ask, AskKind, Authenticator, Bench, Caller, CallingClient, Denied, Ended, McpServe,
    McpServeBuilder, Mode, ModeError, Principal, PromptRole, Prompts, Resources, ServeLimits, ServedPrompt,
    Toolbox, Unasked,
};
#[cfg(feature = "server-http")]
pub use server::{
    AccessEntry, AccessLog, AllowedHost, AllowedOrigin, DoorError, HttpConfig, HttpLimits, HttpListener,
    JsonLinesLog, Rate, ServeError, StaticTokens, StaticTokensError,
};
#[cfg(feature = "server-oauth")]
pub use server::{AuthorizationServer, AuthorizationServerError, Introspection, JwtBearer};
