use super::super::{AccessEntry, AccessLog, HttpConfig, HttpListener};
use crate::server::caller::Principal;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde_json::Value;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Is a front before a scripted protocol.
pub(super) struct Stage {
    pub(super) address: SocketAddr,
    pub(super) stop: CancellationToken,
    pub(super) release: Arc<Notify>,
    waiting: Arc<AtomicUsize>,
    calls: Arc<AtomicUsize>,
    served: JoinHandle<()>,
    kept: Arc<Kept>,
}

/// Answers by the method that it is asked for.
#[derive(Clone)]
struct Script {
    release: Arc<Notify>,
    waiting: Arc<AtomicUsize>,
    calls: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Kept(Mutex<Vec<AccessEntry>>);

impl AccessLog for Kept {
    fn record(&self, entry: &AccessEntry) {
        self.0.lock().unwrap().push(entry.clone());
    }
}

/// Counts what is being served; dropped with it.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(super) struct Answer {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

pub(super) struct Wire(pub(super) TcpStream);

/// Writes a request to the protocol, after which the connection ends.
pub(super) fn post(headers: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

pub(super) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

impl Stage {
    pub(super) async fn new() -> Self {
        Self::with(|config| config).await
    }

    pub(super) async fn with(change: impl FnOnce(HttpConfig) -> HttpConfig) -> Self {
        let kept = Arc::new(Kept::default());
        let config =
            HttpConfig::new("127.0.0.1:0".parse().unwrap()).log(Arc::clone(&kept) as Arc<dyn AccessLog>);
        let listener = HttpListener::bind(change(config)).await.unwrap();
        let (address, stop) = (listener.address(), CancellationToken::new());
        let script = Script { release: Arc::default(), waiting: Arc::default(), calls: Arc::default() };
        let (release, waiting, calls) =
            (Arc::clone(&script.release), Arc::clone(&script.waiting), Arc::clone(&script.calls));
        let served = tokio::spawn(listener.serve(script, stop.clone(), std::future::ready(())));
        Self { address, stop, release, waiting, calls, served, kept }
    }

    /// Sends a request and reads until the connection ends.
    pub(super) async fn ask(&self, request: impl AsRef<[u8]>) -> Answer {
        Answer::read(&self.connect(request).await.rest().await)
    }

    pub(super) async fn connect(&self, request: impl AsRef<[u8]>) -> Wire {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_ref()).await.unwrap();
        Wire(stream)
    }

    /// Waits until so many requests are being served.
    pub(super) async fn until_waiting(&self, count: usize) {
        let reached = async {
            while self.waiting.load(Ordering::SeqCst) != count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), reached).await.unwrap();
    }

    /// Waits until so many requests are written down.
    pub(super) async fn until_logged(&self, count: usize) {
        let reached = async {
            while self.kept.0.lock().unwrap().len() < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), reached).await.unwrap();
    }

    /// How many requests reached the protocol.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(super) async fn ended(&mut self) {
        tokio::time::timeout(Duration::from_secs(10), &mut self.served).await.unwrap().unwrap();
    }

    /// Stops, and gives what was written down, without times and ports.
    pub(super) async fn log(mut self) -> String {
        let kept = Arc::clone(&self.kept);
        self.stop.cancel();
        self.ended().await;
        let lines = kept.0.lock().unwrap();
        let line = |entry: &AccessEntry| {
            let text = serde_json::to_string(entry).unwrap();
            let from = text.find("\"principal\"").or_else(|| text.find("\"http\"")).unwrap();
            let ms = format!("\"ms\":{},", entry.ms);
            format!("{{{}\n", text[from..].replace(&ms, ""))
        };
        lines.iter().map(line).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Wire {
    /// Reads until the connection ends.
    pub(super) async fn rest(&mut self) -> String {
        let mut all = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(20), self.0.read_to_end(&mut all)).await;
        // A connection that is reset has ended, too.
        read.expect("the connection ends").ok();
        String::from_utf8_lossy(&all).into_owned()
    }

    /// Reads until a text has come.
    pub(super) async fn until(&mut self, text: &str) -> String {
        let mut all = String::new();
        while !all.contains(text) {
            let mut piece = [0; 4096];
            let read = tokio::time::timeout(Duration::from_secs(10), self.0.read(&mut piece))
                .await
                .unwrap()
                .unwrap();
            assert!(read > 0, "the connection ended after {all}");
            all.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
        all
    }

    pub(super) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
    }
}

impl Answer {
    pub(super) fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(super) fn json(&self) -> Value {
        json(&self.body)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl tower_service::Service<Request<Bytes>> for Script {
    type Response = Response<BoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let script = self.clone();
        Box::pin(async move {
            let call = script.calls.fetch_add(1, Ordering::SeqCst);
            let (head, body) = request.into_parts();
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let full = |value: Value| Response::new(Full::new(Bytes::from(value.to_string())).boxed());
            let waiting = Waiting::new(&script.waiting);
            Ok(match body["method"].as_str().unwrap_or(head.method.as_str()) {
                "initialize" => {
                    let mut response = full(serde_json::json!("begun"));
                    response
                        .headers_mut()
                        .insert("mcp-session-id", format!("session-{call}").parse().unwrap());
                    response
                }
                "wait" => {
                    script.release.notified().await;
                    full(serde_json::json!("waited"))
                }
                "flood" => {
                    let endless = futures_util::stream::repeat_with(move || {
                        let _ = &waiting;
                        Ok(Frame::data(Bytes::from_static(&[b'a'; 4096])))
                    });
                    Response::new(BoxBody::new(StreamBody::new(endless)))
                }
                "subscriptions/listen" | "GET" => {
                    let first = futures_util::stream::once(async {
                        Ok(Frame::data(Bytes::from_static(b": hello\n\n")))
                    });
                    let never = futures_util::stream::poll_fn(move |_| {
                        let _ = &waiting;
                        Poll::Pending
                    });
                    Response::new(BoxBody::new(StreamBody::new(futures_util::StreamExt::chain(first, never))))
                }
                // So does rmcp.
                "DELETE" => {
                    let mut response = full(serde_json::json!("ended"));
                    *response.status_mut() = http::StatusCode::ACCEPTED;
                    response
                }
                _ => {
                    let mut headers: Vec<&str> = head.headers.keys().map(http::HeaderName::as_str).collect();
                    headers.sort_unstable();
                    let principal = head.extensions.get::<Principal>().map(Principal::as_str);
                    full(serde_json::json!({ "principal": principal, "headers": headers, "body": body }))
                }
            })
        })
    }
}
