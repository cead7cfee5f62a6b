use crate::changes::ChangeQuota;
use crate::cluster::EngineUrl;
use crate::other_root::OtherRoot;
use crate::policy_setup::PolicyOptions;
use clap::{Args, ValueEnum};
use haft::mcp::{AllowedHost, AllowedOrigin, ServeMode};
use haft::tools_core::Selector;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Clone, Args)]
pub(crate) struct ServeOptions {
    /// Serve one client over standard input and output, as is done without --http and --unix
    #[arg(long, conflicts_with_all = ["http", "unix"])]
    pub(crate) stdio: bool,
    /// Serve clients over HTTP at this address, at `/mcp`
    #[arg(long, value_name = "ADDR:PORT", conflicts_with = "unix")]
    pub(crate) http: Option<SocketAddr>,
    /// Serve clients over a socket that only you can open
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// The directory the tools work in; a client's own by default, if it is below yours or below the current one
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    /// Another directory the tools of all clients work in, to be read only with `:ro`; its files have absolute paths
    #[arg(long = "root", value_name = "DIR[:ro]")]
    pub(crate) roots: Vec<OtherRoot>,
    /// Work in the current directory, whatever directories clients have
    #[arg(long)]
    pub(crate) no_roots: bool,
    /// Leave out the tools of MCP servers
    #[arg(long)]
    pub(crate) no_mcp: bool,
    /// Leave out the tools of OpenAPI documents
    #[arg(long)]
    pub(crate) no_openapi: bool,
    /// The tools that are served: `full`, `search` (three tools that find, describe and call the others), or a selector
    #[arg(long, value_name = "full|search|TOOLS", default_value = "full")]
    pub(crate) tools: ServeMode,
    /// Print what to write into a client's configuration, and serve nothing
    #[arg(long, value_name = "CLIENT")]
    pub(crate) print_config: Option<Client>,
    /// What the server is called in that configuration
    #[arg(long, value_name = "NAME", default_value = "haft", requires = "print_config")]
    pub(crate) name: String,
    /// Serve who shows one of the tokens in this file
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "HTTP",
        requires = "http",
        conflicts_with = "oauth_issuer"
    )]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve who shows a token of this OAuth issuer
    #[arg(long, value_name = "URL", help_heading = "HTTP", requires_all = ["http", "oauth_audience"])]
    pub(crate) oauth_issuer: Option<String>,
    /// What tokens have to be made for: the address that clients know this server by
    #[arg(long, value_name = "URL", help_heading = "HTTP", requires = "oauth_issuer")]
    pub(crate) oauth_audience: Option<String>,
    /// Ask the issuer about each token as this client, where tokens cannot be checked here; its secret is in
    /// `HAFT_INTROSPECTION_SECRET`
    #[arg(long, value_name = "CLIENT_ID", help_heading = "HTTP", requires = "oauth_issuer")]
    pub(crate) introspect: Option<String>,
    /// Answer requests for this host, too
    #[arg(long, value_name = "HOST", help_heading = "HTTP", requires = "http")]
    pub(crate) allow_host: Vec<AllowedHost>,
    /// Answer requests of pages of this origin, too
    #[arg(long, value_name = "ORIGIN", help_heading = "HTTP", requires = "http")]
    pub(crate) allow_origin: Vec<AllowedOrigin>,
    /// Write a line of JSON about each request to this file; never what is in it
    #[arg(long, value_name = "FILE", help_heading = "HTTP", requires = "http")]
    pub(crate) access_log: Option<PathBuf>,
    /// The key by which several instances trust each other's rounds of questions: 64 hexadecimal digits
    #[arg(long, value_name = "FILE", help_heading = "HTTP")]
    pub(crate) state_key: Option<PathBuf>,
    /// What holds for each client: its profile, policy, directory and rate
    #[arg(long, value_name = "FILE", help_heading = "HTTP")]
    pub(crate) clients: Option<PathBuf>,
    /// Show what is going on, and ask for approvals, on a page of this machine's browser; its address is printed
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    pub(crate) console: Option<SocketAddr>,
    /// Where calls are made: in this process, or by the workers of an engine
    #[arg(long, value_name = "local|restate", help_heading = "Engine")]
    pub(crate) executor: Option<ExecutorKind>,
    /// The engine, at the address of its ingress, as in `http://127.0.0.1:8080`; by default that of `[executor]` in `haft.toml`
    #[arg(long, value_name = "URL", help_heading = "Engine")]
    pub(crate) restate: Option<EngineUrl>,
    /// The pool of workers that makes calls; `tools` by default
    #[arg(long, value_name = "NAME", help_heading = "Engine")]
    pub(crate) pool: Option<String>,
    /// Another pool that makes the calls of some tools, as in `browse_*=browsers`
    #[arg(long = "route", value_name = "TOOLS=POOL", help_heading = "Engine")]
    pub(crate) routes: Vec<Route>,
    #[command(flatten)]
    pub(crate) quota: ChangeQuota,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

/// Says who makes the calls of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExecutorKind {
    Local,
    Restate,
}

/// Says which pool makes the calls of some tools.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Route {
    pub(crate) tools: Selector,
    pub(crate) pool: String,
}

impl FromStr for Route {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (tools, pool) =
            text.rsplit_once('=').ok_or("write tools and their pool, as in `browse_*=browsers`")?;
        let tools = tools.parse().map_err(|error: haft::tools_core::SelectorError| error.to_string())?;
        Ok(Self { tools, pool: pool.to_owned() })
    }
}

/// Names a client whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
    Vscode,
    Cursor,
    Gemini,
}
