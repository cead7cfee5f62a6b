use crate::changes::ChangeQuota;
use crate::cluster::EngineUrl;
use crate::other_root::OtherRoot;
use crate::policy_setup::PolicyOptions;
use clap::Args;
use haft::tools_core::Selector;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
pub(crate) struct WorkerOptions {
    /// Take calls from the engine at this address
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:9080")]
    pub(crate) listen: SocketAddr,
    /// Take them only of the engine that signs with this key, which it says when it starts: `publickeyv1_…`
    #[arg(long, value_name = "KEY")]
    pub(crate) identity_key: Option<String>,
    /// Tell the engine of this worker by its admin interface, as in `http://127.0.0.1:9070`
    #[arg(long, value_name = "URL")]
    pub(crate) admin: Option<EngineUrl>,
    /// Where the engine reaches this worker, or the proxy or service before all workers of the pool; where it listens by default
    #[arg(long, value_name = "URL", requires = "admin")]
    pub(crate) address: Option<EngineUrl>,
    /// Ask an engine that does not answer yet again for as many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "admin")]
    pub(crate) admin_wait: u32,
    /// Tell clients how far their calls have got, through the engine's ingress at this address, as in `http://127.0.0.1:8080`
    #[arg(long, value_name = "URL")]
    pub(crate) restate: Option<EngineUrl>,
    /// Work for this pool, by which clients say which calls go where
    #[arg(long, value_name = "NAME", default_value = "tools")]
    pub(crate) pool: String,
    /// The tools that it has: a selector, as in `read_*, grep`
    #[arg(long, value_name = "TOOLS", default_value = "*")]
    pub(crate) tools: Selector,
    /// Make calls of these tools again, too, when a worker dies in the middle of one; by default only those of haft that change
    /// nothing or may be repeated
    #[arg(long, value_name = "TOOLS")]
    pub(crate) redo: Option<Selector>,
    /// Keep what a call came to for as many days after its end
    #[arg(long, value_name = "DAYS", default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(crate) keep: u32,
    /// Give calls that run as many seconds to end, once this is told to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) drain: u32,
    /// The directory the tools work in; the current one by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    /// Another directory the tools work in, to be read only with `:ro`; its files have absolute paths
    #[arg(long = "root", value_name = "DIR[:ro]")]
    pub(crate) roots: Vec<OtherRoot>,
    /// Leave out the tools of MCP servers
    #[arg(long)]
    pub(crate) no_mcp: bool,
    /// Leave out the tools of OpenAPI documents
    #[arg(long)]
    pub(crate) no_openapi: bool,
    /// Print as JSON, one object a line, when it is ready, when it stops and when it has ended
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) quota: ChangeQuota,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}
