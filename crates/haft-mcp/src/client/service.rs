//! A service for tests: it says what it is told to each request, and keeps what it heard.

use crate::{RemoteServer, ServerConfig, ServerIdentity, Transport};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinSet;

/// Is a service of this machine.
pub(crate) struct Service {
    /// Its address, without a path.
    pub(crate) url: String,
    pub(crate) news: mpsc::UnboundedReceiver<Heard>,
    all: Arc<Mutex<Vec<Heard>>>,
    _tasks: JoinSet<()>,
}

/// Is a request; one with the method `gone` says that the client has left before it was answered.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    /// As JSON if it is that, and as text otherwise.
    pub(crate) body: Value,
}

/// Is what is said to a request.
pub(crate) enum Say {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    /// Events, and then the end of the connection.
    Events(String),
    /// Events, and no end.
    Open(String),
    Nothing,
    /// Says it once all have come that are waited for.
    Together(Arc<Barrier>, Box<Self>),
}

impl Say {
    pub(crate) fn json(body: &Value) -> Self {
        Self::Answer {
            status: 200,
            headers: vec![("content-type", "application/json".into())],
            body: body.to_string(),
        }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::Answer { status, headers: Vec::new(), body: String::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }
}

impl Heard {
    /// What is said of a method of the protocol.
    pub(crate) fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    /// An answer with a result.
    pub(crate) fn result(&self, result: &Value) -> Value {
        serde_json::json!({ "jsonrpc": "2.0", "id": self.body["id"], "result": result })
    }
}

impl Service {
    pub(crate) async fn start(say: impl Fn(&Heard) -> Say + Send + Sync + 'static) -> Self {
        Self::start_knowing(|_| say).await
    }

    /// Starts a service that has to know its own address.
    pub(crate) async fn start_knowing<S>(make: impl FnOnce(String) -> S) -> Self
    where
        S: Fn(&Heard) -> Say + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let say = Arc::new(make(url.clone()));
        let (tell, news) = mpsc::unbounded_channel();
        let all = Arc::<Mutex<Vec<Heard>>>::default();
        let mut tasks = JoinSet::new();
        let kept = all.clone();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (say, tell, kept) = (say.clone(), tell.clone(), kept.clone());
                connections.spawn(async move { serve(stream, say.as_ref(), &tell, &kept).await });
            }
        });
        Self { url, news, all, _tasks: tasks }
    }

    /// All that was heard so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.all.lock().unwrap().clone()
    }

    /// Waits for a request.
    pub(crate) async fn next(&mut self, wanted: impl Fn(&Heard) -> bool) -> Heard {
        loop {
            let heard = self.news.recv().await.unwrap();
            if wanted(&heard) {
                return heard;
            }
        }
    }
}

async fn serve(
    mut stream: TcpStream,
    say: &(dyn Fn(&Heard) -> Say + Send + Sync),
    tell: &mpsc::UnboundedSender<Heard>,
    all: &Mutex<Vec<Heard>>,
) {
    while let Some(heard) = read(&mut stream).await {
        all.lock().unwrap().push(heard.clone());
        let mut said = say(&heard);
        let _ = tell.send(heard.clone());
        while let Say::Together(barrier, then) = said {
            barrier.wait().await;
            said = *then;
        }
        let (text, is_open) = match said {
            Say::Answer { status, headers, body } => {
                let mut lines =
                    vec![format!("HTTP/1.1 {status} Said"), format!("content-length: {}", body.len())];
                lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
                (format!("{}\r\n\r\n{body}", lines.join("\r\n")), false)
            }
            Say::Events(events) => (of_events(&events) + "0\r\n\r\n", false),
            Say::Open(events) => (of_events(&events), true),
            Say::Nothing => (String::new(), true),
            Say::Together(..) => unreachable!("it was waited for"),
        };
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
        if is_open {
            while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
            let _ = tell.send(Heard { method: "gone".to_owned(), ..heard });
            return;
        }
    }
}

fn of_events(events: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{events}\r\n",
        events.len()
    )
}

async fn read(stream: &mut TcpStream) -> Option<Heard> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ').map(str::to_owned);
    let (method, path) = (first.next()?, first.next()?);
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
    let body = serde_json::from_slice(&body).unwrap_or_else(|_| text());
    Some(Heard { method, path, headers, body })
}

/// A key under which something is remembered of a server.
pub(crate) fn key() -> ServerIdentity {
    let transport = Transport::Http(RemoteServer::new("https://example.org/"));
    ServerIdentity::of(&ServerConfig::new("a".parse().unwrap(), transport))
}
