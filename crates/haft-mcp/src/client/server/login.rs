use crate::client::session::Fault;
use crate::shown::line;
use crate::{McpServer, ServerName, ServerStatus};

/// The most bytes that are told of why a login is in vain.
const MOST_REASON: usize = 2 << 10;

/// Says why nobody can log in to a server, or out.
///
/// ```
/// use haft_mcp::LoginError;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// // A program is nobody's to log in to.
/// assert!(matches!(notes.log_in().await, Err(LoginError::NoLogin(server)) if server.as_str() == "notes"));
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// It is a program, or it is given the header `Authorization` that is configured.
    #[error(
        "the MCP server `{0}` needs no login: it is a program, or its `Authorization` is configured; take that out to log in"
    )]
    NoLogin(ServerName),
    /// It is one that could take a login, and something stood in the way.
    #[error("the login to the MCP server `{server}` failed: {reason}")]
    Failed {
        /// What it is called here.
        server: ServerName,
        /// What stood in the way, for people; at most 2 KiB.
        reason: String,
    },
}

impl McpServer {
    /// Begins a login although the server need not have asked for one, or goes on with the one that was begun; gives the
    /// address at which a person logs in.
    ///
    /// The person comes back to this process, within 10 minutes and as long as the server is held. Where the server waits for
    /// the login, it is connected to then by itself. The login is kept where
    /// [`credentials`](crate::McpServersBuilder::credentials) says.
    ///
    /// # Errors
    ///
    /// When the server takes no login, or none can be begun.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a login that was begun stays so.
    pub async fn log_in(&self) -> Result<String, LoginError> {
        self.login_result(self.shared().dial.log_in().await)
    }

    /// Waits until a login that was begun was in vain, since this was done last, and says why: a person refused, or the
    /// authorization server did. It waits for ever for a server that takes no login.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropped before it is done, it misses nothing.
    pub async fn login_failed(&self) -> LoginError {
        let reason = line(&self.shared().dial.login_failed().await, MOST_REASON);
        LoginError::Failed { server: self.name().clone(), reason }
    }

    /// Forgets the login to the server, and gives up one that was begun. The authorization server is not told.
    ///
    /// # Errors
    ///
    /// When the server takes no login, or the kept one cannot be removed.
    pub async fn log_out(&self) -> Result<(), LoginError> {
        self.login_result(self.shared().dial.log_out().await)
    }

    /// Waits until the server stands as is wanted, and says how it stands then; it is not started for that.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: it changes nothing.
    pub async fn wait_for(&self, mut wanted: impl FnMut(&ServerStatus) -> bool + Send) -> ServerStatus {
        let mut standings = self.standings();
        loop {
            let status = self.status();
            if wanted(&status) {
                return status;
            }
            // The sender is held by `self`.
            let _ = standings.changed().await;
        }
    }

    fn login_result<T>(&self, result: Option<Result<T, Fault>>) -> Result<T, LoginError> {
        let server = || self.name().clone();
        let result = result.ok_or_else(|| LoginError::NoLogin(server()))?;
        result.map_err(|fault| LoginError::Failed {
            server: server(),
            reason: line(&fault.to_string(), MOST_REASON),
        })
    }
}
