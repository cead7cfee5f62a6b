use super::standing::{Connection, Failure, Standing};
use super::{Parts, ServerState, ServerStatus, Shared, StartError, actor};
use crate::client::listing::{Definition, Listing};
use crate::{McpSource, QuarantinedTool, ServerConfig, ServerContent, ServerName};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// Is one server: clones are the same one, and the last that is dropped ends it.
///
/// ```
/// use haft_mcp::ServerState;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// assert_eq!(notes.name().as_str(), "notes");
/// let failed = notes.start().await.unwrap_err();
/// assert_ne!(failed.status().state, ServerState::Ready);
/// println!("{failed}");
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpServer(Arc<Handle>);

struct Handle {
    shared: Arc<Shared>,
    /// The actor, once it is needed.
    actor: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// Says why there is no connection to a server; for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum NotConnected {
    /// It was stopped.
    #[error("the MCP server `{0}` was stopped")]
    Stopped(ServerName),
    /// It could not be started, or has ended.
    #[error("the MCP server `{server}` is not there: {}", failure.reason)]
    Failed { server: ServerName, failure: Failure },
    /// A person has to log in.
    #[error("the MCP server `{server}` needs a login; run `haft mcp login {server}`")]
    NeedsLogin { server: ServerName, url: Option<String> },
}

/// How often a server that keeps ending before its tools are read is waited for.
const MOST_READINGS: usize = 8;

