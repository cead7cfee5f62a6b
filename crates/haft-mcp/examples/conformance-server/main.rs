//! The server that the protocol's conformance suite talks to (`cargo xtask mcp-conformance`): the suite's tools, prompts and
//! resources are those of a host like any other, behind the server of this crate.
//!
//! It says its address on the first line of standard output, and serves until standard input ends.
#![expect(clippy::print_stdout, reason = "whoever starts it reads the address")]

mod jobs;
mod prompts;
mod resources;
mod tool;
mod tools;

use async_trait::async_trait;
use haft_mcp::{Caller, HttpConfig, HttpListener, ToolServer, ToolServerLimits, Toolbox, Toolset};
use haft_tools_core::{
    CallScope, ChangeSignal, Changes, Limits, LocalExecutor, MemoryPending, Policy, Rule, ToolRegistry,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let changing = Changing::new()?;
    let prompts = prompts::Fixture::new(changing.clone());
    let toolbox = Fixture::new(&changing)?;
    let limits = ToolServerLimits { tasks_after: Duration::from_millis(20), ..ToolServerLimits::default() };
    let server = ToolServer::builder(toolbox)
        .prompts(prompts)
        .resources(resources::Fixture::new())
        .limits(limits)
        .build();
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(0);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = HttpListener::bind(HttpConfig::new(address)).await?;
    println!("http://{}/mcp", listener.address());

    let stop = CancellationToken::new();
    let until_closed = async {
        let mut input = tokio::io::stdin();
        while input.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
        stop.cancel();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        _ = server.serve_http(listener, stop.clone()) => {}
        () = until_closed => {}
    }
    // Standard input is read by a thread that cannot be stopped.
    std::process::exit(0)
}

/// Is what some of the tools change: the tools there are, and whether there is one more prompt.
#[derive(Clone)]
struct Changing {
    tools: watch::Sender<ToolRegistry>,
    tool_changes: ChangeSignal,
    has_more_prompts: Arc<AtomicBool>,
    prompt_changes: ChangeSignal,
}

impl Changing {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let changing = Self {
            tools: watch::Sender::new(ToolRegistry::new()),
            tool_changes: ChangeSignal::default(),
            has_more_prompts: Arc::default(),
            prompt_changes: ChangeSignal::default(),
        };
        changing.tools.send_replace(tools::registry(&changing)?);
        Ok(changing)
    }

    /// Adds a tool, or takes it away.
    fn change_tools(&self) {
        const NAME: &str = "test_dynamic_tool";
        self.tools.send_modify(|tools| {
            let others = tools.get(NAME).is_some().then(|| format!("*, !{NAME}").parse().ok()).flatten();
            *tools = match others {
                Some(others) => tools.filtered(&others),
                None => tools.with(tools::dynamic(NAME)).unwrap_or_else(|_| tools.clone()),
            };
        });
        self.tool_changes.raise();
    }

    fn change_prompts(&self) {
        self.has_more_prompts.fetch_xor(true, Ordering::Relaxed);
        self.prompt_changes.raise();
    }
}

/// Gives every caller the same toolset.
struct Fixture {
    toolset: Arc<Toolset>,
    changes: Changes,
}

impl Fixture {
    fn new(changing: &Changing) -> Result<Self, Box<dyn std::error::Error>> {
        let pending = Arc::new(MemoryPending::new());
        // All three steps of a tool are told, however fast they follow.
        let limits = Limits { update_interval: Duration::ZERO, ..Limits::default() };
        let executor = LocalExecutor::builder(ToolRegistry::new())
            .policy(Policy::new().allow(Rule::tools("*".parse()?)))
            .pending(pending.clone())
            .limits(limits)
            .build();
        let tools = changing.tools.clone();
        let toolset = Toolset::new(
            move || tools.borrow().clone(),
            Arc::new(executor),
            CallScope::new("conformance".parse()?),
            pending,
        );
        let toolset = Arc::new(toolset.instructions("Everything is allowed."));
        Ok(Self { toolset, changes: changing.tool_changes.changes() })
    }
}

#[async_trait]
impl Toolbox for Fixture {
    async fn toolset(&self, _caller: &Caller, _roots: Option<&[String]>) -> Result<Arc<Toolset>, String> {
        Ok(self.toolset.clone())
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.changes.clone())
    }
}
