use crate::client::answer::HostAnswers;
use crate::client::answers::Answers;
use crate::client::server::{Ear, Parts};
use crate::client::session::Dial;
use crate::client::trust::{Judge, PinJudge};
use crate::client::ways::Ways;
use crate::{
    CredentialStore, EraMemory, McpEvents, McpServer, McpSource, MemoryPins, PinStore, Roots, Sampler,
    ServerConfig, ServerName, ServerStatus, Start,
};
use futures_util::future::join_all;
use haft_process::Environment;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How many servers start at once by default.
const PARALLEL_STARTS: usize = 8;

/// Is the MCP servers of a host; clones are the same ones.
///
/// Each server has an actor of its own that keeps the connection to it. It is a task of the runtime in which the server is
/// first used, and ends when everything that uses the server is dropped: this, its [sources](Self::sources) and its tools.
///
/// ```
/// use haft_mcp::{McpServers, ServerConfig, ServerProgram, ServerState, Transport};
///
/// let program = ServerProgram::new("uvx", ["mcp-server-time"]);
/// let servers = McpServers::builder().server(ServerConfig::new("time".parse()?, Transport::Stdio(program))).build()?;
/// // Nothing is started before somebody wants its tools.
/// assert_eq!(servers.statuses()[0].state, ServerState::Configured);
/// assert!(servers.get("time").is_some() && servers.get("notes").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct McpServers(Arc<[McpServer]>);

/// Sets [`McpServers`] up.
///
/// ```
/// use haft_mcp::{McpServers, MemoryPins, ServerConfig, ServerProgram, Transport};
///
/// let program = ServerProgram::new("uvx", ["mcp-server-time"]);
/// let servers = McpServers::builder()
///     .server(ServerConfig::new("time".parse()?, Transport::Stdio(program)))
///     .pins(MemoryPins::default())
///     .parallel_starts(2)
///     .build()?;
/// assert_eq!(servers.iter().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct McpServersBuilder {
    configs: Vec<ServerConfig>,
    parallel_starts: usize,
    ways: Ways,
    /// What is used instead of the ways, in tests.
    dialer: Option<Arc<dyn Dialer>>,
    host: HostAnswers,
    answers: Option<Arc<dyn Answers>>,
    judge: Arc<dyn Judge>,
}

/// Says that two servers are called the same.
///
/// ```
/// use haft_mcp::{McpServers, ServerConfig, ServerProgram, Transport};
///
/// let time = || {
///     let program = ServerProgram::new("uvx", ["mcp-server-time"]);
///     "time".parse().map(|name| ServerConfig::new(name, Transport::Stdio(program)))
/// };
/// let refused = McpServers::builder().server(time()?).server(time()?).build().unwrap_err();
/// assert!(refused.to_string().contains("time"), "{refused}");
/// # Ok::<(), haft_mcp::ServerNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two MCP servers are called `{0}`; rename one of them")]
pub struct DuplicateServerError(ServerName);

/// Knows how servers are reached.
pub(crate) trait Dialer: Send + Sync + 'static {
    /// Makes what opens the connections to a server.
    fn dial(&self, server: &ServerConfig) -> Arc<dyn Dial>;
}

impl McpServers {
    /// Sets servers up.
    pub fn builder() -> McpServersBuilder {
        McpServersBuilder {
            configs: Vec::new(),
            parallel_starts: PARALLEL_STARTS,
            ways: Ways::default(),
            dialer: None,
            host: HostAnswers::default(),
            answers: None,
            judge: Arc::new(PinJudge::new(Arc::new(MemoryPins::default()))),
        }
    }

    /// Iterates over the servers, in the order in which they were added.
    pub fn iter(&self) -> std::slice::Iter<'_, McpServer> {
        self.0.iter()
    }

    /// Finds a server by what it is called here.
    pub fn get(&self, name: &str) -> Option<&McpServer> {
        self.iter().find(|server| server.name().as_str() == name)
    }

    /// The tools of each server, for a catalog.
    pub fn sources(&self) -> Vec<McpSource> {
        self.iter().map(McpServer::source).collect()
    }

    /// Says how each server is doing.
    pub fn statuses(&self) -> Vec<ServerStatus> {
        self.iter().map(McpServer::status).collect()
    }

    /// Starts the servers that are to be started [at once](Start::Eager), several at a time, and waits until each of them
    /// answers or has failed; what came of it is in their statuses.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the servers go on starting.
    pub async fn start(&self) {
        let eager = self.iter().filter(|server| server.config().start == Start::Eager);
        join_all(eager.map(McpServer::start)).await;
    }

    /// Ends all servers at once, and waits until they are gone with all their processes.
    ///
    /// # Cancel safety
    ///
    /// Those that were reached are ended all the same.
    pub async fn stop(&self) {
        join_all(self.iter().map(McpServer::stop)).await;
    }
}