impl McpServer {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(Handle { shared: Arc::new(Shared::new(parts)), actor: Mutex::default() }))
    }

    /// What the server is called here.
    pub fn name(&self) -> &ServerName {
        &self.config().name
    }

    /// How it is reached and what it may take.
    pub fn config(&self) -> &ServerConfig {
        &self.0.shared.config
    }

    /// Gives its resources and prompts to the host.
    pub fn content(&self) -> ServerContent {
        ServerContent::new(Arc::new(self.clone()))
    }

    /// Says how it is doing.
    pub fn status(&self) -> ServerStatus {
        self.0.shared.standing.borrow().status(self.config())
    }

    /// The last lines of what it wrote to its log over the protocol, the oldest first, made visible; at most 64 KiB.
    pub fn log(&self) -> Vec<String> {
        self.0.shared.ear.log()
    }

    /// The tools that nobody may call, as it listed them last, for a person to look at.
    ///
    /// Those that wait to be accepted are among them, and those that cannot be, such as one that has the name of another.
    pub fn quarantined(&self) -> Vec<QuarantinedTool> {
        let standing = self.0.shared.standing.borrow();
        let tools = standing.listing.iter().flat_map(|(_, listing)| &*listing.tools);
        tools.filter_map(|tool| tool.quarantined()).collect()
    }

    /// Its tools, for a catalog.
    pub fn source(&self) -> McpSource {
        McpSource::new(self.clone())
    }

    /// Starts it, if there is no connection to it yet, and waits until it answers or has failed.
    ///
    /// # Errors
    ///
    /// When it could not be started, with the reason for people, or when it needs a login.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the server goes on starting.
    pub async fn start(&self) -> Result<(), StartError> {
        self.0.shared.wants.send_modify(|wants| wants.open = true);
        self.connected(0).await.map(drop).map_err(|why| StartError::new(self.status(), &why))
    }

    /// Has its tools read again, soon and without waiting for it.
    pub fn refresh(&self) {
        self.0.shared.wants.send_modify(|wants| wants.refreshed += 1);
    }

    /// Ends the connection, if there is one, and makes another, without waiting for it; what counted against it counts no
    /// longer.
    ///
    /// Must be called within a runtime.
    pub fn restart(&self) {
        self.0.shared.wants.send_modify(|wants| {
            wants.open = true;
            wants.asked += 1;
            wants.restarted += 1;
        });
        self.act();
    }

    /// Ends the connection and the program behind it, and waits until they are gone; calls in flight are answered with an
    /// error, and later ones, too, until it is [started](Self::start) again.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the server is ended all the same.
    pub async fn stop(&self) {
        let mut number = 0;
        self.0.shared.wants.send_modify(|wants| {
            wants.open = false;
            wants.stopped += 1;
            wants.voided = wants.asked;
            number = wants.stopped;
        });
        let is_acting = self.actor().as_ref().is_some_and(|actor| !actor.is_finished());
        if is_acting {
            // The sender is held by `self`.
            let _ = self.0.shared.standing.subscribe().wait_for(|standing| standing.stopped >= number).await;
        }
    }

    /// Waits for a connection whose number is greater than one; has it made if need be.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: connecting goes on.
    pub(crate) async fn connected(&self, after: u64) -> Result<Connection, NotConnected> {
        let shared = &self.0.shared;
        let usable = |standing: &Standing| {
            let connection = standing.connection.as_ref()?;
            let is_new = connection.generation > after && !connection.session.ended().is_cancelled();
            is_new.then(|| connection.clone())
        };
        let attempts = {
            let standing = shared.standing.borrow();
            if let Some(connection) = usable(&standing) {
                return Ok(connection);
            }
            standing.attempts
        };
        if !shared.wants.borrow().open {
            return Err(NotConnected::Stopped(self.name().clone()));
        }
        let (mut standing, mut wants) = (shared.standing.subscribe(), shared.wants.subscribe());
        shared.wants.send_modify(|wants| wants.asked += 1);
        self.act();
        let settled = |standing: &Standing| {
            usable(standing).is_some()
                || standing.state == ServerState::Failed
                || standing.attempts > attempts && standing.connection.is_none()
        };
        tokio::select! {
            biased;
            standing = standing.wait_for(settled) => {
                let standing = standing.map(|standing| standing.clone()).unwrap_or_default();
                usable(&standing).ok_or_else(|| self.not_connected(&standing))
            }
            _ = wants.wait_for(|wants| !wants.open) => Err(NotConnected::Stopped(self.name().clone())),
        }
    }

    /// Waits for the tools as the server has them now.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: reading them goes on.
    pub(crate) async fn listed(&self) -> Result<Listing, NotConnected> {
        let mut standing = self.0.shared.standing.subscribe();
        // What it has told by now has to be known; what it tells meanwhile may be.
        let told = self.0.shared.ear.tools_told();
        for _ in 0..MOST_READINGS {
            let generation = self.connected(0).await?.generation;
            let readings = {
                let standing = standing.borrow_and_update();
                if let Some(listing) = standing.fresh(generation, told) {
                    return Ok(listing.clone());
                }
                let was_read = standing.listing.as_ref().is_some_and(|(of, _)| *of >= generation);
                if was_read || standing.unread.is_some() {
                    self.read_after(standing.readings);
                }
                standing.readings
            };
            let done = |standing: &Standing| {
                let is_gone = standing.connection.as_ref().is_none_or(|c| c.generation > generation);
                standing.readings > readings || is_gone
            };
            let Ok(standing) = standing.wait_for(done).await else { break };
            if standing.readings == readings {
                continue;
            }
            if let Some(listing) = standing.fresh(generation, told) {
                return Ok(listing.clone());
            }
            if standing.unread.is_some() {
                return Err(self.not_connected(&standing));
            }
        }
        let standing = self.0.shared.standing.borrow().clone();
        Err(self.not_connected(&standing))
    }

    /// Tells whether a tool that it listed is still accepted as it was.
    pub(crate) async fn still_trusts(&self, tool: &Definition) -> bool {
        self.0.shared.judge.still_trusts(self.config(), &tool.foreign, tool.digest).await
    }

    /// Has the tools read once more, after they have been so often; once for all who want it.
    fn read_after(&self, readings: u64) {
        self.0.shared.wants.send_if_modified(|wants| {
            let is_new = wants.readings <= readings;
            if is_new {
                wants.readings = readings + 1;
                wants.refreshed += 1;
            }
            is_new
        });
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    fn not_connected(&self, standing: &Standing) -> NotConnected {
        let server = self.name().clone();
        match standing.unread.as_ref().or(standing.failure.as_ref()) {
            Some(Failure { login: Some(login), .. }) => {
                NotConnected::NeedsLogin { server, url: login.url.clone() }
            }
            Some(failure) => NotConnected::Failed { server, failure: failure.clone() },
            None => NotConnected::Stopped(server),
        }
    }

    /// Has the actor run, if it does not yet.
    fn act(&self) {
        let mut actor = self.actor();
        if actor.as_ref().is_none_or(AbortOnDropHandle::is_finished) {
            let task = tokio::spawn(actor::run(Arc::clone(&self.0.shared)));
            *actor = Some(AbortOnDropHandle::new(task));
        }
    }

    fn actor(&self) -> std::sync::MutexGuard<'_, Option<AbortOnDropHandle<()>>> {
        self.0.actor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets one wait until it stands otherwise.
    pub(super) fn standings(&self) -> watch::Receiver<Standing> {
        self.0.shared.standing.subscribe()
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("name", self.name()).finish_non_exhaustive()
    }
}
