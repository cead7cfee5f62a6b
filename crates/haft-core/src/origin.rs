use serde::{Deserialize, Serialize};
use std::fmt;

/// Tells where a tool comes from, with the exact name it has there.
///
/// Permissions and selectors go by the origin, never by what a server says of itself.
///
/// ```
/// use haft_core::Origin;
///
/// let origin = Origin::Mcp { server: "github".into(), tool: "create issue".into() };
/// assert_eq!(origin.to_string(), "mcp:github/create issue");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// One of the tools that come with haft.
    Builtin,
    /// A tool that the host program wrote.
    #[default]
    Host,
    /// A tool of an MCP server.
    Mcp {
        /// The server's name in the host's configuration.
        server: String,
        /// The tool's name as the server gave it.
        tool: String,
    },
    /// An operation of an OpenAPI document.
    OpenApi {
        /// The document's name in the host's configuration.
        document: String,
        /// The operation as the document names it.
        operation: String,
    },
    /// A sub-agent.
    Agent {
        /// The agent's name.
        name: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str("builtin"),
            Self::Host => f.write_str("host"),
            Self::Mcp { server, tool } => write!(f, "mcp:{server}/{tool}"),
            Self::OpenApi { document, operation } => write!(f, "openapi:{document}/{operation}"),
            Self::Agent { name } => write!(f, "agent:{name}"),
        }
    }
}
