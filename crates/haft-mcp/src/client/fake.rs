//! A server in memory, for tests of what is built on the seam to the protocol.

use crate::client::answers::Answers;
use crate::client::servers::Dialer;
use crate::client::session::{
    Ask, AskRefused, Counterpart, Dial, DialError, Farewell, Fault, News, Request, ServerInfo, Session, Watch,
};
use crate::{Era, McpServers, McpServersBuilder, ServerConfig, ServerName, ServerProgram, Transport};
use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use haft_core::{Event, EventKind, ToolCall, ToolReply};
use haft_tools_core::{
    Batch, CallScope, Catalog, Events, Limits, LocalExecutor, LocalExecutorBuilder, Observer, Policy, Rule,
    ToolExecutor as _, Widths,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

type Handler = dyn Fn(Asked) -> BoxFuture<'static, Result<Value, Fault>> + Send + Sync;

/// Is what a fake server is asked.
pub(crate) struct Asked {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    pub(crate) watch: Option<Arc<dyn Watch>>,
    pub(crate) session: Arc<FakeSession>,
}

/// Is a server in memory, and what happened to it; clones are the same one.
#[derive(Clone)]
pub(crate) struct FakeServer(Arc<State>);

struct State {
    era: Era,
    tools: Mutex<Result<Value, Fault>>,
    handler: Box<Handler>,
    /// What the next dials come to; they succeed when there is none left.
    dials: Mutex<VecDeque<Dialed>>,
    dialed: Mutex<Vec<Instant>>,
    /// What was asked and when, methods with their params, and what was cancelled, as `cancelled METHOD`.
    heard: Mutex<Vec<(Instant, String, Value)>>,
    sessions: Mutex<Vec<Arc<FakeSession>>>,
    counterpart: Mutex<Option<Arc<dyn Counterpart>>>,
}

/// Says what a dial comes to.
pub(crate) enum Dialed {
    Fails(DialError),
    /// It takes so long.
    After(Duration),
    /// The connection ends at once.
    Dies,
}

pub(crate) struct FakeSession {
    server: FakeServer,
    info: ServerInfo,
    ended: CancellationToken,
    farewell: Mutex<Option<Farewell>>,
}

impl FakeServer {
    /// Lists these tools, and does this with everything else that it is asked.
    pub(crate) fn new<F>(era: Era, tools: Value, handle: impl Fn(Asked) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value, Fault>> + Send + 'static,
    {
        Self(Arc::new(State {
            era,
            tools: Mutex::new(Ok(tools)),
            handler: Box::new(move |asked| handle(asked).boxed()),
            dials: Mutex::default(),
            dialed: Mutex::default(),
            heard: Mutex::default(),
            sessions: Mutex::default(),
            counterpart: Mutex::default(),
        }))
    }

    /// Answers every call with a text.
    pub(crate) fn saying(tools: Value, text: &'static str) -> Self {
        Self::new(Era::Modern, tools, move |_| async move { Ok(text_result(text)) })
    }

    pub(crate) fn dials(self, dials: impl IntoIterator<Item = Dialed>) -> Self {
        self.0.dials.lock().unwrap().extend(dials);
        self
    }

    /// Lists other tools from now on, and does not tell.
    pub(crate) fn list(&self, tools: Value) {
        *self.0.tools.lock().unwrap() = Ok(tools);
    }

    pub(crate) fn refuse_to_list(&self, fault: Fault) {
        *self.0.tools.lock().unwrap() = Err(fault);
    }

    pub(crate) fn tell(&self, news: News) {
        let counterpart = self.0.counterpart.lock().unwrap().clone();
        counterpart.expect("the server was dialed").hear(news);
    }

    pub(crate) fn counterpart(&self) -> Arc<dyn Counterpart> {
        self.0.counterpart.lock().unwrap().clone().expect("the server was dialed")
    }

    /// Ends the connection there is.
    pub(crate) fn die(&self) {
        self.0.sessions.lock().unwrap().last().expect("the server was dialed").die();
    }

    /// Counts the times a method was asked for, or cancelled as `cancelled METHOD`.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.0.heard.lock().unwrap().iter().filter(|(_, heard, _)| heard == what).count()
    }

    /// The params of all requests for a method.
    pub(crate) fn params(&self, method: &str) -> Vec<Value> {
        let heard = self.0.heard.lock().unwrap();
        heard.iter().filter(|(_, heard, _)| heard == method).map(|(_, _, params)| params.clone()).collect()
    }

    /// When each request for a method came.
    pub(crate) fn times(&self, method: &str) -> Vec<Instant> {
        let heard = self.0.heard.lock().unwrap();
        heard.iter().filter(|(_, heard, _)| heard == method).map(|(at, ..)| *at).collect()
    }

    pub(crate) fn dial_times(&self) -> Vec<Instant> {
        self.0.dialed.lock().unwrap().clone()
    }

    fn hear(&self, what: String, params: Value) {
        self.0.heard.lock().unwrap().push((Instant::now(), what, params));
    }
}

impl FakeSession {
    pub(crate) fn counterpart(&self) -> Arc<dyn Counterpart> {
        self.server.counterpart()
    }

    pub(crate) fn die(&self) {
        let stderr = "loading\nout of\u{1b}[31m luck\n".to_owned();
        let how = "it exited with code 3".to_owned();
        self.farewell.lock().unwrap().get_or_insert(Farewell { how, stderr });
        self.ended.cancel();
    }
}

#[async_trait]
impl Dial for FakeServer {
    async fn dial(&self, counterpart: Arc<dyn Counterpart>) -> Result<Arc<dyn Session>, DialError> {
        self.0.dialed.lock().unwrap().push(Instant::now());
        *self.0.counterpart.lock().unwrap() = Some(counterpart);
        let dialed = self.0.dials.lock().unwrap().pop_front();
        let dies = match dialed {
            Some(Dialed::Fails(error)) => return Err(error),
            Some(Dialed::After(delay)) => {
                tokio::time::sleep(delay).await;
                false
            }
            Some(Dialed::Dies) => true,
            None => false,
        };
        let revision = match self.0.era {
            Era::Legacy => "2025-11-25",
            Era::Modern => "2026-07-28",
        };
        let session = Arc::new(FakeSession {
            server: self.clone(),
            info: ServerInfo {
                era: self.0.era,
                revision: revision.to_owned(),
                name: "fake".to_owned(),
                version: "1".to_owned(),
                instructions: None,
                capabilities: json!({ "tools": {} }),
            },
            ended: CancellationToken::new(),
            farewell: Mutex::default(),
        });
        self.0.sessions.lock().unwrap().push(Arc::clone(&session));
        if dies {
            session.die();
        }
        Ok(session)
    }
}

/// Says that a request was cancelled, if it is dropped before its end.
struct Pending<'a>(&'a FakeServer, Option<&'static str>);

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(method) = self.1 {
            self.0.hear(format!("cancelled {method}"), Value::Null);
        }
    }
}

