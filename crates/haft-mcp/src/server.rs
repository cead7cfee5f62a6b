//! The registry turned outwards: any client of the protocol, of either era, is served the tools of a host.
//!
//! What speaks the protocol is below `rmcp_service`; what a call goes through, with its approvals and questions, is below
//! `calls`; the HTTP around it below `front`; and which tools are served by which name below `catalog`.

mod ask;
#[cfg(feature = "server-http")]
mod auth;
mod authenticator;
mod caller;
mod calls;
mod catalog;
mod content;
#[cfg(feature = "server-http")]
mod front;
mod limits;
mod line;
mod offers;
mod rmcp_service;
mod round;
#[cfg(feature = "server-http")]
mod serve_http;
#[cfg(unix)]
mod socket;
mod tool_server;
mod toolbox;

pub use ask::{Ask, AskKind, ClientAskError};
#[cfg(feature = "server-oauth")]
pub use auth::{AuthorizationServer, AuthorizationServerError, Introspection, JwtBearer};
#[cfg(feature = "server-http")]
pub use auth::{StaticTokens, StaticTokensError};
pub use authenticator::{AuthenticationError, Authenticator};
pub use caller::{Abilities, Ability, Caller, Principal};
#[cfg(all(test, feature = "client"))]
pub(crate) use calls::fixture::{Paper, Probe, able, in_both_eras};
pub use catalog::{ServeMode, ServeModeError};
#[cfg(feature = "client")]
pub(crate) use content::Block;
#[cfg(feature = "server-http")]
pub use front::{
    AccessEntry, AccessLog, AllowedHost, AllowedOrigin, DoorError, HttpConfig, HttpLimits, HttpListener,
    JsonlAccessLog, Rate, ServeError,
};
pub use limits::ToolServerLimits;
pub use offers::{Prompts, Resources, ServedPrompt};
#[cfg(unix)]
pub use tool_server::SocketError;
pub use tool_server::{Ended, ToolServer, ToolServerBuilder};
pub use toolbox::{CallingClient, Toolbox, Toolset};
