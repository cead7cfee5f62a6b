//! What lines may hold, and how a connection ends.

use super::stage::{Client, Host};
use crate::server::tool_server::Ended;
use serde_json::{Value, json};
use std::time::Duration;

/// Expects that a line is answered so, and that the connection goes on.
async fn check(line: &[u8], id: Value, code: i32) {
    let mut client = Client::legacy(&Host::new(), json!({})).await;
    client.write(line).await;
    client.write(b"\n").await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
    client.call(9, "echo", "still here").await;
    assert_eq!(client.next().await["result"]["content"][0]["text"], "still here");
}

#[tokio::test]
async fn answers_what_is_no_message() {
    check(b"{", Value::Null, -32700).await;
    check(b"hello", Value::Null, -32700).await;
    check(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", Value::Null, -32700).await;
    check(b"[]", Value::Null, -32600).await;
    check(br#"{"id":7,"method":"ping"}"#, json!(7), -32600).await;
    check(br#"{"jsonrpc":"2.0","id":"a","method":"no/such"}"#, json!("a"), -32601).await;
    check(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}"#, json!(1), -32602)
        .await;
    check(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#, json!(1), -32602)
        .await;
}

#[tokio::test]
async fn passes_over_a_message_that_is_too_long_and_says_so() {
    let mut client = Client::legacy(&Host::new(), json!({})).await;
    client.write(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":""#).await;
    for _ in 0..17 {
        client.write(&vec![b'x'; 1024 * 1024]).await;
    }
    client.write(b"\"}}\n").await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
    client.call(8, "echo", "still here").await;
    assert_eq!(client.next().await["id"], 8);
}

#[tokio::test]
async fn drops_what_comes_before_the_opening() {
    let mut client = Client::of(&Host::new());
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": 3, "result": {} })).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": 4, "error": { "code": 1, "message": "x" } })).await;
    client.request(5, "ping", json!({})).await;
    assert_eq!(client.next().await, json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 } }))
        .await;
    client.request(6, "tools/list", json!({ "_meta": super::stage::meta(json!({})) })).await;
    assert_eq!(client.next().await["id"], 6);
}

#[tokio::test]
async fn a_request_of_an_id_that_is_being_answered_is_refused() {
    let host = Host::new();
    let mut client = Client::legacy(&host, json!({})).await;
    client.call(1, "wait", "").await;
    host.until(&host.begun, 1).await;
    client.call(1, "echo", "").await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32600)));
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    client.send(&cancel).await;
    host.until(&host.dropped, 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_not_read_beyond_what_is_answered_at_once() {
    let host = Host::new();
    let mut client = Client::legacy(&host, json!({})).await;
    for id in 1..=257 {
        client.request(id, "prompts/get", json!({ "name": "wait" })).await;
    }
    host.until(&host.begun, 256).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(host.begun.load(std::sync::atomic::Ordering::SeqCst), 256);
    let begun = tokio::time::Instant::now();
    client.close().await;
    host.until(&host.dropped, 256).await;
    assert_eq!(client.ended().await, Ended::Closed);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_client_that_reads_no_answers_is_left_when_it_is_gone() {
    let mut client = Client::legacy(&Host::new(), json!({})).await;
    client.write(&b"{\n".repeat(4_000)).await;
    client.close().await;
    assert_eq!(client.ended().await, Ended::Closed);
}

#[tokio::test]
async fn ten_thousand_requests_are_all_answered() {
    let host = Host::new();
    let mut client = Client::legacy(&host, json!({})).await;
    let mut answered = 0;
    for block in 0..100 {
        let mut lines = Vec::new();
        for id in 0..100 {
            let params = json!({ "name": "echo", "arguments": { "text": "x" } });
            let id = block * 100 + id;
            let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            lines.extend_from_slice(format!("{call}\n").as_bytes());
        }
        client.write(&lines).await;
        for _ in 0..100 {
            assert_eq!(client.next().await["result"]["content"][0]["text"], "x");
            answered += 1;
        }
    }
    assert_eq!(answered, 10_000);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_its_input_cancels_what_runs_and_answers_what_is_ready() {
    let host = Host::new();
    let mut client = Client::legacy(&host, json!({})).await;
    client.call(1, "wait", "").await;
    host.until(&host.begun, 1).await;
    client.request(2, "tools/list", json!({})).await;
    let begun = tokio::time::Instant::now();
    client.close().await;
    assert_eq!(client.next().await["id"], 2);
    host.until(&host.dropped, 1).await;
    assert_eq!(client.ended().await, Ended::Closed);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn it_stops_within_a_second_whatever_runs() {
    let host = Host::new();
    let mut client = Client::legacy(&host, json!({})).await;
    client.call(1, "wait", "").await;
    host.until(&host.begun, 1).await;
    let begun = tokio::time::Instant::now();
    client.stop.cancel();
    assert_eq!(client.ended().await, Ended::Stopped);
    host.until(&host.dropped, 1).await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[cfg(unix)]
#[tokio::test]
async fn a_socket_is_its_owners_and_replaces_only_what_was_left_behind() {
    use crate::SocketError;
    use std::os::unix::fs::PermissionsExt as _;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio_util::sync::CancellationToken;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("haft.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let (server, stop) = (Host::new().server(), CancellationToken::new());
    let serve = server.serve_unix(&path, stop.clone());
    let talk = async {
        let mut stream = loop {
            match tokio::net::UnixStream::connect(&path).await {
                Ok(stream) => break stream,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let again = server.serve_unix(&path, CancellationToken::new()).await;
        assert!(matches!(again, Err(SocketError::Taken { .. })), "{again:?}");
        let params = json!({ "_meta": super::stage::meta(json!({})) });
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        stream.write_all(format!("{list}\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        BufReader::new(&mut stream).read_line(&mut line).await.unwrap();
        assert!(line.contains("\"echo\""), "{line}");
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(serve, talk);
    assert_eq!(ended.unwrap(), Ended::Stopped);
    assert!(!path.exists());
    let other = folder.path().join("file");
    std::fs::write(&other, "mine").unwrap();
    assert!(matches!(
        server.serve_unix(&other, CancellationToken::new()).await,
        Err(SocketError::Listen { .. })
    ));
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine");
}