#[async_trait]
impl Session for FakeSession {
    fn server(&self) -> &ServerInfo {
        &self.info
    }

    async fn request(&self, request: Request, watch: Option<Arc<dyn Watch>>) -> Result<Value, Fault> {
        let Request { method, params } = request;
        self.server.hear(method.to_owned(), params.clone());
        let mut pending = Pending(&self.server, Some(method));
        let tools = self.server.0.tools.lock().unwrap().clone();
        let result = match (method, tools) {
            ("tools/list", Err(fault)) => Err(fault),
            ("tools/list", Ok(Value::Array(tools))) => Ok(json!({ "tools": tools })),
            // Pages by their cursors, the first one without.
            ("tools/list", Ok(pages)) => {
                let cursor = params["cursor"].as_str().unwrap_or_default();
                Ok(pages[cursor].clone())
            }
            _ => {
                let sessions = self.server.0.sessions.lock().unwrap().clone();
                let session =
                    sessions.into_iter().find(|session| std::ptr::eq(Arc::as_ptr(session), self)).unwrap();
                let answered = (self.server.0.handler)(Asked { method, params, watch, session });
                tokio::select! {
                    answered = answered => answered,
                    () = self.ended.cancelled() => Err(Fault::Ended(self.farewell().unwrap_or_default())),
                }
            }
        };
        pending.1 = None;
        result
    }

    fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    fn farewell(&self) -> Option<Farewell> {
        self.farewell.lock().unwrap().clone()
    }

