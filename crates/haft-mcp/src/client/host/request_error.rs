use crate::ServerName;
use crate::shown::line;
use haft_core::ToolError;

/// The code of the protocol for a resource that is not there.
const NO_RESOURCE: i64 = -32_002;

/// The code of JSON-RPC for params that cannot be used; of later revisions, for a resource that is not there, too.
const BAD_PARAMS: i64 = -32_602;

/// The code of JSON-RPC for a method that is not there.
const NO_METHOD: i64 = -32_601;

/// The most bytes of what a server says is wrong.
const MOST_BYTES: usize = 1024;

/// Says why a server did not give what it was asked for.
///
/// ```
/// use haft_mcp::ServerRequestError;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// let error = notes.content().prompts().await.unwrap_err();
/// assert!(matches!(error, ServerRequestError::Unreachable { .. }), "{error}");
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerRequestError {
    /// There is no connection to it, and none could be made.
    #[error("the server cannot be reached: {reason}")]
    Unreachable {
        /// Why.
        reason: String,
    },
    /// It answered with an error.
    #[error("the server answered with the error {code}: {message}")]
    Refused {
        /// The code of JSON-RPC.
        code: i64,
        /// What it says is wrong, made visible and bounded.
        message: String,
    },
    /// It answered too late, with too much, or with what is no answer.
    #[error("the server gave no answer that can be used: {reason}")]
    Unusable {
        /// What is wrong.
        reason: String,
    },
}

/// The most bytes that a model is told of what a server said.
const MOST_TOLD: usize = 1000;

/// The most bytes of what was asked for that a model is told again.
const MOST_WHAT: usize = 300;

impl ServerRequestError {
    pub(crate) fn refused(code: i64, message: &str) -> Self {
        Self::Refused { code, message: line(message, MOST_BYTES) }
    }

    pub(crate) fn unusable(reason: impl Into<String>) -> Self {
        Self::Unusable { reason: reason.into() }
    }

    /// Tells whether the server does not know the method.
    pub(super) fn is_unknown_method(&self) -> bool {
        matches!(self, Self::Refused { code: NO_METHOD, .. })
    }

    /// Tells a model what of a server it does not get; `instead` is its next step where the server does not have that.
    pub(super) fn to_tool_error(&self, server: &ServerName, what: &str, instead: &str) -> ToolError {
        match self {
            Self::Unreachable { .. } => ToolError::unavailable(format!(
                "the server `{server}` cannot be reached now; go on without it"
            )),
            Self::Refused { code: NO_RESOURCE | BAD_PARAMS, message } => {
                let what = line(what, MOST_WHAT);
                ToolError::not_found(format!(
                    "the server `{server}` does not have {what}: {message}; {instead}"
                ))
            }
            Self::Refused { .. } | Self::Unusable { .. } => {
                ToolError::failed(format!("{}; go on without it", line(&self.to_string(), MOST_TOLD)))
            }
        }
        .with_source(self.clone())
    }
}
