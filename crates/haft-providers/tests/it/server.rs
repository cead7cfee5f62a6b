//! A server that says what it is told, and tells what it heard.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// What is answered to one request.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    head: String,
    body: Vec<u8>,
    piece: usize,
    pause: Duration,
    end: End,
}

/// What becomes of a connection once everything was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    /// Nothing more comes, and the connection stays.
    Still,
    /// The connection is gone in the middle of the answer.
    Broken,
}

impl Answer {
    /// Answers with a stream of events.
    pub(crate) fn events(body: impl AsRef<[u8]>) -> Self {
        Self::new(200, "content-type: text/event-stream; charset=utf-8\r\n", body)
    }

    pub(crate) fn new(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Self {
        let head = format!("HTTP/1.1 {status} Said\r\n{headers}transfer-encoding: chunked\r\n\r\n");
        Self { head, body: body.as_ref().to_vec(), piece: usize::MAX, pause: Duration::ZERO, end: End::Whole }
    }

    /// Says nothing at all.
    pub(crate) fn silence() -> Self {
        Self { head: String::new(), body: Vec::new(), piece: 1, pause: Duration::ZERO, end: End::Still }
    }

    /// Sends the body in pieces of so many bytes.
    pub(crate) fn in_pieces(self, piece: usize) -> Self {
        Self { piece, ..self }
    }

    /// Waits ahead of each piece.
    pub(crate) fn pausing(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Stays still after the body.
    pub(crate) fn then_still(self) -> Self {
        Self { end: End::Still, ..self }
    }

    /// Breaks off after the body.
    pub(crate) fn then_broken(self) -> Self {
        Self { end: End::Broken, ..self }
    }

    async fn write_to(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let mut bytes = self.head.clone().into_bytes();
        for piece in self.body.chunks(self.piece.min(self.body.len().max(1))) {
            if !self.pause.is_zero() {
                stream.write_all(&std::mem::take(&mut bytes)).await?;
                sleep(self.pause).await;
            }
            bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            bytes.extend_from_slice(piece);
            bytes.extend_from_slice(b"\r\n");
        }
        if self.end == End::Whole {
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
        stream.write_all(&bytes).await
    }
}

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Answers each request with the next of its answers; the last of them again and again.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) heard: mpsc::UnboundedReceiver<Heard>,
    /// A word for each connection that the client left.
    pub(crate) gone: mpsc::UnboundedReceiver<()>,
    connections: Arc<Mutex<usize>>,
    _tasks: JoinSet<()>,
}

impl Server {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, heard) = mpsc::unbounded_channel();
        let (tell_gone, gone) = mpsc::unbounded_channel();
        let answers: Arc<Mutex<VecDeque<Answer>>> = Arc::new(Mutex::new(answers.into_iter().collect()));
        let connections = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&connections);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                *counted.lock().unwrap() += 1;
                open.spawn(serve(stream, Arc::clone(&answers), tell.clone(), tell_gone.clone()));
            }
        });
        Self { address, heard, gone, connections, _tasks: tasks }
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    /// The requests so far.
    pub(crate) fn requests(&mut self) -> Vec<Heard> {
        std::iter::from_fn(|| self.heard.try_recv().ok()).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    tell: mpsc::UnboundedSender<Heard>,
    gone: mpsc::UnboundedSender<()>,
) {
    while let Some(heard) = hear(&mut stream).await {
        let _ = tell.send(heard);
        let answer = {
            let mut answers = answers.lock().unwrap();
            if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() }
        };
        let answer = answer.unwrap();
        if answer.write_to(&mut stream).await.is_err() || answer.end == End::Broken {
            return;
        }
    }
    let _ = gone.send(());
}

/// Reads a request; `None` if the client is gone.
async fn hear(stream: &mut TcpStream) -> Option<Heard> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Heard { head, body: String::from_utf8(body).unwrap() })
}
