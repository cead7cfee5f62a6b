//! What would turn the tool inwards, or never ends.

use crate::server::{Server, answer, call, declared, fetch};
use expect_test::{Expect, expect};
use haft_core::ReplyStatus;
use haft_http::AddressPolicy;
use haft_tool_web::WebFetch;
use serde_json::json;
use std::io::Write as _;

fn check(url: &str, expected: &Expect) {
    let shown = match declared(&fetch(), &json!({ "url": url })) {
        Ok(accesses) => accesses.join("\n"),
        Err(error) => error,
    };
    expected.assert_eq(&shown);
}

#[test]
fn it_declares_what_it_connects_to() {
    check("https://A.example/x?y#z", &expect!["connect net:a.example:443"]);
    check(" http://a.example:8080 ", &expect!["connect net:a.example:8080"]);
    check("http://0x7f.1/", &expect!["connect net:127.0.0.1:80"]);
    check("http://[::ffff:10.0.0.1]/", &expect!["connect net:10.0.0.1:80"]);
}

#[test]
fn what_is_no_address_of_the_web_is_refused_with_what_to_do() {
    check(
        "file:///etc/passwd",
        &expect!["`url` is that of a file on this machine; read it with a tool for files"],
    );
    check(
        "a.example/page",
        &expect![
            "`url` is no whole address; write it with its scheme and host, such as `https://example.org/page`"
        ],
    );
    check(
        "ftp://a.example/",
        &expect!["`url` begins with `ftp:`, and only `http:` and `https:` are read; use another"],
    );
    check(
        "https://user:secret@a.example/",
        &expect!["`url` holds a user or a password, which are not sent; leave them out"],
    );
    check(
        "http://",
        &expect![
            "`url` is no whole address; write it with its scheme and host, such as `https://example.org/page`"
        ],
    );
    check(
        "",
        &expect![
            "`url` is no whole address; write it with its scheme and host, such as `https://example.org/page`"
        ],
    );
}

#[tokio::test]
async fn no_spelling_of_an_address_leads_inwards() {
    let server = Server::new(|_| answer("text/plain", "inside")).await;
    let port = server.port;
    for host in [
        "127.0.0.1",
        "localhost",
        "0x7f.1",
        "2130706433",
        "017700000001",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "[::]",
        "10.0.0.1",
        "[::ffff:10.0.0.1]",
        "169.254.169.254",
        "192.168.0.1",
        "[fd00::1]",
        "127.0.0.1.",
    ] {
        let tool = WebFetch::within(AddressPolicy::public());
        let reply = call(tool, json!({ "url": format!("http://{host}:{port}/") })).await;
        let text = reply.output.to_text();
        assert_eq!(reply.status, ReplyStatus::Denied, "{host}: {text}");
        assert!(text.contains("may not be connected to"), "{host}: {text}");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn an_answer_without_end_is_read_as_far_as_is_of_use() {
    let server = Server::streaming(|_| {
        let head =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10000000000\r\n\r\n".to_vec();
        (head, Some(b"and so on\n".repeat(1000)))
    })
    .await;
    let reply = call(fetch(), json!({ "url": server.url("/") })).await;
    let text = reply.output.to_text();
    assert_eq!((reply.status, &reply.output.details["bytes"]), (ReplyStatus::Ok, &json!(8 << 20)));
    assert!(text.contains("it goes on after what was read of it") && text.len() < 40_000, "{}", text.len());
}

#[tokio::test]
async fn what_is_small_only_on_its_way_is_cut_as_well() {
    let mut zeros = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..100 {
        zeros.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let bomb = zeros.finish().unwrap();
    assert!(bomb.len() < 200_000);
    let server = Server::new(move |_| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            bomb.len()
        );
        [head.as_bytes(), &bomb].concat()
    })
    .await;
    let reply = call(fetch(), json!({ "url": server.url("/") })).await;
    assert_eq!((reply.status, &reply.output.details["bytes"]), (ReplyStatus::Ok, &json!(8 << 20)));
}
