use super::NotConnected;
use crate::{Era, ServerName};
use std::fmt;
use std::time::Duration;

/// Says how a server is doing.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// let status = notes.status();
/// let line = format!("{} is {}, with {} tools", status.name, status.state, status.tools);
/// assert_eq!(line, "notes is configured, with 0 tools");
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// What it is called here.
    pub name: ServerName,
    /// Where it stands.
    pub state: ServerState,
    /// Which era of the protocol it speaks; known while there is a connection.
    pub era: Option<Era>,
    /// Which revision of the protocol is spoken; known while there is a connection.
    pub revision: Option<String>,
    /// The name and version it gives itself, which identify nothing; known while there is a connection.
    pub calls_itself: Option<String>,
    /// What it says of how it is used, made visible, at most 4 KiB; known while there is a connection.
    pub instructions: Option<String>,
    /// Counts the connections there were to it.
    pub generation: u64,
    /// How many tools it has that can be used or wait to be accepted.
    pub tools: usize,
    /// Why it is not [ready](ServerState::Ready), for people; at most 2 KiB.
    pub reason: Option<String>,
    /// The last of what its program wrote to its standard error before it ended, if it has ended; at most 64 KiB.
    pub last_words: Option<String>,
    /// Where a person has to log in, in the state [`ServerState::NeedsLogin`], if a login could be begun.
    pub login_url: Option<String>,
    /// How long it is until it is started again, in the state [`ServerState::Backoff`].
    pub retry_in: Option<Duration>,
    /// What a person should know of its tools; at most 201.
    pub notices: Vec<ServerNotice>,
}

/// Says that a server could not be started, and how it is doing instead; for people.
///
/// ```
/// use haft_mcp::{ServerState, StartError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// let error: StartError = notes.start().await.unwrap_err();
/// assert!(error.to_string().starts_with("cannot start the MCP server `notes`: "));
/// assert_ne!(error.status().state, ServerState::Ready);
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot start the MCP server `{}`: {reason}", status.name)]
pub struct StartError {
    status: Box<ServerStatus>,
    /// Why it could not be started, whatever became of it since.
    reason: String,
}

/// Says where a server stands.
///
/// ```
/// use haft_mcp::ServerState;
///
/// assert_eq!(ServerState::default(), ServerState::Configured);
/// assert_eq!(ServerState::NeedsLogin.to_string(), "needs login");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ServerState {
    /// It is known, and not started.
    #[default]
    Configured,
    /// It is being started.
    Starting,
    /// It answers.
    Ready,
    /// It answers, and something that it offers cannot be used.
    Degraded,
    /// It could not be started or has ended, and is started again after a while.
    Backoff,
    /// It could not be started or has ended, too often to be started again for now.
    Failed,
    /// It wants a person to log in.
    NeedsLogin,
}

/// Is something that a person should know of the tools of a server.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// let lines: Vec<String> = notes.status().notices.iter().map(ToString::to_string).collect();
/// assert!(lines.is_empty(), "nothing is known of it yet");
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerNotice {
    /// What kind of thing it is.
    pub kind: NoticeKind,
    /// Which tool it is about, by the name the server gives it, made visible; `None` if about none that has a name.
    pub tool: Option<String>,
    /// What it is, for people, on one line.
    pub text: String,
}

/// Says what kind of notice one is.
///
/// ```
/// use haft_mcp::{NoticeKind, ServerStatus};
///
/// /// Counts the tools that a person has to look at.
/// fn quarantined(status: &ServerStatus) -> usize {
///     status.notices.iter().filter(|notice| notice.kind == NoticeKind::Quarantined).count()
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// assert_eq!(quarantined(&notes.status()), 0);
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoticeKind {
    /// Something was left out.
    LeftOut,
    /// Something is not as it should be, and is used as far as it can be.
    Odd,
    /// Something holds characters that cannot be seen or that turn others around.
    Hidden,
    /// A tool cannot be called until it is accepted.
    Quarantined,
}

impl StartError {
    pub(super) fn new(status: ServerStatus, why: &NotConnected) -> Self {
        let reason = match why {
            NotConnected::Stopped(_) => "it was stopped".to_owned(),
            NotConnected::Failed { failure, .. } => failure.reason.clone(),
            NotConnected::NeedsLogin { server, .. } => {
                format!("it needs a login; run `haft mcp login {server}`")
            }
        };
        Self { status: Box::new(status), reason }
    }

    /// Borrows how the server is doing since.
    pub fn status(&self) -> &ServerStatus {
        &self.status
    }
}

impl fmt::Display for ServerNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(tool) => write!(f, "`{tool}`: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configured => "configured",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Degraded => "degraded",
            Self::Backoff => "backoff",
            Self::Failed => "failed",
            Self::NeedsLogin => "needs login",
        })
    }
}
