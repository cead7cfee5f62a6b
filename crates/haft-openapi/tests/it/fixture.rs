//! An API on this machine that says what it is told, and tells what it heard.

use haft_core::{ReplyStatus, ToolReply};
use haft_http::{AddressPolicy, HttpClient};
use haft_openapi::{Document, LoadOptions, OpenApiTools, OpenApiToolsBuilder};
use haft_tools_core::ToolRegistry;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Is a request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Heard {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first line, and these headers where they are there.
    pub(crate) fn shown(&self, headers: &[&str]) -> String {
        let first = format!("{} {}", self.method, self.target);
        let headers = headers.iter().filter_map(|name| Some(format!("{name}: {}", self.header(name)?)));
        std::iter::once(first).chain(headers).collect::<Vec<_>>().join("\n")
    }
}

/// Is what is said to a request.
pub(crate) enum Say {
    /// These bytes; the connection is then closed.
    Bytes(Vec<u8>),
    /// These bytes; the connection stays open.
    Open(Vec<u8>),
    /// These bytes, and then those again and again.
    Endless(Vec<u8>, Vec<u8>),
}

/// Makes an answer of a status, headers, one a line, and a body.
pub(crate) fn say(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Say {
    let body = body.as_ref();
    let mut headers = headers.trim().replace('\n', "\r\n");
    if !headers.is_empty() {
        headers.push_str("\r\n");
    }
    let length = if headers.contains("content-length") {
        String::new()
    } else {
        format!("content-length: {}\r\n", body.len())
    };
    let head = format!("HTTP/1.1 {status} Said\r\nconnection: close\r\n{length}{headers}\r\n");
    Say::Bytes([head.as_bytes(), body].concat())
}

pub(crate) fn say_json(body: &Value) -> Say {
    say(200, "content-type: application/json", body.to_string())
}

/// Is the API; it ends with the test.
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    _tasks: JoinSet<()>,
}

impl Api {
    pub(crate) async fn start(answer: impl Fn(&Heard) -> Say + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        let (answer, all) = (Arc::new(answer), Arc::clone(&heard));
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                connections.spawn(async move { serve(stream, &*answer, &all).await });
            }
        });
        Self { address, heard, _tasks: tasks }
    }

    /// What was asked so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A document of version 3.1 with these members besides, whose server this is.
    pub(crate) fn document(&self, members: &Value) -> Value {
        let mut document = json!({
            "openapi": "3.1.0", "info": { "title": "Test", "version": "1" }, "servers": [{ "url": self.origin() }],
        });
        document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        document
    }

    /// The tools of such a document.
    pub(crate) fn tools(&self, members: &Value) -> OpenApiToolsBuilder {
        builder(self.document(members), &LoadOptions::default())
    }

    /// The tools of a document with one operation `op` at `/a`, of which this is said.
    pub(crate) fn operation(&self, method: &str, operation: &Value) -> OpenApiToolsBuilder {
        self.tools(&json!({ "paths": { "/a": { method: named(operation) } } }))
    }
}

/// Says of an operation that it is called `op`.
pub(crate) fn named(operation: &Value) -> Value {
    let mut named = json!({ "operationId": "op" });
    named.as_object_mut().unwrap().extend(operation.as_object().unwrap().clone());
    named
}

pub(crate) fn builder(document: Value, options: &LoadOptions) -> OpenApiToolsBuilder {
    let document = Document::from_value(document, options).unwrap();
    assert!(document.problems().is_empty(), "{:?}", document.problems());
    OpenApiTools::builder("api", document, client())
}

pub(crate) fn client() -> HttpClient {
    HttpClient::new(AddressPolicy::public().loopback()).unwrap()
}

pub(crate) fn registry(tools: &OpenApiTools) -> ToolRegistry {
    tools.tools().into_iter().fold(ToolRegistry::new(), |registry, tool| registry.with(tool).unwrap())
}

/// Calls `op`, permitted.
pub(crate) async fn call(tools: &OpenApiTools, arguments: Value) -> ToolReply {
    haft_testkit::call(&registry(tools), "api__op", arguments).await
}

/// What a model reads of a reply, with the status where it is no success.
pub(crate) fn read(reply: &ToolReply) -> String {
    let text = reply.output.to_text();
    match &reply.status {
        ReplyStatus::Ok => text,
        status => format!("{status:?}: {text}"),
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(&Heard) -> Say + Send + Sync),
    all: &Mutex<Vec<Heard>>,
) {
    let Some(heard) = hear(&mut stream).await else { return };
    all.lock().unwrap().push(heard.clone());
    match answer(&heard) {
        Say::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Say::Open(bytes) => {
            let _ = stream.write_all(&bytes).await;
        }
        Say::Endless(first, then) => {
            let _ = stream.write_all(&first).await;
            while stream.write_all(&then).await.is_ok() {}
        }
    }
    while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
}

async fn hear(stream: &mut TcpStream) -> Option<Heard> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ').map(str::to_owned);
    let (method, target) = (first.next()?, first.next()?);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    stream.read_exact(&mut body).await.ok()?;
    Some(Heard { method, target, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
