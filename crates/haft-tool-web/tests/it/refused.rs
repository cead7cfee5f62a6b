//! What would turn the tool inwards, or never ends.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use crate::server::{Server, answer, call, declared, fetch, leads_to};
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
            "`url` is not a whole address; write it with its scheme and host, such as `https://example.org/page`"
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
            "`url` is not a whole address; write it with its scheme and host, such as `https://example.org/page`"
        ],
    );
    check(
        "",
        &expect![
            "`url` is not a whole address; write it with its scheme and host, such as `https://example.org/page`"
        ],
    );
}

#[tokio::test]
async fn what_is_no_text_or_too_long_is_refused_with_its_place() {
    for (input, expected) in [
        (
            json!({}),
            expect![[r#"
            the arguments do not fit `web_fetch`:
            - at the top: the property `url` is missing
            correct them and call the tool again"#]],
        ),
        (
            json!({ "url": ["https://a.example/"] }),
            expect![[r#"
            the arguments do not fit `web_fetch`:
            - at `/url`: ["https://a.example/"] is not a string
            correct them and call the tool again"#]],
        ),
        (
            json!({ "url": format!("https://a.example/{}", "x".repeat(8_000)) }),
            expect![[r#"
            the arguments do not fit `web_fetch`:
            - at `/url`: "https://a.example/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" is longer than 8000 characters
            correct them and call the tool again"#]],
        ),
        (
            json!({ "url": "https://a.example/", "whole": "perhaps" }),
            expect![[r#"
            the arguments do not fit `web_fetch`:
            - at `/whole`: "perhaps" is not a boolean
            correct them and call the tool again"#]],
        ),
        (
            json!({ "url": "https://a.example/", "method": "POST" }),
            expect![[r#"
            the arguments do not fit `web_fetch`:
            - at the top: unknown property `method`; it takes `raw`, `url` and `whole`
            correct them and call the tool again"#]],
        ),
        (
            json!({ "url": "http://a.example:99999/" }),
            expect![
                "`url` is not a whole address; write it with its scheme and host, such as `https://example.org/page`"
            ],
        ),
        (
            json!({ "url": "javascript:alert(1)" }),
            expect!["`url` begins with `javascript:`, and only `http:` and `https:` are read; use another"],
        ),
        (
            json!({ "url": "http://[::1" }),
            expect![
                "`url` is not a whole address; write it with its scheme and host, such as `https://example.org/page`"
            ],
        ),
        (
            json!({ "url": "http://a b/" }),
            expect![
                "`url` is not a whole address; write it with its scheme and host, such as `https://example.org/page`"
            ],
        ),
    ] {
        let reply = call(fetch(), input).await;
        assert!(!reply.status.is_ok());
        expected.assert_eq(&reply.output.to_text());
    }
}

#[tokio::test]
async fn a_step_inwards_is_not_taken_however_many_come_before_it() {
    for inwards in
        ["http://[::ffff:10.0.0.1]/", "http://0x7f.1:1/", "http://169.254.169.254/latest/meta-data/"]
    {
        let server = Server::new(move |head| match head.split(' ').nth(1) {
            Some("/1") => leads_to("/2"),
            Some("/2") => leads_to("/3"),
            _ => leads_to(inwards),
        })
        .await;
        let reply = call(fetch(), json!({ "url": server.url("/1") })).await;
        let text = reply.output.to_text();
        assert!(text.contains("on another host") && text.contains("nothing was read"), "{text}");
        assert_eq!(server.paths(), ["/1", "/2", "/3"]);
        // Whoever goes there by itself does not get there either.
        let (_, rest) = text.split_once(" leads to ").unwrap();
        let (place, _) = rest.split_once(", on another host").unwrap();
        let reply = call(WebFetch::held_to(AddressPolicy::public()), json!({ "url": place })).await;
        assert_eq!(reply.status, ReplyStatus::Denied, "{place}: {}", reply.output.to_text());
    }
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
        let tool = WebFetch::held_to(AddressPolicy::public());
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
