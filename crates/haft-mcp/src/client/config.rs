mod document;
mod entry;
mod expansion;
mod problem;
mod quantity;
mod schema;
mod server_name;
mod servers_file;

pub use expansion::{ExpansionError, expand_variables};
pub use problem::{ConfigError, ConfigProblem};
pub use server_name::{ServerName, ServerNameError};
pub use servers_file::{RefusedServer, ServersFile};

use crate::{LogLevel, LoginConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// Says how a server is reached and what it may take.
///
/// ```
/// use haft_mcp::{LogLevel, RemoteServer, ServerConfig, Start, Transport};
///
/// let mut search = ServerConfig::new("search".parse()?, Transport::Http(RemoteServer::new("https://mcp.example.org")));
/// assert_eq!((search.start, search.era, search.log_level), (Start::Lazy, None, Some(LogLevel::Info)));
/// // To search twice is to search once, so a call that the server did not survive is made again.
/// search.repeatable.insert("query".to_owned());
/// search.resource_tools = true;
/// # Ok::<(), haft_mcp::ServerNameError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerConfig {
    /// What the server is called here.
    pub name: ServerName,
    /// How it is reached.
    pub transport: Transport,
    /// How it is reached as a file says it, where variables are not replaced: this identifies it, so that it stays the same
    /// server when a secret changes. `None`, the default, if `transport` itself does; whoever changes that changes this, too.
    pub written: Option<Transport>,
    /// When it is started; [`Start::Lazy`] by default.
    pub start: Start,
    /// The era of the protocol that it speaks; found out if `None`, the default.
    pub era: Option<Era>,
    /// What it may take.
    pub limits: ServerLimits,
    /// Whether its resources can be read by the tools `list_resources` and `read_resource`; not by default.
    pub resource_tools: bool,
    /// Whether the server itself keeps calls apart that must not overlap; not by default, so that calls which may change
    /// something there are sent to it one after the other.
    pub orders_itself: bool,
    /// The tools, by the names the server gives them, for which to be called twice is to be called once: a call of them
    /// that the server did not survive is made once more. None by default; what a tool says of itself counts besides.
    pub repeatable: BTreeSet<String>,
    /// From which level on it is asked for messages of its log, if it has one that can be asked for;
    /// [`LogLevel::Info`] by default. With `None` it is not asked: a server of the modern era then sends none, and one of
    /// the legacy era what it wants.
    ///
    /// What it sends is kept, the last 64 KiB of it, and told as progress to the call that it must belong to.
    pub log_level: Option<LogLevel>,
}

/// Says how a server is reached.
///
/// ```
/// use haft_mcp::{ServersFile, Transport};
///
/// let text = r#"{ "mcpServers": {
///     "files": { "command": "mcp-files" },
///     "issues": { "url": "https://mcp.example.org" }
/// } }"#;
/// let reached: Vec<String> = ServersFile::from_json(text, ".mcp.json", &|_| None)?.servers.into_iter().map(|server| {
///     match server.transport {
///         Transport::Stdio(program) => format!("{} starts `{}`", server.name, program.command.display()),
///         Transport::Http(service) => format!("{} is at {}", server.name, service.url),
///         other => format!("{}: {other:?}", server.name),
///     }
/// }).collect();
/// assert_eq!(reached, ["files starts `mcp-files`", "issues is at https://mcp.example.org"]);
/// # Ok::<(), haft_mcp::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Transport {
    /// A program that is started here, spoken to over its standard input and output.
    Stdio(ServerProgram),
    /// A service, spoken to by streamable HTTP.
    Http(RemoteServer),
    /// A program that listens at this socket of this machine; one JSON text a line, as with [`Transport::Stdio`].
    Unix(PathBuf),
}

/// Says which program is started for a server.
///
/// Its arguments and variables may be secrets, and do not show in its `Debug` form.
///
/// ```
/// use haft_mcp::ServerProgram;
///
/// let mut program = ServerProgram::new("mcp-issues", ["--token", "k-123"]);
/// program.variables.insert("REGION".to_owned(), "eu".into());
/// program.directory = Some("/srv/issues".into());
/// let shown = format!("{program:?}");
/// assert!(shown.contains("REGION") && !shown.contains("k-123"));
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ServerProgram {
    /// The program: a path, or a name that is looked for in `PATH`.
    pub command: OsString,
    /// What it is called with.
    pub arguments: Vec<OsString>,
    /// The variables it is given besides those of the allow-list that every program is given.
    pub variables: BTreeMap<String, OsString>,
    /// Where it is started; the directory of this process if `None`.
    pub directory: Option<PathBuf>,
}

/// Says where a service is.
///
/// The headers, and what follows the path in its address, may be secrets, and do not show in its `Debug` form.
///
/// ```
/// use haft_mcp::RemoteServer;
///
/// let mut service = RemoteServer::new("https://mcp.example.org/v1?key=k-123");
/// service.headers.insert("Authorization".to_owned(), "Bearer t-456".to_owned());
/// assert_eq!(
///     format!("{service:?}"),
///     r#"RemoteServer { url: "https://mcp.example.org/v1…", headers: ["Authorization"], .. }"#
/// );
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct RemoteServer {
    /// Its address: `https`, or `http` on this machine.
    pub url: String,
    /// Headers that each request is given; their values are secrets.
    pub headers: BTreeMap<String, String>,
    /// As whom haft logs in where the server wants that; found out by default.
    pub login: LoginConfig,
    /// A file of certificates, in PEM, of authorities that are trusted besides the system's, for the server and where one logs
    /// in to it; `None` by default.
    pub authorities: Option<PathBuf>,
}

