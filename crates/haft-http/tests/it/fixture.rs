//! A server that says what it is told, and tells what it heard.

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Answers each request, one a connection, with the next of its answers, and keeps the last one's connection open.
pub(crate) struct Fixture {
    pub(crate) address: SocketAddr,
    /// The head of each request, and `gone` when the client left the last connection.
    pub(crate) heard: mpsc::UnboundedReceiver<String>,
    _tasks: JoinSet<()>,
}

impl Fixture {
    pub(crate) async fn start<A: AsRef<[u8]>>(answers: &[A]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, heard) = mpsc::unbounded_channel();
        let answers: Vec<Vec<u8>> = answers.iter().map(|answer| answer.as_ref().to_vec()).collect();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let last = answers.len() - 1;
            for (index, answer) in answers.iter().enumerate() {
                let (mut stream, _) = listener.accept().await.unwrap();
                tell.send(head(&mut stream).await).unwrap();
                stream.write_all(answer).await.unwrap();
                if index == last {
                    // The client may break the connection off instead of closing it.
                    while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
                    let _ = tell.send("gone".to_owned());
                }
            }
        });
        Self { address, heard, _tasks: tasks }
    }
}

impl Fixture {
    /// Gives the heads of all requests so far that were not taken yet.
    pub(crate) fn heard_so_far(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.heard.try_recv().ok()).filter(|heard| heard != "gone").collect()
    }
}

/// Reads the head of a request.
pub(crate) async fn head(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n") {
        text.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(text).unwrap()
}
