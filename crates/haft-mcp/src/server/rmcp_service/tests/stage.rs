//! A host with a few tools, and a client on the other end of a line.

use crate::server::tool_server::Ended;
use crate::{
    Ability, Ask, AskKind, Caller, CallingClient, ListedTemplate, LogLevel, PromptMessage, Prompts,
    Resources, ServedPrompt, ToolServer, Toolbox, Toolset,
};
use async_trait::async_trait;
use haft_core::{Content, Schema, ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{
    Accesses, Action, CallContext, CallScope, ChangeSignal, Changes, Limits, LocalExecutor, MemoryPending,
    Policy, Prepared, Preview, Rule, Tool, ToolRegistry,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// For how long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the tests see of the host.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) tools: watch::Sender<ToolRegistry>,
    pub(super) changes: ChangeSignal,
    pub(super) document: watch::Sender<Option<String>>,
    /// How many calls of `wait` were begun, and how many were dropped.
    pub(super) begun: Arc<AtomicUsize>,
    pub(super) dropped: Arc<AtomicUsize>,
}

impl Host {
    pub(super) fn new() -> Self {
        let host = Self {
            tools: watch::Sender::new(ToolRegistry::new()),
            changes: ChangeSignal::default(),
            document: watch::Sender::new(None),
            begun: Arc::default(),
            dropped: Arc::default(),
        };
        let tools = ["echo", "wait", "ask", "tell"].map(|name| host.tool(name));
        host.tools.send_replace(ToolRegistry::of(tools).unwrap());
        host
    }

    pub(super) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let mut schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        if name == "headed" {
            schema["properties"]["text"]["x-mcp-header"] = "Text".into();
        }
        let spec = ToolSpec::new(name.parse().unwrap(), "Does it.", Schema::new(schema).unwrap());
        Arc::new(Does { spec, host: self.clone() })
    }

    /// Never ends.
    async fn wait<T>(&self) -> T {
        let _dropped = Dropped(self.dropped.clone());
        self.begun.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }

    /// Adds a tool, and says so.
    pub(super) fn add(&self, name: &str) {
        let tool = self.tool(name);
        self.tools.send_modify(|tools| {
            let added = ToolRegistry::of([tool]).unwrap();
            *tools = tools.merge(&added, haft_tools_core::CollisionPolicy::Refuse).unwrap();
        });
        self.changes.raise();
    }

    pub(super) fn server(&self) -> ToolServer {
        let limits = Limits {
            update_interval: Duration::ZERO,
            grace: Duration::from_millis(100),
            ..Limits::default()
        };
        let pending = Arc::new(MemoryPending::new());
        let executor = LocalExecutor::builder(ToolRegistry::new())
            .policy(Policy::new().allow(Rule::tools("*".parse().unwrap())))
            .pending(pending.clone())
            .limits(limits)
            .build();
        let tools = self.tools.clone();
        let scope = CallScope::new("mcp-test".parse().unwrap());
        let toolset = Toolset::new(move || tools.borrow().clone(), Arc::new(executor), scope, pending);
        let toolset = Arc::new(toolset.instructions("All is allowed."));
        ToolServer::builder(One { toolset, host: self.clone() })
            .prompts(Nothing(self.clone()))
            .resources(Nothing(self.clone()))
            .build()
    }

    pub(super) async fn until(&self, count: &AtomicUsize, wanted: usize) {
        let reached = async {
            while count.load(Ordering::SeqCst) < wanted {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(PATIENCE, reached).await.expect("it happens soon");
    }
}

struct One {
    toolset: Arc<Toolset>,
    host: Host,
}

#[async_trait]
impl Toolbox for One {
    async fn toolset(&self, caller: &Caller, _roots: Option<&[String]>) -> Result<Arc<Toolset>, String> {
        if caller.principal.as_str() == "nobody" {
            return Err("nothing is served to nobody".to_owned());
        }
        Ok(self.toolset.clone())
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.host.changes.changes())
    }
}

struct Nothing(Host);

#[async_trait]
impl Prompts for Nothing {
    fn list(&self, _caller: &Caller) -> Vec<ServedPrompt> {
        Vec::new()
    }

    async fn get(
        &self,
        name: &str,
        _arguments: &BTreeMap<String, String>,
        _client: &CallingClient,
    ) -> Result<Vec<PromptMessage>, String> {
        if name == "wait" {
            return self.0.wait().await;
        }
        Err(format!("there is no prompt `{name}`"))
    }
}

#[async_trait]
impl Resources for Nothing {
    fn list(&self, _caller: &Caller) -> Vec<Content> {
        Vec::new()
    }

    fn templates(&self, _caller: &Caller) -> Vec<ListedTemplate> {
        Vec::new()
    }

    async fn read(&self, _uri: &str, _client: &CallingClient) -> Result<Option<Vec<Content>>, String> {
        Ok(None)
    }

    fn changes(&self) -> watch::Receiver<Option<String>> {
        self.0.document.subscribe()
    }
}

struct Does {
    spec: ToolSpec,
    host: Host,
}

impl Tool for Does {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let text = input["text"].as_str().unwrap_or_default().to_owned();
        let name = self.spec.name().to_string();
        Ok(Prepared::new(Accesses::none(), Doing { name, text, host: self.host.clone() }))
    }
}

