//! Answers that are compressed.

use crate::client::{client, get};
use crate::fixture::Fixture;
use flate2::Compression;
use flate2::write::GzEncoder;
use haft_http::{AddressPolicy, Error, Exchange};
use http::Response;
use std::io::Write as _;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Asks a server that gives this answer; tells the answer with its body, and what the server heard.
async fn ask(
    request: http::Request<bytes::Bytes>,
    body: &[u8],
    exchange: Exchange,
) -> (Result<Response<Vec<u8>>, Error>, String) {
    let mut fixture = Fixture::start(&[body]).await;
    let (mut parts, body) = request.into_parts();
    parts.uri = format!("http://{}/", fixture.address).parse().unwrap();
    let client = client(AddressPolicy::public().loopback());
    let found = async {
        let answer = client.send(http::Request::from_parts(parts, body), exchange).await?;
        let (head, body) = answer.into_parts();
        Ok(Response::from_parts(head, body.bytes().await?.to_vec()))
    };
    let found = found.await;
    (found, fixture.heard.recv().await.unwrap())
}

#[tokio::test]
async fn is_asked_for_and_read_where_that_is_said() {
    let compressed = answer("200 OK\r\ncontent-encoding: gzip", &gzip(b"hello"));
    let (found, heard) = ask(get("/"), &compressed, Exchange::default().decompressed()).await;
    let found = found.unwrap();
    assert!(heard.contains("accept-encoding: gzip, deflate;q=0.5\r\n"), "{heard}");
    assert_eq!(found.body(), b"hello");
    assert!(!found.headers().contains_key("content-encoding"));
    assert!(!found.headers().contains_key("content-length"));
}

#[tokio::test]
async fn is_neither_asked_for_nor_touched_otherwise() {
    let compressed = answer("200 OK\r\ncontent-encoding: gzip", &gzip(b"hello"));
    let (found, heard) = ask(get("/"), &compressed, Exchange::default()).await;
    let found = found.unwrap();
    assert!(!heard.contains("accept-encoding"), "{heard}");
    assert_eq!(*found.body(), gzip(b"hello"));
    assert_eq!(found.headers()["content-encoding"], "gzip");
    let mut part = get("/");
    part.headers_mut().insert("range", http::HeaderValue::from_static("bytes=1-"));
    let compressed = answer("206 Part\r\ncontent-encoding: gzip", b"art");
    let (found, heard) = ask(part, &compressed, Exchange::default().decompressed()).await;
    assert!(!heard.contains("accept-encoding"), "{heard}");
    assert_eq!(found.unwrap().body(), b"art");
}

#[tokio::test]
async fn what_has_no_content_is_none() {
    for head in ["204 None\r\ncontent-encoding: gzip", "200 OK\r\ncontent-encoding: deflate"] {
        let (found, _) = ask(get("/"), &answer(head, b""), Exchange::default().decompressed()).await;
        assert_eq!(found.unwrap().body(), b"");
    }
    let mut head = get("/");
    *head.method_mut() = http::Method::HEAD;
    let said = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 25\r\n\r\n";
    let (found, _) = ask(head, said, Exchange::default().decompressed()).await;
    assert_eq!(found.unwrap().body(), b"");
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error() {
    let cut = gzip(b"hello");
    for (head, body) in [
        ("200 OK\r\ncontent-encoding: br", &b"hello"[..]),
        ("200 OK\r\ncontent-encoding: gzip, gzip", b"hello"),
        ("200 OK\r\ncontent-encoding: gzip", b"hello, this is no gzip at all"),
        ("200 OK\r\ncontent-encoding: gzip", &cut[..cut.len() - 1]),
    ] {
        let (found, _) = ask(get("/"), &answer(head, body), Exchange::default().decompressed()).await;
        assert_eq!(found.unwrap_err().to_string(), "cannot decompress the answer of `127.0.0.1`", "{head}");
    }
}

#[tokio::test]
async fn what_is_taken_is_counted_after_decompression() {
    let bomb = gzip(&vec![0; 1_000_000]);
    assert!(bomb.len() < 2_000);
    let bomb = answer("200 OK\r\ncontent-encoding: gzip", &bomb);
    let exchange = Exchange::default().decompressed();
    let (found, _) = ask(get("/"), &bomb, exchange.most_bytes(999_999)).await;
    assert!(matches!(found, Err(Error::TooLarge { most: 999_999 })), "{found:?}");
    let (found, _) = ask(get("/"), &bomb, exchange.most_bytes(1_000_000)).await;
    assert_eq!(found.unwrap().body().len(), 1_000_000);
}

#[tokio::test]
async fn what_decompresses_to_nothing_is_cut_too() {
    let empty = gzip(b"").repeat(10_000);
    let empty = answer("200 OK\r\ncontent-encoding: gzip", &empty);
    let (found, _) = ask(get("/"), &empty, Exchange::default().decompressed().most_bytes(1_000)).await;
    assert!(matches!(found, Err(Error::TooLarge { most: 1_000 })), "{found:?}");
}
