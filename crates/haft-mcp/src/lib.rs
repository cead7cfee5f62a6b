//! Tools of Model Context Protocol servers as ordinary tools.
//!
//! Both eras of the protocol are spoken, in both directions: the one in which a connection begins with `initialize` (up to the revision
//! 2025-11-25) and the stateless one of 2026-07-28.
//!
//! # As a client
//!
//! With the feature `client`, each tool of a server becomes a tool of the registry: validated, permissioned, scheduled, bounded and
//! recorded like any other. A `ServerConfig` says how a server is reached (as a program, at a socket, or over HTTP) and what it may take;
//! `McpServers` holds several of them, each with an actor that keeps the connection and starts it anew where it breaks; and each gives an
//! `McpSource`, by which a [`Catalog`](haft_tools_core::Catalog) has its tools, under `SERVER__TOOL`. A server that cannot be reached has no
//! tools and a status that says why, and no other notices.
//!
//! What a server says of its tools is not trusted. A tool that becomes another under its old name is held back until somebody accepts
//! it (`PinStore`), and hints permit nothing.
//!
//! ```
//! # #[cfg(feature = "client")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use haft_mcp::{McpServers, ServerConfig, ServerProgram, Transport};
//! use haft_tools_core::Catalog;
//!
//! let program = ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
//! let notes = ServerConfig::new("notes".parse()?, Transport::Stdio(program));
//! let servers = McpServers::builder().server(notes).build()?;
//!
//! let mut catalog = Catalog::builder();
//! for source in servers.sources() {
//!     catalog = catalog.source(source);
//! }
//! let catalog = catalog.build()?;
//! catalog.refresh().await;
//! assert_eq!(catalog.snapshot().names().count(), 0);
//! assert_eq!(catalog.statuses()[0].name, "notes");
//! servers.stop().await;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "client"))]
//! # fn main() {}
//! ```
//!
//! # As a server
//!
//! With the feature `server`, a `ToolServer` serves the tools of a host over standard streams, sockets and, with `server-http`, over HTTP.
//! Whoever calls gets a `Toolset` from the host's `Toolbox`: the tools, the executor with its policy, and the scope of the calls. What has
//! to be asked is asked through the client where it can, and otherwise the call waits like any other.

#[cfg(feature = "client")]
mod client;
#[cfg(all(feature = "client", feature = "server"))]
mod forwarding;
#[cfg(any(feature = "client", feature = "server"))]
mod lines;
#[cfg(any(feature = "client", feature = "server"))]
mod listed_template;
#[cfg(any(feature = "client", feature = "server"))]
mod log_level;
#[cfg(any(feature = "client", feature = "server"))]
mod prompt_argument;
#[cfg(any(feature = "client", feature = "server"))]
mod prompt_message;
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
    AcceptedTool, Completion, CompletionOf, ConfigError, ConfigProblem, CredentialStore,
    DuplicateServerError, Era, EraMemory, ExpansionError, FileCredentials, FilePins, ListedPrompt,
    ListedResource, LoginConfig, LoginError, McpEvent, McpEventKind, McpEvents, McpServer, McpServers,
    McpServersBuilder, McpSource, MemoryCredentials, MemoryEras, MemoryPins, NamedTool, NoticeKind, PinError,
    PinStore, PromptText, QuarantinedTool, RefusedServer, RegisteredClient, RemoteServer, ResourceWatch,
    Root, Roots, Sampled, SampledStop, Sampler, SamplingRequest, ServerConfig, ServerContent, ServerIdentity,
    ServerLimits, ServerList, ServerName, ServerNameError, ServerNotice, ServerPins, ServerProgram,
    ServerRequestError, ServerState, ServerStatus, ServersFile, Start, StartError, Transport, WaitingTool,
    expand_variables,
};
#[cfg(all(feature = "client", feature = "server"))]
pub use forwarding::{ClientRoots, ClientSampler};
#[cfg(any(feature = "client", feature = "server"))]
pub use listed_template::ListedTemplate;
#[cfg(any(feature = "client", feature = "server"))]
pub use log_level::LogLevel;
#[cfg(any(feature = "client", feature = "server"))]
pub use prompt_argument::PromptArgument;
#[cfg(any(feature = "client", feature = "server"))]
pub use prompt_message::{PromptMessage, PromptRole};
#[cfg(all(feature = "server", unix))]
pub use server::SocketError;
#[cfg(feature = "server")]
pub use server::{
    Abilities, Ability, Ask, AskKind, AuthenticationError, Authenticator, Caller, CallingClient,
    ClientAskError, Ended, Principal, Prompts, Resources, ServeMode, ServeModeError, ServedPrompt,
    ToolServer, ToolServerBuilder, ToolServerLimits, Toolbox, Toolset,
};
#[cfg(feature = "server-http")]
pub use server::{
    AccessEntry, AccessLog, AllowedHost, AllowedOrigin, DoorError, HttpConfig, HttpLimits, HttpListener,
    JsonlAccessLog, Rate, ServeError, StaticTokens, StaticTokensError,
};
#[cfg(feature = "server-oauth")]
pub use server::{AuthorizationServer, AuthorizationServerError, Introspection, JwtBearer};
