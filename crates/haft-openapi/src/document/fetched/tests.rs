#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use crate::store::{Store, load_same_origin};
use crate::{Document, LoadOptions, References};
use expect_test::{Expect, expect};
use haft_http::{AddressPolicy, HttpClient};
use std::error::Error as _;
use std::fmt::Write as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Serves files by their paths, and lets whoever asks for one without it go to `/openapi.json`.
async fn served(files: &'static [(&'static str, &'static str)]) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let head = head(&mut stream).await;
            let path = head.split([' ', '?']).nth(1).unwrap();
            let answer = match files.iter().find(|(name, _)| *name == path) {
                Some((_, "elsewhere")) => {
                    "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.2/\r\ncontent-length: 0\r\n\r\n"
                        .to_owned()
                }
                Some((_, text)) => format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                    text.len()
                ),
                None => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
            };
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (origin, tasks)
}

async fn head(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n") {
        text.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(text).unwrap()
}

/// Shows what becomes of the document at a path, and the server of its first operation.
async fn check(
    files: &'static [(&'static str, &'static str)],
    path: &str,
    options: LoadOptions,
    expected: &Expect,
) {
    let (origin, _tasks) = served(files).await;
    let client = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let mut text = String::new();
    match Document::from_url(&format!("{origin}{path}"), &client, &options).await {
        Ok(document) => {
            for operation in document.operations() {
                let request = operation.encode(&serde_json::json!({}));
                let url = request.map_or_else(|error| error.to_string(), |request| request.url().to_owned());
                writeln!(text, "{} {url}", operation.name()).unwrap();
            }
            for problem in document.problems() {
                writeln!(text, "{problem}").unwrap();
            }
        }
        Err(error) => {
            let cause = error.source().map(|cause| format!(" because {cause}")).unwrap_or_default();
            writeln!(text, "{error}{cause}").unwrap();
        }
    }
    expected.assert_eq(&text.replace(&origin, "ORIGIN"));
}

const FILES: &[(&str, &str)] = &[
    (
        "/a/openapi.json",
        r#"{ "openapi": "3.1.0", "paths": {
            "/here": { "get": { "operationId": "here" } },
            "/there": { "$ref": "paths/there.yaml#/there" },
            "/far": { "$ref": "https://other.example/far.yaml" },
            "/gone": { "$ref": "gone.yaml" },
            "/leads": { "$ref": "/leads" } } }"#,
    ),
    (
        "/a/paths/there.yaml",
        "there: { post: { operationId: there, parameters: [{ $ref: '../openapi.json#/none' }] } }",
    ),
    ("/leads", "elsewhere"),
    ("/text", "hello: you"),
];

#[tokio::test]
async fn a_document_is_read_from_its_address_with_what_is_beside_it() {
    check(
        FILES,
        "/a/openapi.json?key=s3cret",
        LoadOptions::default().references(References::SameOrigin),
        &expect![[r#"
            here ORIGIN/here
            `https://other.example/far.yaml` is on another origin; it is not read (at ``)
            `gone.yaml` cannot be used: cannot read `ORIGIN/a/gone.yaml`: it was answered with the status 404 (at ``)
            `/leads` cannot be used: cannot read `ORIGIN/leads`: `127.0.0.1` redirects, and that is not followed: it leads to another origin (at ``)
            the reference `https://other.example/far.yaml` leads to a file that is not read (at `/paths/~1far`)
            the reference `gone.yaml` leads to a file that is not read (at `/paths/~1gone`)
            the reference `/leads` leads to a file that is not read (at `/paths/~1leads`)
            POST /there: the reference `../openapi.json#/none` leads nowhere (at `ORIGIN/a/paths/there.yaml#/there/post/parameters/0`)
        "#]],
    )
    .await;
}

#[tokio::test]
async fn files_for_which_there_is_no_time_are_noted() {
    let (origin, _tasks) = served(FILES).await;
    let client = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let document = url::Url::parse(&format!("{origin}/a/openapi.json")).unwrap();
    let outward = vec!["paths/there.yaml".to_owned(), "https://other.example/far.yaml".to_owned()];
    let (mut store, options) = (Store::new(serde_json::Value::Null), LoadOptions::default());
    let problems =
        load_same_origin(&mut store, &document, outward, (&client, &options), tokio::time::Instant::now())
            .await;
    let told: Vec<&str> = problems.iter().map(crate::OpenApiProblem::message).collect();
    let late = "`paths/there.yaml` is not read: all the files together take too long";
    assert_eq!(told, [late, "`https://other.example/far.yaml` is on another origin; it is not read"]);
}

#[tokio::test]
async fn nothing_else_is_read_by_default() {
    check(
        FILES,
        "/a/openapi.json",
        LoadOptions::default().server("https://api.example"),
        &expect![[r#"
        here https://api.example/here
        the reference `https://other.example/far.yaml` leads to a file that is not read (at `/paths/~1far`)
        the reference `gone.yaml` leads to a file that is not read (at `/paths/~1gone`)
        the reference `/leads` leads to a file that is not read (at `/paths/~1leads`)
        the reference `paths/there.yaml#/there` leads to a file that is not read (at `/paths/~1there`)
    "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_no_document_is_said() {
    check(
        FILES,
        "/none?key=s3cret",
        LoadOptions::default(),
        &expect![[r#"
        cannot read `ORIGIN/none`: it was answered with the status 404
    "#]],
    )
    .await;
    check(
        FILES,
        "/text",
        LoadOptions::default(),
        &expect![[r#"
        this is not an OpenAPI document: it says neither a known version nor paths
    "#]],
    )
    .await;
    check(FILES, "/leads", LoadOptions::default(), &expect![[r#"
        cannot read `ORIGIN/leads` because `127.0.0.1` redirects, and that is not followed: it leads to another origin
    "#]]).await;
    check(
        FILES,
        "/a/openapi.json",
        LoadOptions::default().most_bytes(100),
        &expect![[r#"
            cannot read `ORIGIN/a/openapi.json` because the answer is larger than the 100 bytes that are taken
        "#]],
    )
    .await;
}

#[tokio::test]
async fn addresses_that_cannot_be_asked_are_refused() {
    let client = HttpClient::new(AddressPolicy::public()).unwrap();
    let mut said = String::new();
    for url in ["openapi.json", "ftp://a.example/", "https://me:s3cret@a.example/", "http://127.0.0.1:9/a"] {
        let error = Document::from_url(url, &client, &LoadOptions::default()).await.unwrap_err();
        writeln!(said, "{error}").unwrap();
    }
    expect![[r#"
        cannot use the address of the document: it is not an address; write one as `https://example.com/openapi.json`
        cannot use the address of the document: it is not an address of HTTP; write one as `https://example.com/openapi.json`
        cannot use the address of the document: it holds a user or a password; take them out
        cannot read `http://127.0.0.1:9/a`
    "#]]
    .assert_eq(&said);
}