    async fn close(&self) {
        let how = "it was closed".to_owned();
        self.farewell.lock().unwrap().get_or_insert(Farewell { how, stderr: String::new() });
        self.ended.cancel();
    }
}

struct FakeDialer(Vec<(String, FakeServer)>);

impl Dialer for FakeDialer {
    fn dial(&self, server: &ServerConfig) -> Arc<dyn Dial> {
        let found = self.0.iter().find(|(name, _)| *name == *server.name.as_str());
        Arc::new(found.expect("each server is there").1.clone())
    }
}

/// Answers what a test says.
pub(crate) struct Fixed(pub(crate) fn(&Ask) -> Result<Value, AskRefused>);

#[async_trait]
impl Answers for Fixed {
    fn capabilities(&self, _server: &ServerName) -> Value {
        json!({ "elicitation": {} })
    }

    async fn answer(
        &self,
        _server: &ServerName,
        ask: Ask,
        _of: Option<Arc<dyn Watch>>,
    ) -> Result<Value, AskRefused> {
        (self.0)(&ask)
    }
}

pub(crate) fn config(name: &str) -> ServerConfig {
    let program = ServerProgram::new("fake", [] as [&str; 0]);
    ServerConfig::new(name.parse().unwrap(), Transport::Stdio(program))
}

/// Sets servers up that are reached in memory.
pub(crate) fn builder<const N: usize>(servers: [(ServerConfig, &FakeServer); N]) -> McpServersBuilder {
    let fakes = servers.iter().map(|(config, fake)| (config.name.to_string(), (*fake).clone())).collect();
    let builder = McpServers::builder().dialer(FakeDialer(fakes));
    servers.into_iter().fold(builder, |builder, (config, _)| builder.server(config))
}

/// Sets one server up, called `s`.
pub(crate) fn one(fake: &FakeServer) -> McpServers {
    builder([(config("s"), fake)]).build().unwrap()
}

pub(crate) fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "Does it.", "inputSchema": { "type": "object" } })
}

pub(crate) fn text_result(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Reads the tools of all servers, as a host does.
pub(crate) async fn catalog(servers: &McpServers) -> Catalog {
    let catalog = Catalog::builder().build().unwrap();
    for source in servers.sources() {
        catalog.attach(source).unwrap();
    }
    catalog.refresh().await;
    catalog
}

/// Starts an executor over the tools of all servers, which permits everything.
pub(crate) async fn executor(servers: &McpServers) -> LocalExecutorBuilder {
    let policy = Policy::new().allow(Rule::tools("*".parse().unwrap()));
    let limits = Limits { update_interval: Duration::ZERO, ..Limits::default() };
    let widths = Widths { connect: 64, ..Widths::default() };
    LocalExecutor::builder(catalog(servers).await.snapshot()).policy(policy).limits(limits).widths(&widths)
}

pub(crate) async fn replies(executor: &LocalExecutor, calls: Vec<(&str, Value)>) -> Vec<ToolReply> {
    let numbered = (1..)
        .zip(calls)
        .map(|(number, (name, input))| ToolCall::new(format!("c{number}").parse().unwrap(), name, input));
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), numbered.collect());
    executor.execute_batch(batch).await.into_replies().unwrap()
}

/// Executes one call, and prints how it ended.
pub(crate) async fn call(executor: &LocalExecutor, name: &str, input: Value) -> String {
    let reply = replies(executor, vec![(name, input)]).await.remove(0);
    format!("{}\n{}", reply.status, reply.output.to_text())
}

/// Keeps what is told of progress.
#[derive(Clone, Default)]
pub(crate) struct Progresses(Arc<Mutex<Vec<String>>>);

impl Progresses {
    pub(crate) fn events(&self) -> Events {
        Events::new([Arc::new(self.clone()) as Arc<dyn Observer>])
    }

    pub(crate) fn all(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

impl Observer for Progresses {
    fn observe(&self, event: &Event) {
        if let EventKind::Progressed { progress } = &event.kind {
            let fraction = progress.fraction.map(|fraction| fraction.to_string());
            let told: Vec<String> = fraction.into_iter().chain(progress.message.clone()).collect();
            self.0.lock().unwrap().push(told.join(" "));
        }
    }
}
