use crate::policy_setup::PolicyOptions;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Add a server to your configuration
    #[command(after_help = "\
`${VAR}` and `${VAR:-default}` are kept as they are written, and replaced when the server is started: so no secret needs to \
be written down. A program that is not there is not added, unless with --force.

Examples:
  haft mcp add time -- uvx mcp-server-time --local-timezone UTC
  haft mcp add github --env 'TOKEN=${GITHUB_TOKEN}' -- github-mcp-server stdio
  haft mcp add docs --url https://mcp.example.com/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'")]
    Add(AddOptions),
    /// Take a server out of your configuration
    #[command(after_help = "\
The login to it is forgotten. What was accepted of its tools is kept for a server of that name.

Examples:
  haft mcp remove time")]
    Remove(RemoveOptions),
    /// List the servers there are, without starting any
    #[command(after_help = "Examples:\n  haft mcp list\n  haft mcp list --json | jq '.servers[].name'")]
    List(ListOptions),
    /// Start servers, and say how each is doing
    #[command(
        after_help = "The exit code is 1 if one of them cannot be used.\n\nExamples:\n  haft mcp status\n  haft mcp status time --json"
    )]
    Status(ServersOptions),
    /// Start servers, and list their tools
    #[command(after_help = "Examples:\n  haft mcp tools\n  haft mcp tools time --json")]
    Tools(ServersOptions),
    /// Call a tool of a server
    #[command(after_help = "\
A policy decides as it does for `haft call`; what is asked about is asked on a terminal.

Examples:
  haft mcp call time get_current_time '{\"timezone\": \"UTC\"}'
  haft mcp call time get_current_time @arguments.json --yes")]
    Call(CallOptions),
    /// Show what waits to be accepted of a server's tools, and accept it
    #[command(after_help = "\
The tools that a server lists first are accepted as they are. One that is new, or is not what it was, denies every call until \
it is accepted. What waits is shown with its digest; on a terminal you are asked about what you have seen, and elsewhere it is \
accepted by that digest. If a tool has changed since it was shown, it is not accepted.

The exit code is 3 if a tool was named without its digest, or all were meant with --all, and there was nobody to ask.

Examples:
  haft mcp accept time
  haft mcp accept time get_current_time
  haft mcp accept time get_current_time@0a1b2c3d4e5f60718293a4b5c6d7e8f9
  haft mcp accept time --json | jq -r '.[] | \"\\(.tool)@\\(.digest)\"'")]
    Accept(AcceptOptions),
    /// Accept tools of a server no more
    #[command(after_help = "\
A tool that is rejected denies every call until it is accepted again. With --all that is so of every tool, also where what was \
accepted cannot be read any more. The server is not started.

Examples:
  haft mcp reject time get_current_time
  haft mcp reject time --all --json")]
    Reject(RejectOptions),
    /// Log in to a server that wants it
    #[command(after_help = "\
The address to log in at is printed, and not opened. The command waits for you to come back from there, for 10 minutes at \
most; Ctrl-C ends it. The login is kept in a file that only you can read.

Examples:
  haft mcp login docs
  haft mcp login docs --no-wait")]
    Login(LoginOptions),
    /// Forget the login to a server
    #[command(after_help = "Examples:\n  haft mcp logout docs")]
    Logout(LogoutOptions),
    /// Start a server, and show what it writes to its log
    #[command(after_help = "Examples:\n  haft mcp logs time")]
    Logs(ServerOptions),
    /// Let the servers of a workspace be started, as its `.mcp.json` is now
    #[command(after_help = "\
The programs that `.mcp.json` names run with your rights. Look at it first: trust is for exactly what it says now.

Examples:
  haft mcp trust
  haft mcp trust --workdir ~/project")]
    Trust(TrustOptions),
    /// Let the servers of a workspace be started no more
    #[command(after_help = "Examples:\n  haft mcp untrust")]
    Untrust(TrustOptions),
}

#[derive(Debug, Args)]
pub(crate) struct AddOptions {
    /// What the server is called
    pub(crate) name: String,
    /// Where it is, if it is a service
    #[arg(long, value_name = "URL", required_unless_present = "command", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// Send this header with each request
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// Give the program this variable
    #[arg(long, value_name = "NAME=VALUE", requires = "command")]
    pub(crate) env: Vec<String>,
    /// Start the program in this directory
    #[arg(long, value_name = "DIR", requires = "command")]
    pub(crate) cwd: Option<String>,
    /// Add it although its program is not there
    #[arg(long, requires = "command")]
    pub(crate) force: bool,
    /// The program, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveOptions {
    /// The server
    pub(crate) server: String,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// Print them as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServersOptions {
    /// The servers; all by default
    #[arg(value_name = "SERVER")]
    pub(crate) servers: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LoginOptions {
    /// The server
    pub(crate) server: String,
    /// Only say where to log in, if that is wanted; the exit code is 3 then
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutOptions {
    /// The server
    pub(crate) server: String,
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServerOptions {
    /// The server
    pub(crate) server: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptOptions {
    /// The server
    pub(crate) server: String,
    /// These of its tools: with the digest they are accepted, without it they are shown and you are asked
    #[arg(value_name = "TOOL[@DIGEST]", conflicts_with = "all")]
    pub(crate) tools: Vec<String>,
    /// Ask once about all that waits and can be shown
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON, with whole definitions, and ask nothing
    #[arg(long)]
    pub(crate) json: bool,
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RejectOptions {
    /// The server
    pub(crate) server: String,
    /// The tools, as the server calls them
    #[arg(value_name = "TOOL", conflicts_with = "all", required_unless_present = "all")]
    pub(crate) tools: Vec<String>,
    /// Reject all of them
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CallOptions {
    /// The server
    pub(crate) server: String,
    /// The tool, as the server calls it or as `haft mcp tools` does
    pub(crate) tool: String,
    /// The arguments: a JSON object, `@FILE`, or `-` for standard input
    #[arg(default_value = "{}", value_name = "JSON")]
    pub(crate) input: String,
    /// Approve what the policy asks about
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

#[derive(Debug, Args)]
pub(crate) struct TrustOptions {
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
}