struct Doing {
    name: String,
    text: String,
    host: Host,
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Action for Doing {
    async fn preview(&self) -> Preview {
        Preview::Text(self.text.clone())
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let client = cx.scope().extension::<CallingClient>().cloned().unwrap();
        match self.name.as_str() {
            "wait" => self.host.wait().await,
            "need" => {
                client.needs(Ability::Sampling);
                Ok(ToolOutput::text("needed"))
            }
            "ask" => {
                let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
                let form = AskKind::Form { message: "Who is it?".to_owned(), schema };
                let answer = client.ask(vec![Ask::new("who", form)]).await.remove("who").unwrap();
                Ok(ToolOutput::text(match answer {
                    Ok(content) => format!("it is {}", content["name"]),
                    Err(error) => error.to_string(),
                }))
            }
            "tell" => {
                for step in 1_u32..=3 {
                    cx.progress(f64::from(step) / 4.0);
                    client.log(LogLevel::Debug, "test", &json!(step));
                    client.log(LogLevel::Warning, "test", &json!(step));
                }
                Ok(ToolOutput::text("told"))
            }
            _ => Ok(ToolOutput::text(self.text)),
        }
    }
}

/// A client that writes and reads lines.
pub(super) struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: Option<WriteHalf<DuplexStream>>,
    pub(super) stop: CancellationToken,
    serving: JoinHandle<Ended>,
}

impl Client {
    pub(super) fn of(host: &Host) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(theirs);
        let (server, stop) = (host.server(), CancellationToken::new());
        let until = stop.clone();
        let serving = tokio::spawn(async move { Box::pin(server.serve_over(read, write, until)).await });
        let (read, write) = tokio::io::split(ours);
        Self { lines: BufReader::new(read).lines(), write: Some(write), stop, serving }
    }

    /// Opens a session of the older era.
    pub(super) async fn legacy(host: &Host, capabilities: Value) -> Self {
        let mut client = Self::of(host);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        client.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })).await;
        assert_eq!(client.next().await["result"]["protocolVersion"], "2025-11-25");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) {
        let write = self.write.as_mut().expect("it was not closed");
        timeout(PATIENCE, write.write_all(bytes)).await.expect("it is read soon").unwrap();
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    pub(super) async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id = id.into();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    pub(super) async fn call(&mut self, id: impl Into<Value>, tool: &str, text: &str) {
        self.request(id, "tools/call", json!({ "name": tool, "arguments": { "text": text } })).await;
    }

    /// Reads the next message; null if there is none any more.
    pub(super) async fn next(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("something comes soon");
        line.unwrap().map_or(Value::Null, |line| serde_json::from_str(&line).unwrap())
    }

    /// Closes the way to the server.
    pub(super) async fn close(&mut self) {
        self.write.take().expect("it was not closed").shutdown().await.unwrap();
    }

    pub(super) async fn ended(self) -> Ended {
        timeout(PATIENCE, self.serving).await.expect("it ends soon").unwrap()
    }
}

/// What each request of the newer era says of itself.
#[expect(clippy::needless_pass_by_value, reason = "it is written where it is sent")]
pub(super) fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}
