use super::caller::Principal;
use super::calls::{ServedCalls, SpentNonces, random};
use super::catalog::{ServeMode, Shelf};
use super::limits::ToolServerLimits;
use super::offers::{Prompts, Resources};
use super::rmcp_service::seal::HmacSeal;
use super::rmcp_service::{LineEnd, Serving, Shared, serve_lines, standard_streams};
use super::round::Seal;
use super::toolbox::Toolbox;
use std::fmt;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Serves the tools of a host to any client of the protocol, of either era.
///
/// One can serve over several ways at once. Each call goes through the toolset that the [`Toolbox`] gives for its caller, with
/// its validation, permissions and records.
///
/// ```
/// # use async_trait::async_trait;
/// # use haft_mcp::{Caller, Ended, ToolServer, Toolbox, Toolset};
/// # use haft_tools_core::{CallScope, LocalExecutor, MemoryPending, ToolRegistry};
/// # use std::sync::Arc;
/// #
/// # /// Gives everybody the same tools, which never change.
/// # struct House(Arc<Toolset>);
/// #
/// # #[async_trait]
/// # impl Toolbox for House {
/// #     async fn toolset(&self, _: &Caller, _: Option<&[String]>) -> Result<Arc<Toolset>, String> {
/// #         Ok(Arc::clone(&self.0))
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = ToolRegistry::new();
/// # let executor = Arc::new(LocalExecutor::builder(registry.clone()).build());
/// # let scope = CallScope::new("run-1".parse()?);
/// # let toolset = Toolset::new(move || registry.clone(), executor, scope, Arc::new(MemoryPending::new()));
/// # use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
/// # let (mut client, server) = tokio::io::duplex(1 << 16);
/// # let (reads, writes) = tokio::io::split(server);
/// let serve = ToolServer::builder(House(Arc::new(toolset))).build();
/// let stop = tokio_util::sync::CancellationToken::new();
/// let served = serve.serve_over(reads, writes, stop);
/// # let talk = async {
/// #     let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"0"}}}"#;
/// #     client.write_all(format!("{initialize}\n").as_bytes()).await?;
/// #     client.shutdown().await?;
/// #     let mut answers = String::new();
/// #     client.read_to_string(&mut answers).await?;
/// #     Ok::<_, std::io::Error>(answers)
/// # };
/// // The client asks for the beginning, and closes its side.
/// let (ended, answers) = tokio::join!(served, talk);
/// assert_eq!(ended, Ended::Closed);
/// assert!(answers?.contains(r#""serverInfo""#));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ToolServer {
    pub(super) shared: Arc<Shared>,
}

/// Builds a [`ToolServer`].
///
/// ```
/// # use async_trait::async_trait;
/// # use haft_mcp::{Caller, Ended, ToolServer, Toolbox, Toolset};
/// # use haft_tools_core::{CallScope, LocalExecutor, MemoryPending, ToolRegistry};
/// # use std::sync::Arc;
/// #
/// # /// Gives everybody the same tools, which never change.
/// # struct House(Arc<Toolset>);
/// #
/// # #[async_trait]
/// # impl Toolbox for House {
/// #     async fn toolset(&self, _: &Caller, _: Option<&[String]>) -> Result<Arc<Toolset>, String> {
/// #         Ok(Arc::clone(&self.0))
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = ToolRegistry::new();
/// # let executor = Arc::new(LocalExecutor::builder(registry.clone()).build());
/// # let scope = CallScope::new("run-1".parse()?);
/// # let toolset = Toolset::new(move || registry.clone(), executor, scope, Arc::new(MemoryPending::new()));
/// use haft_mcp::{ServeMode, ToolServerLimits};
///
/// let serve = ToolServer::builder(House(Arc::new(toolset)))
///     .name("house", "1.0")
///     .mode(ServeMode::Search)
///     .limits(ToolServerLimits::default())
///     .build();
/// serve.stop().await;
/// # Ok(())
/// # }
/// ```
#[must_use = "it serves nothing before it is built"]
pub struct ToolServerBuilder {
    toolbox: Arc<dyn Toolbox>,
    name: String,
    version: String,
    mode: ServeMode,
    key: Option<[u8; 32]>,
    limits: ToolServerLimits,
    prompts: Option<Arc<dyn Prompts>>,
    resources: Option<Arc<dyn Resources>>,
}

/// Says how a serving ended.
///
/// ```
/// # use async_trait::async_trait;
/// # use haft_mcp::{Caller, Ended, ToolServer, Toolbox, Toolset};
/// # use haft_tools_core::{CallScope, LocalExecutor, MemoryPending, ToolRegistry};
/// # use std::sync::Arc;
/// #
/// # /// Gives everybody the same tools, which never change.
/// # struct House(Arc<Toolset>);
/// #
/// # #[async_trait]
/// # impl Toolbox for House {
/// #     async fn toolset(&self, _: &Caller, _: Option<&[String]>) -> Result<Arc<Toolset>, String> {
/// #         Ok(Arc::clone(&self.0))
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = ToolRegistry::new();
/// # let executor = Arc::new(LocalExecutor::builder(registry.clone()).build());
/// # let scope = CallScope::new("run-1".parse()?);
/// # let toolset = Toolset::new(move || registry.clone(), executor, scope, Arc::new(MemoryPending::new()));
/// # use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
/// # let (mut client, server) = tokio::io::duplex(1 << 16);
/// # let (reads, writes) = tokio::io::split(server);
/// # let serve = ToolServer::builder(House(Arc::new(toolset))).build();
/// # client.shutdown().await?;
/// # let stop = tokio_util::sync::CancellationToken::new();
/// match serve.serve_over(reads, writes, stop).await {
///     Ended::Closed => println!("the client has gone"),
///     _ => println!("it was told to stop"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// The client has closed its side.
    Closed,
    /// It was told to stop.
    Stopped,
}

