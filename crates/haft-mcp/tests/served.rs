//! What a served call costs in allocations and bytes, which is the same on every machine, and how often it is written.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what cannot be measured fails the test")]

#[path = "../benches/serve/echo.rs"]
mod echo;

use echo::{call, message, request, server};
use haft_mcp::{HttpConfig, HttpLimits, HttpListener, Rate};
use haft_testkit::counting::{Counting, Spent};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio_util::sync::CancellationToken;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many calls are counted together.
const CALLS: u64 = 200;

/// What a call costs at most, in allocations and bytes: over HTTP some 104 and 27,000, where the library begins no service for
/// it; over lines some 184 and 26,000.
const MOST_OVER_HTTP: (u64, u64) = (112, 32 << 10);
const MOST_OVER_LINES: (u64, u64) = (200, 32 << 10);

/// What a list of 500 tools costs at most, in allocations, of which none is for a tool: some 222.
const MOST_OF_LIST: u64 = 240;

/// Asks the same several times, and gives what each cost; all that is served is served by this thread.
async fn counted(mut ask: impl AsyncFnMut()) -> (u64, u64) {
    for _ in 0..50 {
        ask().await;
    }
    let before = Spent::so_far();
    for _ in 0..CALLS {
        ask().await;
    }
    let spent = Spent::so_far() - before;
    (spent.allocations / CALLS, spent.bytes / CALLS)
}

/// Serves so many tools over HTTP, and connects to them.
async fn over_http(tools: usize) -> (TcpStream, CancellationToken, TempDir) {
    let (server, directory) = server(tools).unwrap();
    let limits = HttpLimits { rate: Rate::new(1e9, 1e9), ..HttpLimits::default() };
    let listener =
        HttpListener::bind(HttpConfig::new("127.0.0.1:0".parse().unwrap()).limits(limits)).await.unwrap();
    let (address, stop) = (listener.address(), CancellationToken::new());
    let until = stop.clone();
    tokio::spawn(async move { server.serve_http(listener, until).await });
    (TcpStream::connect(address).await.unwrap(), stop, directory)
}

#[tokio::test]
async fn a_call_over_http_is_one_answer_and_costs_little() {
    let (mut stream, stop, _directory) = over_http(1).await;
    let request = request("tools/call", "mcp-name: echo\r\n", &call());
    let mut answer = vec![0; 64 << 10];
    let (allocations, bytes) = counted(async || {
        stream.write_all(request.as_bytes()).await.unwrap();
        // It is read at once because it is written at once.
        let read = stream.read(&mut answer).await.unwrap();
        assert!(answer[..read].ends_with(b"}"), "{}", String::from_utf8_lossy(&answer[..read]));
    })
    .await;
    stop.cancel();
    assert!(allocations <= MOST_OVER_HTTP.0, "{allocations} allocations");
    assert!(bytes <= MOST_OVER_HTTP.1, "{bytes} bytes");
}

#[tokio::test]
async fn a_call_over_lines_costs_little() {
    let (server, directory) = server(1).unwrap();
    let (path, stop) = (directory.path().join("socket"), CancellationToken::new());
    let (at, until) = (path.clone(), stop.clone());
    let serving = tokio::spawn(async move { server.serve_unix(&at, until).await.unwrap() });
    let mut stream = loop {
        match UnixStream::connect(&path).await {
            Ok(stream) => break stream,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let line = format!("{}\n", call());
    let mut answer = vec![0; 64 << 10];
    let (allocations, bytes) = counted(async || {
        stream.write_all(line.as_bytes()).await.unwrap();
        let read = stream.read(&mut answer).await.unwrap();
        assert!(answer[..read].ends_with(b"}\n"), "{}", String::from_utf8_lossy(&answer[..read]));
    })
    .await;
    stop.cancel();
    serving.await.unwrap();
    assert!(allocations <= MOST_OVER_LINES.0, "{allocations} allocations");
    assert!(bytes <= MOST_OVER_LINES.1, "{bytes} bytes");
}

#[tokio::test]
async fn a_list_that_is_asked_for_again_is_not_written_again() {
    let (mut stream, stop, _directory) = over_http(500).await;
    let request = request("tools/list", "", &message("tools/list", json!({})));
    let mut answer = vec![0; 1 << 20];
    let mut length = 0;
    let (allocations, bytes) = counted(async || {
        stream.write_all(request.as_bytes()).await.unwrap();
        length = 0;
        while !answer[..length].ends_with(b"}}") {
            length += stream.read(&mut answer[length..]).await.unwrap();
        }
    })
    .await;
    stop.cancel();
    let text = str::from_utf8(&answer[..length]).unwrap();
    let list: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 500);
    assert_eq!(tools[1]["name"], "echo_1");
    assert_eq!(list["result"]["ttlMs"], 60_000);
    assert!(allocations <= MOST_OF_LIST, "{allocations} allocations");
    assert!(bytes <= 2 * length as u64, "{bytes} bytes for {length}");
}
