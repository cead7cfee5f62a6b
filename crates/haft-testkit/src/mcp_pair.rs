use async_trait::async_trait;
use haft_core::RunId;
use haft_mcp::{Caller, McpServer, McpServers, ServerConfig, ToolServer, Toolbox, Toolset, Transport};
use haft_tools_core::{
    CallScope, Catalog, CatalogBuilder, LocalExecutor, MemoryPending, Policy, Rule, SourceHealth,
    ToolExecutor, ToolRegistry,
};
use std::fmt;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What the server is called, and so what stands before the names of its tools.
const NAME: &str = "pair";

/// Is a server and a client of the Model Context Protocol in one process, joined by a socket in a directory of its own.
///
/// What the server has is called as any client does it: the tools go through the protocol twice, so that what is lost on the way
/// is seen. The server's own calls are all permitted.
///
/// ```
/// use haft_core::ToolError;
/// use haft_testkit::{McpPair, call};
/// use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Input {
///     text: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let shout = tool_fn("shout", "Says it louder.", Accesses::none(), |input: Input, _: CallContext| async move {
///     Ok::<_, ToolError>(input.text.to_uppercase())
/// })?;
/// let pair = McpPair::serving(ToolRegistry::new().with(shout)?).await;
/// assert_eq!(pair.tools().names().collect::<Vec<_>>(), ["pair__shout"]);
///
/// let reply = call(&pair.tools(), "pair__shout", json!({ "text": "hello" })).await;
/// assert_eq!(reply.output.to_text(), "HELLO");
/// pair.close().await;
/// # Ok(())
/// # }
/// ```
pub struct McpPair {
    servers: McpServers,
    catalog: Catalog,
    stop: CancellationToken,
    serving: JoinSet<()>,
    // Last, so that the socket is there as long as it is listened at.
    _directory: TempDir,
}

impl McpPair {
    /// Serves the tools of a registry, and connects to them.
    ///
    /// # Panics
    ///
    /// When there is no place for the socket, or the two do not find each other.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends both.
    pub async fn serving(registry: ToolRegistry) -> Self {
        let executor = LocalExecutor::builder(registry.clone()).policy(everything()).build();
        Self::serving_by(registry, Arc::new(executor)).await
    }

    /// Serves the tools of a registry by an executor of the test's, with its own policy.
    ///
    /// # Panics
    ///
    /// As [`McpPair::serving`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends both.
    pub async fn serving_by(registry: ToolRegistry, executor: Arc<dyn ToolExecutor>) -> Self {
        let directory = TempDir::new().expect("a temporary directory can be made");
        let (socket, stop) = (directory.path().join("socket"), CancellationToken::new());
        let run: RunId = "served".parse().expect("a valid run id");
        let toolset = Toolset::new(
            move || registry.clone(),
            executor,
            CallScope::new(run),
            Arc::new(MemoryPending::new()),
        );
        let server = ToolServer::builder(OneToolset(Arc::new(toolset))).build();
        let mut serving = JoinSet::new();
        let (at, until) = (socket.clone(), stop.clone());
        serving.spawn(async move {
            server.serve_unix(&at, until).await.expect("a directory of its own can be listened in");
        });
        while UnixStream::connect(&socket).await.is_err() {
            if let Some(ended) = serving.try_join_next() {
                ended.expect("the server does not panic");
            }
            tokio::task::yield_now().await;
        }

        let name = NAME.parse().expect("a valid name of a server");
        let servers = McpServers::builder().server(ServerConfig::new(name, Transport::Unix(socket)));
        let servers = servers.build().expect("one server has a name of its own");
        let catalog = servers.sources().into_iter().fold(Catalog::builder(), CatalogBuilder::source);
        let catalog = catalog.build().expect("one source has a name of its own");
        catalog.refresh().await;
        let pair = Self { servers, catalog, stop, serving, _directory: directory };
        let failed = pair
            .catalog
            .statuses()
            .into_iter()
            .find(|status| !matches!(status.health, SourceHealth::Ready { .. }));
        assert!(failed.is_none(), "the client does not reach the server: {failed:?}");
        pair
    }

    /// The tools as the client has them, each called `pair__NAME`.
    pub fn tools(&self) -> ToolRegistry {
        self.catalog.snapshot()
    }

    /// The server as the client knows it, for what is not a tool.
    ///
    /// # Panics
    ///
    /// Never: there is one.
    pub fn server(&self) -> &McpServer {
        self.servers.get(NAME).expect("the pair has a server")
    }

    /// Ends both, and waits until they have ended.
    ///
    /// # Panics
    ///
    /// When the server did.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends both all the same.
    pub async fn close(mut self) {
        self.servers.stop().await;
        self.stop.cancel();
        while let Some(ended) = self.serving.join_next().await {
            ended.expect("the server does not panic");
        }
    }
}

impl fmt::Debug for McpPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpPair")
            .field("tools", &self.tools().names().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// Allows every call: who is asked about one would be the client, which asks nobody.
fn everything() -> Policy {
    let all = Rule::tools("*".parse().expect("a valid selector"));
    Policy::new().allow(all).allow(Rule::opaque())
}

/// Gives whoever calls the same.
struct OneToolset(Arc<Toolset>);

#[async_trait]
impl Toolbox for OneToolset {
    async fn toolset(&self, _: &Caller, _: Option<&[String]>) -> Result<Arc<Toolset>, String> {
        Ok(Arc::clone(&self.0))
    }
}