impl McpServersBuilder {
    /// Adds a server, after those that were added before.
    pub fn server(mut self, config: ServerConfig) -> Self {
        self.configs.push(config);
        self
    }

    /// Sets how many servers start at once; 8 by default, and at least one. A server's time to start begins with its turn.
    pub fn parallel_starts(mut self, most: usize) -> Self {
        self.parallel_starts = most;
        self
    }

    /// Says which variables every program is given that is started for a server, besides its own; the [smallest
    /// set](Environment::minimal) by default.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.ways.environment = environment;
        self
    }

    /// Says where it is remembered which era of the protocol a server speaks; by default that lasts as long as the servers do.
    pub fn eras(mut self, memory: impl EraMemory) -> Self {
        self.ways.eras = Arc::new(memory);
        self
    }

    /// Says where logins to servers are kept; by default they last as long as the servers do.
    pub fn credentials(mut self, store: impl CredentialStore) -> Self {
        self.ways.credentials = Arc::new(store);
        self
    }

    /// Says where it is kept which tools of a server were accepted; by default that lasts as long as the servers do.
    ///
    /// The tools that a server lists first are accepted as they are. From then on, one that is new, or is not what it was,
    /// denies every call until it is accepted in this store.
    pub fn pins(mut self, store: impl PinStore) -> Self {
        self.judge = Arc::new(PinJudge::new(Arc::new(store)));
        self
    }

    /// Says that people can be asked what servers want to know, by way of the calls they work on; not by default, and
    /// servers are told so.
    pub fn asking_people(mut self) -> Self {
        self.host = self.host.asking_people();
        self
    }

    /// Says which directories servers are told of; of none by default.
    pub fn roots(mut self, roots: impl Roots) -> Self {
        self.host = self.host.roots(Arc::new(roots));
        self
    }

    /// Says who takes the turns of a model that servers want; nobody does by default, and servers are told so.
    ///
    /// Each turn is a call of the tool `sampling/createMessage` of the server, which is among its tools for this and which
    /// no model is told of: a rule permits it, or a person does.
    pub fn sampler(mut self, sampler: impl Sampler) -> Self {
        self.host = self.host.sampler(Arc::new(sampler));
        self
    }

    /// Tells what changes of the servers besides their tools, from now on.
    pub fn events(&self) -> McpEvents {
        self.host.events()
    }

    /// Says how servers are reached.
    #[cfg(test)]
    pub(crate) fn dialer(mut self, dialer: impl Dialer) -> Self {
        self.dialer = Some(Arc::new(dialer));
        self
    }

    /// Says who answers what servers ask.
    #[cfg(test)]
    pub(crate) fn answers(mut self, answers: impl Answers) -> Self {
        self.answers = Some(Arc::new(answers));
        self
    }

    /// Says who judges whether tools are those that were accepted.
    #[cfg(test)]
    pub(crate) fn judge(mut self, judge: impl Judge) -> Self {
        self.judge = Arc::new(judge);
        self
    }

    /// Makes the servers, none of which is started yet.
    ///
    /// # Errors
    ///
    /// When two servers are called the same.
    pub fn build(self) -> Result<McpServers, DuplicateServerError> {
        let Self { configs, parallel_starts, ways, dialer, host, answers, judge } = self;
        let dialer = dialer.unwrap_or_else(|| Arc::new(ways));
        let answers = answers.unwrap_or_else(|| Arc::new(host));
        let starts = Arc::new(Semaphore::new(parallel_starts.clamp(1, Semaphore::MAX_PERMITS)));
        let mut servers: Vec<McpServer> = Vec::with_capacity(configs.len());
        for config in configs {
            if servers.iter().any(|server| *server.name() == config.name) {
                return Err(DuplicateServerError(config.name));
            }
            servers.push(McpServer::new(Parts {
                dial: dialer.dial(&config),
                ear: Ear::new(config.name.clone(), Arc::clone(&answers)),
                judge: Arc::clone(&judge),
                starts: Arc::clone(&starts),
                config,
            }));
        }
        Ok(McpServers(servers.into()))
    }
}

impl<'a> IntoIterator for &'a McpServers {
    type Item = &'a McpServer;
    type IntoIter = std::slice::Iter<'a, McpServer>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for McpServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(McpServer::name)).finish()
    }
}

impl fmt::Debug for McpServersBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServersBuilder").field("servers", &self.configs.len()).finish_non_exhaustive()
    }
}