/// Says when a server is started.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use haft_mcp::{McpServers, ServerConfig, ServerProgram, ServerState, Start, Transport};
///
/// let absent = |name: &str| Ok::<_, haft_mcp::ServerNameError>(
///     ServerConfig::new(name.parse()?, Transport::Stdio(ServerProgram::new("not-installed-here", [""; 0])))
/// );
/// let mut eager = absent("eager")?;
/// eager.start = Start::Eager;
/// let servers = McpServers::builder().server(eager).server(absent("lazy")?).build()?;
/// servers.start().await;
/// let states: Vec<ServerState> = servers.statuses().into_iter().map(|status| status.state).collect();
/// assert_ne!(states[0], ServerState::Configured);
/// assert_eq!(states[1], ServerState::Configured);
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Start {
    /// When its tools are first asked for.
    #[default]
    Lazy,
    /// With the others, at once.
    Eager,
}

/// Names an era of the protocol.
///
/// ```
/// use haft_mcp::{Era, ServerConfig, ServerProgram, Transport};
///
/// let program = ServerProgram::new("uvx", ["mcp-server-time"]);
/// let mut time = ServerConfig::new("time".parse()?, Transport::Stdio(program));
/// assert_eq!(time.era, None);
/// // It is known, and need not be found out when the server starts.
/// time.era = Some(Era::Legacy);
/// # Ok::<(), haft_mcp::ServerNameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Era {
    /// A connection begins with `initialize`: the revisions up to 2025-11-25.
    Legacy,
    /// Every request stands alone: 2026-07-28.
    Modern,
}

/// Bounds what a server may take.
///
/// ```
/// use haft_mcp::{ServerLimits, ServersFile};
/// use std::time::Duration;
///
/// let text = "[mcp.servers.slow]\ncommand = 'mcp-slow'\nlimits = { timeout = '1h', message = '64 MiB' }";
/// let limits = ServersFile::from_toml(text, "mcp.toml", &|_| None)?.servers[0].limits;
/// assert_eq!((limits.timeout, limits.message_bytes), (Duration::from_hours(1), 64 << 20));
/// assert_eq!(limits.idle_timeout, ServerLimits::default().idle_timeout);
/// # Ok::<(), haft_mcp::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// How long it may take to start; 30 s by default.
    pub start_timeout: Duration,
    /// How long a server that was never met may take to answer in the modern era before the legacy one is tried, too; 3 s by
    /// default.
    pub probe_timeout: Duration,
    /// How long a call may be without news; 60 s by default.
    pub idle_timeout: Duration,
    /// How long a call may take in all; 10 minutes by default. It stands still while a person is asked.
    pub timeout: Duration,
    /// The largest message it may send, in bytes; 16 MiB by default.
    pub message_bytes: usize,
    /// How often it is restarted within [`ServerLimits::restart_window`]; 5 times by default.
    pub restarts: u32,
    /// The time in which restarts are counted; 5 minutes by default.
    pub restart_window: Duration,
}

impl ServerConfig {
    /// Says how a server is reached; all else as by default.
    pub fn new(name: ServerName, transport: Transport) -> Self {
        Self {
            name,
            transport,
            written: None,
            start: Start::default(),
            era: None,
            limits: ServerLimits::default(),
            resource_tools: false,
            orders_itself: false,
            repeatable: BTreeSet::new(),
            log_level: Some(LogLevel::Info),
        }
    }
}

impl ServerConfig {
    /// Has its program start in this directory, or below it where a relative one is configured, and files be looked for there.
    #[must_use]
    pub fn in_directory(mut self, directory: &Path) -> Self {
        for transport in [Some(&mut self.transport), self.written.as_mut()].into_iter().flatten() {
            match transport {
                Transport::Stdio(program) => {
                    let below = program.directory.take().unwrap_or_default();
                    program.directory = Some(directory.join(below));
                }
                Transport::Http(service) => {
                    service.authorities = service.authorities.take().map(|file| directory.join(file));
                }
                Transport::Unix(_) => {}
            }
        }
        self
    }
}

impl ServerProgram {
    /// Says which program is started, with which arguments.
    pub fn new(
        command: impl Into<OsString>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { command: command.into(), arguments, ..Self::default() }
    }
}

impl fmt::Debug for ServerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerProgram")
            .field("command", &self.command)
            .field("arguments", &format_args!("{} not shown", self.arguments.len()))
            .field("variables", &self.variables.keys())
            .field("directory", &self.directory)
            .finish()
    }
}

impl RemoteServer {
    /// Says where a service is.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }
}

impl fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = Url::parse(&self.url).map(|mut url| {
            let hidden = url.query().is_some() || url.fragment().is_some() || !url.username().is_empty();
            url.set_query(None);
            url.set_fragment(None);
            // Both fail only for addresses that cannot have a user.
            let _ = (url.set_username(""), url.set_password(None));
            format!("{url}{}", if hidden { "…" } else { "" })
        });
        f.debug_struct("RemoteServer")
            .field("url", &shown.unwrap_or_default())
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            start_timeout: Duration::from_secs(30),
            probe_timeout: Duration::from_secs(3),
            idle_timeout: Duration::from_mins(1),
            timeout: Duration::from_mins(10),
            message_bytes: 16 * 1024 * 1024,
            restarts: 5,
            restart_window: Duration::from_mins(5),
        }
    }
}
