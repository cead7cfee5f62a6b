//! Real servers: those of `cargo xtask mcp-servers`, which runs these tests.

use haft_core::ToolCall;
use haft_mcp::{Era, McpServers, RemoteServer, Root, ServerConfig, ServerProgram, Transport};
use haft_testkit::free_port;
use haft_tools_core::{Batch, CallScope, Catalog, LocalExecutor, Policy, Rule, ToolExecutor as _};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;
use tempfile::TempDir;

/// Says why a test is ignored.
macro_rules! counterpart {
    ($($test:ident: $counterpart:expr;)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        #[ignore = "needs the servers that `cargo xtask mcp-servers` installs"]
        async fn $test() {
            check(&$counterpart).await;
        }
    )*};
}

counterpart! {
    everything: Counterpart {
        start: |at| Transport::Stdio(node(at, "server-everything", &["stdio"])),
        eras: &[Era::Legacy],
        tools: &["echo", "get-sum", "get-tiny-image", "get-structured-content", "trigger-long-running-operation"],
        call: |_| ("echo", json!({ "message": "hello" })),
        says: "hello",
    };
    everything_over_http: Counterpart {
        start: |at| at.serve("mcp", |port| {
            let mut command = Command::new("node");
            command.arg(module(at, "server-everything")).arg("streamableHttp").env("PORT", port.to_string());
            command
        }),
        eras: &[Era::Legacy],
        tools: &["echo", "get-sum", "get-tiny-image", "get-structured-content", "trigger-long-running-operation"],
        call: |_| ("trigger-long-running-operation", json!({ "duration": 0.2, "steps": 2 })),
        says: "completed",
    };
    filesystem: Counterpart {
        start: |at| Transport::Stdio(node(at, "server-filesystem", &[at.work.path().to_str().unwrap()])),
        eras: &[Era::Legacy],
        tools: &["read_text_file", "write_file", "list_directory", "list_allowed_directories"],
        call: |at| ("read_text_file", json!({ "path": at.work.path().join("note.txt") })),
        says: "a note",
    };
    memory: Counterpart {
        start: |at| {
            let mut program = node(at, "server-memory", &[]);
            program.variables.insert("MEMORY_FILE_PATH".to_owned(), at.work.path().join("memory.json").into());
            Transport::Stdio(program)
        },
        eras: &[Era::Legacy],
        tools: &["create_entities", "read_graph", "search_nodes"],
        call: |_| ("read_graph", json!({})),
        says: "entities",
    };
    git: Counterpart {
        start: |at| {
            let program = at.servers.join("servers/bin/mcp-server-git");
            Transport::Stdio(ServerProgram::new(program, ["--repository", at.work.path().to_str().unwrap()]))
        },
        eras: &[Era::Legacy, Era::Modern],
        tools: &["git_status", "git_log", "git_diff_unstaged"],
        call: |at| ("git_status", json!({ "repo_path": at.work.path() })),
        says: "note.txt",
    };
    time: Counterpart {
        start: |at| {
            let program = at.servers.join("servers/bin/mcp-server-time");
            Transport::Stdio(ServerProgram::new(program, ["--local-timezone", "UTC"]))
        },
        eras: &[Era::Legacy, Era::Modern],
        tools: &["get_current_time", "convert_time"],
        call: |_| ("convert_time", json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" })),
        says: "21:00",
    };
    fastmcp: Counterpart {
        start: |at| Transport::Stdio(ServerProgram::new(at.servers.join("fastmcp/bin/python"), [fastmcp_script()])),
        eras: &[Era::Legacy, Era::Modern],
        tools: &["echo", "add"],
        call: |_| ("add", json!({ "left": 2, "right": 3 })),
        says: "5",
    };
    fastmcp_over_http: Counterpart {
        start: |at| at.serve("mcp", |port| {
            let mut command = Command::new(at.servers.join("fastmcp/bin/python"));
            command.arg(fastmcp_script()).arg(port.to_string());
            command
        }),
        eras: &[Era::Legacy, Era::Modern],
        tools: &["echo", "add"],
        call: |_| ("add", json!({ "left": 2, "right": 3 })),
        says: "5",
    };
}

/// Is a real server, with what is known of it.
struct Counterpart {
    start: fn(&Place) -> Transport,
    /// The eras that it speaks.
    eras: &'static [Era],
    /// Some of its tools.
    tools: &'static [&'static str],
    /// A call that it can answer.
    call: fn(&Place) -> (&'static str, Value),
    /// What is in the answer.
    says: &'static str,
}

/// Is where servers are, and a directory for them to work in.
struct Place {
    servers: PathBuf,
    work: TempDir,
    services: Mutex<Vec<Service>>,
}

impl Place {
    /// Starts a program that serves HTTP at a port of its own, and waits until it listens.
    fn serve(&self, path: &str, command: impl FnOnce(u16) -> Command) -> Transport {
        let port = free_port();
        let mut command = command(port);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut service = Service(child.unwrap());
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(service.0.try_wait().unwrap().is_none(), "the server has ended: {command:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.services.lock().unwrap().push(service);
        Transport::Http(RemoteServer::new(format!("http://127.0.0.1:{port}/{path}")))
    }
}

/// Is a server that others start; ends with this.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        // One that has ended by itself is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Lists and calls the tools of a server through the whole executor, in each era that it speaks and in that which is found.
async fn check(counterpart: &Counterpart) {
    let at = Place { servers: servers(), work: tempfile::tempdir().unwrap(), services: Mutex::default() };
    std::fs::write(at.work.path().join("note.txt"), "a note\n").unwrap();
    let made = Command::new("git").args(["init", "--quiet"]).current_dir(at.work.path()).status();
    assert!(made.unwrap().success());
    for era in counterpart.eras.iter().copied().map(Some).chain([None]) {
        let mut config = ServerConfig::new("real".parse().unwrap(), (counterpart.start)(&at));
        config.era = era;
        let roots = vec![Root::directory(at.work.path()).unwrap()];
        let servers = McpServers::builder().server(config).roots(roots).build().unwrap();
        let catalog = Catalog::builder().build().unwrap();
        for source in servers.sources() {
            catalog.attach(source).unwrap();
        }
        catalog.refresh().await;
        let tools = catalog.snapshot();
        for tool in counterpart.tools {
            let name = format!("real__{tool}");
            assert!(tools.get(&name).is_some(), "no `{name}` in {era:?}: {:?}", servers.statuses());
        }
        let policy = Policy::new().allow(Rule::tools("*".parse().unwrap()));
        let executor = LocalExecutor::builder(tools).policy(policy).build();
        let (tool, input) = (counterpart.call)(&at);
        let call = ToolCall::new("c1".parse().unwrap(), format!("real__{tool}"), input);
        let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
        let reply = executor.execute_batch(batch).await.into_replies().unwrap().remove(0);
        let said = reply.output.to_text();
        assert!(reply.status.is_ok() && said.contains(counterpart.says), "{era:?}: {said}");
        servers.stop().await;
    }
}

fn node(at: &Place, server: &str, arguments: &[&str]) -> ServerProgram {
    let script = module(at, server);
    ServerProgram::new("node", [script.to_str().unwrap()].iter().chain(arguments))
}

fn module(at: &Place, server: &str) -> PathBuf {
    at.servers.join("node_modules/@modelcontextprotocol").join(server).join("dist/index.js")
}

fn fastmcp_script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fastmcp_server.py")
}

/// Finds where `cargo xtask mcp-servers` has put the servers.
fn servers() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp");
    let root = root.canonicalize().unwrap_or(root);
    assert!(root.join("packages").is_file(), "no servers are installed; run `cargo xtask mcp-servers`");
    root
}
