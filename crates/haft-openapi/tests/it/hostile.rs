use crate::fixture::{Api, Say, call, read, say};
use haft_openapi::OperationLimits;
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

/// Calls an operation of a server that does this.
async fn said(answer: impl Fn() -> Say + Send + Sync + 'static) -> String {
    said_within(Duration::from_secs(20), answer).await
}

/// The same, where nothing may come for so long.
async fn said_within(idle_timeout: Duration, answer: impl Fn() -> Say + Send + Sync + 'static) -> String {
    let limits = OperationLimits {
        most_bytes: 64 << 10,
        idle_timeout,
        stream: Duration::from_secs(20),
        ..OperationLimits::default()
    };
    let api = Api::start(move |_| answer()).await;
    let text = read(&call(&api.operation("get", &json!({})).limits(limits).build(), json!({})).await);
    assert!(text.len() < 64 << 10, "{}", text.len());
    text
}

fn endless(headers: &str, piece: &str) -> Say {
    let piece = piece.repeat(1000);
    Say::Endless(format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n").into_bytes(), piece.into_bytes())
}

#[tokio::test]
async fn what_never_ends_is_cut() {
    let text = said(|| endless("content-type: text/plain", "abc\n")).await;
    assert!(
        text.contains("[this is cut: the API goes on after these 65536 bytes;"),
        "{}",
        &text[text.len() - 500..]
    );
    let text = said(|| endless("content-type: application/json", "[")).await;
    assert!(text.contains("[this is cut:"), "{}", &text[text.len() - 500..]);
    let text = said(|| endless("content-type: text/event-stream", "data: x\n\n")).await;
    assert!(text.contains("and it goes on]"), "{}", &text[text.len() - 500..]);
    let text = said(|| endless("content-type: text/event-stream", "data: x")).await;
    assert!(
        text.contains("[the stream was left after 0 events:"),
        "{}",
        &text[text.len().saturating_sub(500)..]
    );
    let text = said(|| endless("content-type: application/zip", "\0\u{ff}")).await;
    assert!(
        text.starts_with("Error(Failed): the reply to `api__op` is application/zip of more than"),
        "{text}"
    );
}

#[tokio::test]
async fn an_error_that_never_ends_is_cut() {
    let text = said(|| {
        let head = "HTTP/1.1 500 X\r\ncontent-type: text/plain\r\n\r\n";
        Say::Endless(head.as_bytes().to_vec(), "abc ".repeat(1000).into_bytes())
    })
    .await;
    assert!(text.starts_with("Error(Failed): the API answered `api__op` with HTTP 500"), "{text}");
    assert!(text.len() < 6000 && text.contains("bytes more]"), "{}", text.len());
}

#[tokio::test]
async fn what_stands_still_is_left() {
    let answer = || Say::Open(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nabc".to_vec());
    let text = said_within(Duration::from_millis(200), answer).await;
    assert!(text.contains("stopped coming for 0 s; the call may have been done"), "{text}");
}

#[tokio::test]
async fn what_breaks_off_is_no_reply() {
    let text = said(|| say(200, "content-type: text/plain\ncontent-length: 10", "abc")).await;
    assert!(text.starts_with("Error(Unavailable): the reply to `api__op` broke off"), "{text}");
}

#[tokio::test]
async fn a_coding_that_nobody_asked_for_is_not_read_as_text() {
    for status in [200, 400] {
        let headers = "content-type: text/plain\ncontent-encoding: br";
        let text = said(move || say(status, headers, b"\x8b\x03\x80")).await;
        assert!(
            text.starts_with("Error(Failed): the answer to `api__op` cannot be decompressed, so"),
            "{text}"
        );
    }
}

fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn what_is_compressed_is_bounded_as_it_is_read() {
    let headers = "content-type: text/plain\ncontent-encoding: gzip";
    assert_eq!(said(|| say(200, headers, gzipped(b"hello"))).await, "hello");
    let bomb = gzipped(&vec![b'\n'; 4 << 20]);
    assert!(bomb.len() < 16 << 10);
    let text = said(move || say(200, headers, &bomb)).await;
    assert!(text.contains("[this is cut: the API goes on after these 65536 bytes;"), "{text}");
    let text = said(|| say(200, headers, b"not gzip at all")).await;
    assert!(text.starts_with("Error(Failed): the answer to `api__op` cannot be decompressed"), "{text}");
    let text = said(|| say(400, headers, gzipped(br#"{"why":"so"}"#))).await;
    assert!(text.ends_with("It says:\n{\"why\":\"so\"}"), "{text}");
}

#[tokio::test]
async fn headers_without_end_are_no_answer() {
    let text = said(|| {
        let mut head = "HTTP/1.1 200 OK\r\n".to_owned();
        for number in 0..20_000 {
            let _ = write!(head, "x-{number}: {}\r\n", "y".repeat(100));
        }
        Say::Bytes(head.into_bytes())
    })
    .await;
    assert!(text.starts_with("Error("), "{text}");
}

#[tokio::test]
async fn a_large_header_is_not_repeated() {
    let large = format!("link: <{}>; rel=next", "x".repeat(60_000));
    let text = said(move || say(200, &format!("content-type: text/plain\n{large}"), "ok")).await;
    assert_eq!(text, "ok");
    let location = format!("location: https://x.example/{}", "x".repeat(60_000));
    let text = said(move || say(302, &location, "")).await;
    assert!(text.len() < 3000, "{}", text.len());
}

#[tokio::test]
async fn what_is_no_http_is_no_answer() {
    let text = said(|| Say::Bytes(b"SSH-2.0-OpenSSH_9\r\n".to_vec())).await;
    assert!(text.starts_with("Error("), "{text}");
}

#[tokio::test]
async fn what_is_hidden_in_a_reply_is_shown() {
    let text = said(|| say(200, "content-type: text/plain", "a\u{202e}b\u{1b}[2Jc")).await;
    assert_eq!(text, "a\\u{202e}b\\u{1b}[2Jc");
}