/// Says why nothing is served over a socket.
///
/// ```
/// use haft_mcp::SocketError;
///
/// let error = SocketError::Taken { path: "/run/haft.sock".into() };
/// assert_eq!(error.to_string(), "`/run/haft.sock` is served already");
/// ```
#[cfg(unix)]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// The path cannot be listened at.
    #[error("cannot listen at `{}`", path.display())]
    Listen {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else listens there.
    #[error("`{}` is served already", path.display())]
    Taken {
        /// The path.
        path: PathBuf,
    },
}

impl ToolServer {
    /// Begins to say what is served.
    pub fn builder(toolbox: impl Toolbox) -> ToolServerBuilder {
        ToolServerBuilder {
            toolbox: Arc::new(toolbox),
            name: "haft".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mode: ServeMode::default(),
            key: None,
            limits: ToolServerLimits::default(),
            prompts: None,
            resources: None,
        }
    }

    /// Serves whoever started this process, over its standard streams; nothing else may be written to standard output.
    ///
    /// It ends when standard input does, or when the token is cancelled: within a second, whatever calls are running, which
    /// are cancelled. After the end of the input those that were asked for before have 150 ms to be answered.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels what is running; a line that is being written may be left unfinished.
    pub async fn serve_stdio(&self, stop: CancellationToken) -> Ended {
        let (read, write) = standard_streams();
        self.serve_over(read, write, stop).await
    }

    /// Cancels the calls that go on without a request: those that wait for an answer between two of them, and those that are
    /// tasks. It ends when they have ended and are recorded. The calls of requests end with what they are served over.
    ///
    /// # Cancel safety
    ///
    /// All are cancelled at once, whoever waits for that.
    pub async fn stop(&self) {
        self.shared.calls.stop().await;
    }

    /// Serves one client over any two streams, in lines of JSON as over standard streams; it is the process's owner.
    ///
    /// For a client in the same process, such as the two ends of a `tokio::io::duplex`, and for ways that are not listed here.
    ///
    /// # Cancel safety
    ///
    /// As for [`ToolServer::serve_stdio`].
    pub async fn serve_over<R, W>(&self, read: R, write: W, stop: CancellationToken) -> Ended
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let serving = Serving::new(self.shared.clone(), CancellationToken::new());
        let whose = (Principal::local(), session());
        tokio::select! {
            ended = serve_lines(&serving, (read, write), whose, &stop) => ended.into(),
            () = serving.tell_of_changes() => Ended::Stopped,
        }
    }

    /// Serves this process's owner over a socket at a path, each connection as over standard streams.
    ///
    /// Only the owner can open the socket (mode 0600). One that was left behind is replaced; one at which somebody listens is
    /// not. It ends when the token is cancelled, and the socket is removed then.
    ///
    /// # Errors
    ///
    /// When the path cannot be listened at, or somebody does so already.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all connections, and leaves the socket behind.
    #[cfg(unix)]
    pub async fn serve_unix(&self, path: &Path, stop: CancellationToken) -> Result<Ended, SocketError> {
        let socket = super::socket::Socket::bind(path).await?;
        let serving = Serving::new(self.shared.clone(), CancellationToken::new());
        tokio::select! {
            () = socket.serve(&serving, &stop) => {}
            () = serving.tell_of_changes() => {}
        }
        Ok(Ended::Stopped)
    }
}

/// Names a connection.
pub(super) fn session() -> Arc<str> {
    random::<12>().map(|byte| format!("{byte:02x}")).concat().into()
}

impl ToolServerBuilder {
    /// Names the server for its clients; `haft`, with its version, by default.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.name = name.into();
        self.version = version.into();
        self
    }

    /// Says which tools are served, and how clients learn of them; all by default.
    pub fn mode(mut self, mode: ServeMode) -> Self {
        self.mode = mode;
        self
    }

    /// Gives the key of what clients carry from one round of questions to the next.
    ///
    /// Instances that answer one client's requests in turn need the same; by default each process has its own.
    pub fn state_key(mut self, key: [u8; 32]) -> Self {
        self.key = Some(key);
        self
    }

    /// Bounds the calls that go on without a request, otherwise than by default.
    pub fn limits(mut self, limits: ToolServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Offers prompts.
    pub fn prompts(mut self, prompts: impl Prompts) -> Self {
        self.prompts = Some(Arc::new(prompts));
        self
    }

    /// Offers documents.
    pub fn resources(mut self, resources: impl Resources) -> Self {
        self.resources = Some(Arc::new(resources));
        self
    }

    /// Makes the server.
    pub fn build(self) -> ToolServer {
        let seal: Arc<dyn Seal> = match self.key {
            Some(key) => Arc::new(HmacSeal::new(key)),
            None => Arc::new(HmacSeal::of_this_process()),
        };
        let tools = Arc::new(Shelf::new(self.mode.clone()));
        let spent = Arc::new(SpentNonces::default());
        let calls = ServedCalls::new(seal, spent, tools.clone(), self.limits.parked());
        let calls = Arc::new(calls.with_tasks(self.limits.tasks()));
        ToolServer {
            shared: Arc::new(Shared {
                name: self.name,
                version: self.version,
                mode: self.mode,
                toolbox: self.toolbox,
                shelf: tools,
                prompts: self.prompts,
                resources: self.resources,
                calls,
            }),
        }
    }
}

impl From<LineEnd> for Ended {
    fn from(end: LineEnd) -> Self {
        match end {
            LineEnd::Closed => Self::Closed,
            LineEnd::Stopped => Self::Stopped,
        }
    }
}

impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServer").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for ToolServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServerBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
