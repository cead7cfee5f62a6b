#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use crate::fixture::{Api, call, read, say, say_json};
use expect_test::{Expect, expect};
use haft_core::{Content, ToolReply};
use haft_openapi::{OperationLimits, StatusError};
use haft_tools_core::{CallContext, CallScope};
use serde_json::{Value, json};
use std::error::Error as _;
use std::time::Duration;

/// Calls an operation that is answered so.
async fn answered(status: u16, headers: &'static str, body: impl Into<Vec<u8>>) -> ToolReply {
    let body = body.into();
    let api = Api::start(move |_| say(status, headers, &body)).await;
    call(&api.operation("get", &json!({})).build(), json!({})).await
}

async fn check(status: u16, headers: &'static str, body: impl Into<Vec<u8>>, expected: Expect) {
    expected.assert_eq(&read(&answered(status, headers, body).await));
}

#[tokio::test]
async fn json_is_data() {
    for (headers, body) in [
        ("content-type: application/json", r#"{"a":[1]}"#),
        ("content-type: application/vnd.api+json; charset=utf-8", " {\"a\" : [1]}\n"),
        ("content-type: text/plain", r#"{"a":[1]}"#),
        ("content-type: application/octet-stream", r#"{"a":[1]}"#),
        ("content-type: text/html; charset=utf-8", r#"{"a":[1]}"#),
        ("content-type: text/json", "\u{feff}{\"a\":[1]}"),
        ("", "{\"a\":[1]}"),
    ] {
        let reply = answered(200, headers, body).await;
        assert_eq!(reply.output.structured, Some(json!({ "a": [1] })), "{headers}");
        assert_eq!(read(&reply), r#"{"a":[1]}"#);
    }
    check(200, "content-type: application/json", b"\xff\xfe{\0}\0".to_vec(), expect!["{}"]).await;
    check(200, "content-type: application/json", "null", expect!["null"]).await;
}

#[tokio::test]
async fn what_says_that_it_is_json_and_is_not_is_text() {
    check(
        200,
        "content-type: application/json",
        "<h1>hi",
        expect![[r#"
            <h1>hi
            [the API says that this is JSON, and it is not: expected value at line 1 column 1]"#]],
    )
    .await;
    check(
        200,
        "content-type: application/json",
        "{\"a\":1",
        expect![[r#"
            {"a":1
            [the API says that this is JSON, and it is not: EOF while parsing an object at line 1 column 6]"#]],
    )
    .await;
    check(200, "content-type: application/json", "[".repeat(150), expect![[r#"
        [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
        [the API says that this is JSON, and it is not: recursion limit exceeded at line 1 column 128]"#]]).await;
}

#[tokio::test]
async fn texts_are_read_in_their_encoding() {
    check(200, "content-type: text/html; charset=ISO-8859-1", b"caf\xe9".to_vec(), expect!["café"]).await;
    check(200, "content-type: text/csv; charset=\"shift_jis\"", b"\x93\xfa".to_vec(), expect!["日"]).await;
    check(200, "content-type: text/plain", "é", expect!["é"]).await;
    check(200, "content-type: application/xml", b"<a>\xe9</a>".to_vec(), expect!["<a>é</a>"]).await;
    check(200, "content-type: text/plain; charset=nonsense", "x", expect!["x"]).await;
    check(200, "content-type: application/x-unheard-of", "plain after all", expect!["plain after all"]).await;
}

#[tokio::test]
async fn what_is_empty_says_what_became_of_it() {
    check(204, "", "", expect!["HTTP 204: it was done; the reply is empty"]).await;
    check(201, "location: /a/7", "", expect!["HTTP 201: it was done; the reply is empty; it is at /a/7"])
        .await;
    check(
        202,
        "location: /jobs/7",
        "",
        expect!["HTTP 202: it was accepted, and may not be done yet; the reply is empty; it is at /jobs/7"],
    )
    .await;
    check(200, "content-type: application/json", " \n", expect!["HTTP 200: it was done; the reply is empty"])
        .await;
    check(
        200,
        "content-type: application/x-ndjson",
        "{\"a\":1}\n{\"a\":2}\n",
        expect![[r#"
        {"a":1}
        {"a":2}
    "#]],
    )
    .await;
    check(304, "", "", expect!["HTTP 304: it has not changed; the reply is empty"]).await;
}

#[tokio::test]
async fn a_head_is_its_headers() {
    let api = Api::start(|_| say(200, "etag: \"1\"\ncontent-length: 5\nset-cookie: a=b", "")).await;
    let tools = api.operation("head", &json!({})).build();
    let reply = call(&tools, json!({})).await;
    assert_eq!(reply.output.details, json!({ "status": 200, "content_type": "" }));
    assert_eq!(read(&reply), "HTTP 200\nconnection: close\netag: \"1\"\ncontent-length: 5\n");
}

#[tokio::test]
async fn an_image_is_one_by_what_it_is() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0";
    for headers in
        ["content-type: image/png", "content-type: image/jpeg", "content-type: application/octet-stream"]
    {
        let reply = answered(200, headers, *png).await;
        assert_eq!(reply.output.content, [Content::image(png.to_vec(), "image/png")]);
    }
    let reply = answered(200, "content-type: image/png", b"\x01\x02\xff".to_vec()).await;
    let [Content::Text { text }, Content::Resource { uri, mime_type, data, .. }] = &reply.output.content[..]
    else {
        panic!("{reply:?}")
    };
    assert_eq!((text.as_str(), mime_type.as_deref()), ("[3 bytes of image/png]", Some("image/png")));
    assert!(uri.starts_with("http://127.0.0.1:") && uri.ends_with("/a"));
    assert_eq!(data.as_ref().map(|data| data.as_bytes().to_vec()), Some(vec![1, 2, 255]));
    let wav = b"RIFF\0\0\0\0WAVEfmt ";
    let reply = answered(200, "content-type: audio/x-wav", *wav).await;
    assert_eq!(reply.output.content, [Content::audio(wav.to_vec(), "audio/wav")]);
}

#[tokio::test]
async fn bytes_are_bytes() {
    let reply = answered(200, "content-type: application/pdf", b"%PDF-1.7 \xe2\xe3\0".to_vec()).await;
    assert_eq!(reply.output.content.len(), 2);
    assert_eq!(reply.output.content[0], Content::text("[12 bytes of application/pdf]"));
    let reply = answered(200, "", b"\0\x01\xff".to_vec()).await;
    assert_eq!(reply.output.content[0], Content::text("[3 bytes of application/octet-stream]"));
}

#[tokio::test]
async fn errors_are_told_with_what_to_do_next() {
    let json = "content-type: application/problem+json";
    check(422, json, r#"{"detail":"name is too long"}"#, expect![[r#"
        Error(InvalidInput): the API answered `api__op` with HTTP 422 (Unprocessable Entity); correct the arguments and call it again. It says:
        {"detail":"name is too long"}"#]]).await;
    check(400, "", "", expect!["Error(InvalidInput): the API answered `api__op` with HTTP 400 (Bad Request) and nothing else; correct the arguments and call it again"]).await;
    check(401, "www-authenticate: Basic realm=\"x\"", "", expect![[r#"Error(Unauthenticated): the API answered `api__op` with HTTP 401 (Basic realm="x") and nothing else; ask the person who set this API up to look at its credentials, or go on without it"#]]).await;
    check(403, json, "{}", expect![[r#"
        Denied: the API answered `api__op` with HTTP 403 (Forbidden); go on without it, unless the API says what is missing. It says:
        {}"#]]).await;
    check(404, "content-type: text/html", format!("<html>{}", "x".repeat(2000)), expect![[r#"
        Error(NotFound): the API answered `api__op` with HTTP 404 (Not Found); look up what there is, or go on without it. It says:
        <html>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx [and 1506 bytes more]"#]]).await;
    check(409, json, "{}", expect![[r#"
        Error(Failed): the API answered `api__op` with HTTP 409 (Conflict); what it is about may have changed; look at it before you call it again. It says:
        {}"#]]).await;
    check(500, "content-type: text/plain", "a\u{202e}b\u{1b}[31m", expect![[r#"
        Error(Failed): the API answered `api__op` with HTTP 500 (Internal Server Error); go on without it. It says:
        a\u{202e}b\u{1b}[31m"#]]).await;
    check(418, "", b"\0\xff".to_vec(), expect!["Error(Failed): the API answered `api__op` with HTTP 418 (I'm a teapot) and nothing else; go on without it"]).await;
}

#[tokio::test]
async fn errors_say_whether_to_try_again() {
    for (status, headers, expected) in [
        (429, "retry-after: 7", Some(Some(7))),
        (
            503,
            "retry-after: Sun, 06 Nov 1994 08:50:07 GMT\ndate: Sun, 06 Nov 1994 08:49:37 GMT",
            Some(Some(30)),
        ),
        (502, "retry-after: soon", Some(None)),
        (504, "", Some(None)),
        (500, "retry-after: 7", None),
        (404, "", None),
    ] {
        let api = Api::start(move |_| say(status, headers, "why")).await;
        let tools = api.operation("get", &json!({})).build();
        let scope = || CallScope::new("r".parse().unwrap());
        let prepared = tools.tools()[0].prepare(&json!({}), &scope()).unwrap();
        let error = prepared.run(CallContext::detached("c".parse().unwrap(), scope())).await.unwrap_err();
        let found = error.can_retry().then(|| error.retry_after().map(|wait| wait.as_secs()));
        assert_eq!(found, expected, "{status}");
        let source = error.source().and_then(|source| source.downcast_ref::<StatusError>()).unwrap();
        assert_eq!((source.status().as_u16(), source.body()), (status, "why"));
    }
}

#[tokio::test]
async fn what_is_read_only_is_tried_again_by_the_executor() {
    for (method, times) in [("get", 3), ("put", 3), ("post", 1)] {
        let api = Api::start(|_| say(503, "retry-after: 0", "")).await;
        call(&api.operation(method, &json!({})).build(), json!({})).await;
        assert_eq!(api.heard().len(), times, "{method}");
    }
}

#[tokio::test]
async fn a_reply_that_is_not_as_the_document_says_is_delivered_and_noted() {
    let schema =
        json!({ "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] });
    let operation = json!({ "responses": { "200": {
        "description": "", "content": { "application/json": { "schema": schema } },
    } } });
    for (told, reply, violations) in [
        (true, json!({ "id": "x" }), json!(r#"at `/id`: "x" is not of type "integer""#)),
        (true, json!({ "id": 1 }), Value::Null),
        (false, json!({ "id": "x" }), Value::Null),
    ] {
        let answer = reply.clone();
        let api = Api::start(move |_| say_json(&answer)).await;
        let tools = api.operation("get", &operation).output_schemas(told).build();
        assert_eq!(tools.tools()[0].spec().output_schema().is_some(), told);
        let found = call(&tools, json!({})).await;
        assert_eq!(found.output.structured, Some(reply));
        let noted = found.output.details.get("violations").cloned().unwrap_or_default();
        assert_eq!(
            noted.as_str().map(|text| text.split(':').next()),
            violations.as_str().map(|text| text.split(':').next())
        );
    }
}

#[tokio::test]
async fn a_text_that_is_too_long_is_cut_and_says_so() {
    let limits = OperationLimits { most_bytes: 10, ..OperationLimits::default() };
    let cut = async |content_type: &'static str, body: &'static [u8]| {
        let api = Api::start(move |_| say(200, content_type, body)).await;
        read(&call(&api.operation("get", &json!({})).limits(limits).build(), json!({})).await)
    };
    let told = "[this is cut: the API goes on after these 10 bytes; ask for less at once, such as a page, fewer fields or a \
                narrower search]";
    assert_eq!(cut("content-type: text/plain", b"0123456789").await, "0123456789");
    assert_eq!(cut("content-type: text/plain", b"0123456789a").await, format!("0123456789\n{told}"));
    assert_eq!(cut("content-type: application/json", b"[1,2,3,4,5,6]").await, format!("[1,2,3,4,5\n{told}"));
    assert_eq!(cut("content-type: text/plain", "012345678é".as_bytes()).await, format!("012345678\n{told}"));
    let image = cut("content-type: image/png", b"\x89PNG\r\n\x1a\n\0\0\0\0\0").await;
    assert!(
        image.starts_with("Error(Failed): the reply to `api__op` is image/png of more than the 10 bytes"),
        "{image}"
    );
}

#[tokio::test]
async fn events_are_collected_until_they_end() {
    let events = "event: a\ndata: {\"n\":1}\n\ndata: two\ndata: lines\n\n";
    let expected = "a: {\"n\":1}\ntwo\nlines\n[the stream ended after 2 events]";
    let api = Api::start(move |_| say(200, "content-type: text/event-stream", events)).await;
    assert_eq!(read(&call(&api.operation("get", &json!({})).build(), json!({})).await), expected);
}

#[tokio::test]
async fn events_that_do_not_end_are_left() {
    let api = Api::start(|_| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n";
        crate::fixture::Say::Open(head.as_bytes().to_vec())
    })
    .await;
    let limits = OperationLimits { stream: Duration::from_millis(100), ..OperationLimits::default() };
    let tools = api.operation("get", &json!({})).limits(limits).build();
    let told = read(&call(&tools, json!({})).await);
    assert_eq!(told, "1\n[the stream was left after 1 event: it was listened to for 0 s, and it goes on]");
}
