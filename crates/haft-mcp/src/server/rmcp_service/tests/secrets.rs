//! What is written to a log that takes everything.

use super::stage::{Host, meta};
use crate::server::front::HttpListener;
use crate::{HttpConfig, StaticTokens};
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::fmt::MakeWriter;

const TOKEN: &str = "0123456789abcdef-the-token-of-ada";

/// Is what stands in an argument.
const ARGUMENT: &str = "argument-that-is-a-secret";

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

async fn post(address: &str, message: &Value) -> String {
    let body = message.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {}\r\n\
         content-length: {}\r\n\r\n{body}",
        message["params"]["name"].as_str().unwrap(),
        body.len(),
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut told = String::new();
    stream.read_to_string(&mut told).await.unwrap();
    told
}

fn call(name: &str, more: &Value) -> Value {
    let mut params = json!({
        "name": name, "arguments": { "text": ARGUMENT }, "_meta": meta(json!({ "elicitation": {} })),
    });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

/// Calls likewise, and wants to be told how it goes, which is the library's affair.
fn told_call(name: &str, more: &Value) -> Value {
    let mut message = call(name, more);
    message["params"]["_meta"]["progressToken"] = 1.into();
    message
}

#[tokio::test]
async fn no_secret_is_logged_whatever_the_level() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    // Everything is done in this thread.
    let _logging = tracing::subscriber::set_default(subscriber);
    let tokens = StaticTokens::default().token("ada", TOKEN).unwrap();
    let config = HttpConfig::new("127.0.0.1:0".parse().unwrap()).authenticator(Arc::new(tokens));
    let listener = HttpListener::bind(config).await.unwrap();
    let address = listener.address().to_string();
    let (server, stop) = (Host::new().server(), CancellationToken::new());
    let until = stop.clone();
    let client = async {
        for call in [call, told_call] {
            assert!(post(&address, &call("echo", &json!({}))).await.contains(ARGUMENT));
        }
        let told = post(&address, &call("ask", &json!({}))).await;
        let told: Value = serde_json::from_str(told.split_once("\r\n\r\n").unwrap().1).unwrap();
        let state = told["result"]["requestState"].as_str().unwrap().to_owned();
        let wrong = format!("{state}x");
        let answers: serde_json::Map<_, _> = told["result"]["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .map(|key| (key.clone(), json!({ "action": "accept", "content": { "name": "Ada" } })))
            .collect();
        for state in [&wrong, &state, &state] {
            for call in [call, told_call] {
                let more = json!({ "requestState": state, "inputResponses": answers });
                post(&address, &call("ask", &more)).await;
            }
        }
        stop.cancel();
        state
    };
    let (_, state) = tokio::join!(server.serve_http(listener, until), client);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("TRACE"), "nothing is logged");
    // Not even by the libraries, which are not told of it.
    assert!(!log.contains(TOKEN));
    // What libraries log of messages a program leaves out; it is nothing that we log.
    for line in log.lines().filter(|line| line.contains("haft_")) {
        assert!(!line.contains(ARGUMENT) && !line.contains(&state[..40]), "{line}");
    }
}
