use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Answers with documents, by their path; counts and keeps what it was asked.
pub(super) struct IdServer {
    pub(super) issuer: String,
    said: Arc<Said>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Said {
    documents: Mutex<HashMap<String, Value>>,
    asked: Mutex<Vec<String>>,
}

impl IdServer {
    pub(super) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let said = Arc::new(Said::default());
        let task = tokio::spawn(serve(listener, Arc::clone(&said)));
        let server = Self { issuer, said, task };
        let metadata = json!({
            "issuer": server.issuer,
            "jwks_uri": format!("{}/keys", server.issuer),
            "introspection_endpoint": format!("{}/introspect", server.issuer),
        });
        server.say("/.well-known/oauth-authorization-server", metadata);
        server
    }

    pub(super) fn say(&self, path: &str, document: Value) {
        self.said.documents.lock().unwrap().insert(path.to_owned(), document);
    }

    pub(super) fn unsay(&self, path: &str) {
        self.said.documents.lock().unwrap().remove(path);
    }

    /// The requests for a path, as they came.
    pub(super) fn asked(&self, path: &str) -> Vec<String> {
        let asked = self.said.asked.lock().unwrap();
        asked.iter().filter(|request| request.split(' ').nth(1) == Some(path)).cloned().collect()
    }
}

impl Drop for IdServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, said: Arc<Said>) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = String::new();
        loop {
            let mut piece = [0; 4096];
            let read = stream.read(&mut piece).await.unwrap_or(0);
            request.push_str(&String::from_utf8_lossy(&piece[..read]));
            let length = request
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())
                .unwrap_or(0);
            let is_whole = request.split_once("\r\n\r\n").is_some_and(|(_, body)| body.len() >= length);
            if is_whole || read == 0 {
                break;
            }
        }
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        let document = said.documents.lock().unwrap().get(&path).map(Value::to_string);
        said.asked.lock().unwrap().push(request);
        let (status, body) = document.map_or(("404 Not Found", String::new()), |body| ("200 OK", body));
        let answer =
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.ok();
    }
}
