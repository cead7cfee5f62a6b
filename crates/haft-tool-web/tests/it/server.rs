//! A server on this machine that answers as a test says, and a tool that asks it.

use haft_core::{ToolCall, ToolReply};
use haft_http::AddressPolicy;
use haft_tool_web::WebFetch;
use haft_tools_core::{
    Access, AccessMode, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme, Tool,
    ToolExecutor as _, ToolRegistry,
};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// An answer, and what is sent behind it again and again without end.
pub(crate) type Answer = (Vec<u8>, Option<Vec<u8>>);

/// Answers each connection with what a function makes of the head of its request.
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves answers until the test ends.
    pub(crate) async fn new(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::streaming(move |head| (answer(head), None)).await
    }

    /// As above; what stands behind an answer is sent again and again without end.
    pub(crate) async fn streaming(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (heads, answer) = (Arc::clone(&seen), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (heads, answer) = (Arc::clone(&heads), Arc::clone(&answer));
                tokio::spawn(async move {
                    let _ = serve(stream, &heads, &*answer).await;
                });
            }
        });
        Self { port, seen }
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The heads of the requests that came, in order.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// The paths that were asked for, in order.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.seen().iter().map(|head| head.split(' ').nth(1).unwrap_or_default().to_owned()).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    heads: &Mutex<Vec<String>>,
    answer: &(dyn Fn(&str) -> Answer + Send + Sync),
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    heads.lock().unwrap().push(head.clone());
    let (start, endless) = answer(&head);
    stream.write_all(&start).await?;
    while let Some(more) = &endless {
        stream.write_all(more).await?;
    }
    stream.shutdown().await
}

/// An answer of this type.
pub(crate) fn answer(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    headed("200 OK", &format!("content-type: {content_type}\r\n"), body)
}

/// An answer with this status and these headers.
pub(crate) fn headed(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head =
        format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// An answer that leads elsewhere.
pub(crate) fn leads_to(place: &str) -> Vec<u8> {
    headed("302 Found", &format!("location: {place}\r\n"), "")
}

/// The tool, which may ask servers of the test.
pub(crate) fn fetch() -> WebFetch {
    WebFetch::held_to(AddressPolicy::public().loopback())
}

/// Has a tool called by an executor that lets it connect to anything.
pub(crate) async fn call(tool: impl Tool, input: Value) -> ToolReply {
    call_again(&executor(tool), input).await
}

pub(crate) fn executor(tool: impl Tool) -> LocalExecutor {
    let connects = Rule::access(AccessMode::Connect, Resource::subtree(Scheme::new("net"), ""));
    let registry = ToolRegistry::new().with(tool).unwrap();
    LocalExecutor::builder(registry).policy(Policy::new().allow(connects)).build()
}

pub(crate) async fn call_again(executor: &LocalExecutor, input: Value) -> ToolReply {
    let name = executor.registry().names().next().unwrap().to_owned();
    let call = ToolCall::new("c1".parse().unwrap(), name, input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    executor.execute_batch(batch).await.into_replies().unwrap().pop().unwrap()
}

/// What a tool declares.
pub(crate) fn declared(tool: &impl Tool, input: &Value) -> Result<Vec<String>, String> {
    let scope = CallScope::new("run-1".parse().unwrap());
    let prepared = tool.prepare(input, &scope).map_err(|error| error.to_string())?;
    Ok(prepared.accesses().iter().map(Access::to_string).collect())
}
