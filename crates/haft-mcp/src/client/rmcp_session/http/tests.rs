use super::{HttpDial, HttpDialError, host_of};
use crate::client::rmcp_session::Opening;
use crate::client::service::{Heard, Say, Service, key};
use crate::client::session::{
    Ask, AskRefused, Counterpart, Dial as _, DialError, Fault, News, Request, Session, Watch,
};
use crate::{Era, MemoryEras, RemoteServer, ServerLimits};
use async_trait::async_trait;
use haft_tools_core::CallContext;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Barrier;

mod forgotten;

#[derive(Default)]
struct Ear(Mutex<Vec<String>>);

#[async_trait]
impl Counterpart for Ear {
    fn capabilities(&self) -> Value {
        json!({ "roots": {} })
    }

    async fn answer(&self, ask: Ask, of: Option<Arc<dyn Watch>>) -> Result<Value, AskRefused> {
        Ok(json!({ "asked": ask.method, "of_a_call": of.is_some() }))
    }

    fn hear(&self, news: News) {
        self.0.lock().unwrap().push(format!("{news:?}"));
    }
}

impl Watch for Ear {
    fn progress(&self, _done: f64, _total: Option<f64>, _text: Option<&str>) {}

    fn call(&self) -> Option<&CallContext> {
        None
    }
}

fn opening(era: Option<Era>) -> Opening {
    let limits = ServerLimits {
        message_bytes: 2000,
        probe_timeout: Duration::from_secs(20),
        ..ServerLimits::default()
    };
    Opening { era, limits, log_level: None, memory: Arc::new(MemoryEras::default()), key: key() }
}

fn dial(service: &Service, opening: Opening) -> HttpDial {
    let mut server = RemoteServer::new(format!("{}/mcp", service.url));
    server.headers.insert("X-Key".to_owned(), "configured".to_owned());
    HttpDial::new(&server, None, opening).unwrap()
}

async fn open(service: &Service, era: Option<Era>) -> Arc<dyn Session> {
    dial(service, opening(era)).dial(Arc::new(Ear::default())).await.unwrap()
}

async fn call(session: &dyn Session, name: &str) -> Result<Value, Fault> {
    let params = json!({ "name": name, "arguments": {} });
    session.request(Request { method: "tools/call", params }, Some(Arc::new(Ear::default()))).await
}

/// Speaks the modern era, and says what it is told to all else.
fn modern(heard: &Heard, say: impl FnOnce(&Heard) -> Say) -> Say {
    match heard.rpc() {
        "server/discover" => Say::json(&heard.result(&json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {}, "serverInfo": { "name": "s", "version": "1" }
        }))),
        _ => say(heard),
    }
}

/// Speaks the legacy era, and says what it is told to all else.
fn legacy(heard: &Heard, session: &str, say: impl FnOnce(&Heard) -> Say) -> Say {
    match (heard.method.as_str(), heard.rpc()) {
        ("GET", _) => Say::status(405),
        ("DELETE", _) => Say::status(200),
        (_, "server/discover") => Say::status(400),
        (_, "initialize") => Say::json(&heard.result(&json!({
            "protocolVersion": "2025-11-25", "capabilities": { "odd": {} }, "serverInfo": { "name": "s", "version": "1" }
        })))
        .with("mcp-session-id", session),
        (_, method) if method.starts_with("notifications/") => Say::status(202),
        _ => say(heard),
    }
}

fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

#[tokio::test]
async fn speaks_the_modern_era() {
    let result = json!({ "content": [{ "type": "odd", "x": 1 }], "odd": true });
    let said = result.clone();
    let service = Service::start(move |heard| modern(heard, |heard| Say::json(&heard.result(&said)))).await;
    let session = open(&service, None).await;
    assert_eq!(session.server().era, Era::Modern);
    assert_eq!(call(session.as_ref(), "a").await.unwrap(), result);
    let heard = service.heard();
    let last = heard.last().unwrap();
    let headers =
        ["mcp-protocol-version", "mcp-method", "mcp-name", "x-key", "mcp-session-id", "authorization"];
    assert_eq!(
        headers.map(|name| last.header(name)),
        ["2026-07-28", "tools/call", "a", "configured", "", ""]
    );
    assert_eq!(last.path, "/mcp");
    session.close().await;
}

#[tokio::test]
async fn speaks_the_legacy_era_to_who_refuses_the_modern_one_and_keeps_the_session() {
    let say =
        |heard: &Heard| Say::Events(event(&heard.result(&json!({ "echo": heard.body["params"]["name"] }))));
    let mut service = Service::start(move |heard| legacy(heard, "s1", say)).await;
    let opening = opening(None);
    let session = dial(&service, opening.clone()).dial(Arc::new(Ear::default())).await.unwrap();
    assert_eq!(session.server().era, Era::Legacy);
    assert_eq!(session.server().capabilities, json!({ "odd": {} }));
    assert_eq!(opening.memory.recall(&key()), Some(Era::Legacy));
    assert_eq!(call(session.as_ref(), "a").await.unwrap(), json!({ "echo": "a" }));
    let heard = service.next(|heard| heard.rpc() == "tools/call").await;
    let headers = ["mcp-protocol-version", "mcp-session-id", "mcp-method"];
    assert_eq!(headers.map(|name| heard.header(name)), ["2025-11-25", "s1", ""]);
    session.close().await;
    let left = service.next(|heard| heard.method == "DELETE").await;
    assert_eq!(left.header("mcp-session-id"), "s1");
}

#[tokio::test]
async fn a_result_that_looks_like_a_list_of_tools_is_one_only_if_it_was_asked_for() {
    // The annotation is not allowed, so that the library sorts such a tool out of a list.
    let schema =
        json!({ "type": "object", "properties": { "a": { "type": "object", "x-mcp-header": "A" } } });
    let result =
        json!({ "tools": [{ "name": "a", "inputSchema": schema }], "protocolVersion": "2025-11-25" });
    for in_events in [false, true] {
        let said = result.clone();
        let service = Service::start(move |heard| {
            modern(heard, |heard| {
                let answer = heard.result(&said);
                if in_events { Say::Events(event(&answer)) } else { Say::json(&answer) }
            })
        })
        .await;
        let session = open(&service, None).await;
        assert_eq!(call(session.as_ref(), "a").await.unwrap(), result);
        let listed = session.request(Request { method: "tools/list", params: json!({}) }, None).await;
        assert_eq!(listed.unwrap()["tools"], json!([]));
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_the_error_of_its_call() {
    let service = Service::start(|heard| {
        modern(heard, |heard| {
            let large = heard.result(&json!({ "text": "x".repeat(3000) }));
            match heard.body["params"]["name"].as_str() {
                Some("json") => Say::json(&large),
                Some("events") => Say::Open(event(&large)),
                _ => Say::json(&heard.result(&json!({}))),
            }
        })
    })
    .await;
    let session = open(&service, None).await;
    for name in ["json", "events"] {
        let fault = call(session.as_ref(), name).await.unwrap_err();
        assert!(matches!(fault, Fault::Oversize { bytes: 3000.., most: 2000 }), "{name}: {fault}");
    }
    assert_eq!(call(session.as_ref(), "small").await.unwrap(), json!({}));
}

#[tokio::test]
async fn goes_on_with_a_stream_that_broke_off() {
    let mut service = Service::start(|heard| {
        if heard.method == "GET" {
            return Say::Events(event(&json!({ "jsonrpc": "2.0", "id": heard.header("last-event-id").parse::<u64>().unwrap(), "result": { "late": true } })));
        }
        modern(heard, |heard| Say::Events(format!("id: {}\nretry: 10\ndata:\n\n", heard.body["id"])))
    })
    .await;
    let session = open(&service, None).await;
    assert_eq!(call(session.as_ref(), "a").await.unwrap(), json!({ "late": true }));
    service.next(|heard| heard.method == "GET").await;
}

#[tokio::test]
async fn a_stream_that_ends_without_an_answer_is_the_error_of_its_call() {
    let service = Service::start(|heard| modern(heard, |_| Say::Events(": nothing\n\n".to_owned()))).await;
    let session = open(&service, None).await;
    let fault = call(session.as_ref(), "a").await.unwrap_err();
    assert!(matches!(fault, Fault::Broken(_)), "{fault}");
}

#[tokio::test]
async fn tells_the_server_when_nobody_waits_any_more() {
    let mut service = Service::start(|heard| modern(heard, |_| Say::Open(": wait\n\n".to_owned()))).await;
    let session = open(&service, None).await;
    tokio::select! {
        result = call(session.as_ref(), "a") => panic!("{result:?}"),
        _ = service.next(|heard| heard.rpc() == "tools/call") => {}
    }
    service.next(|heard| heard.method == "gone").await;

    let mut service =
        Service::start(|heard| legacy(heard, "s", |_| Say::Open(": wait\n\n".to_owned()))).await;
    let session = open(&service, Some(Era::Legacy)).await;
    let called = tokio::select! {
        result = call(session.as_ref(), "a") => panic!("{result:?}"),
        called = service.next(|heard| heard.rpc() == "tools/call") => called,
    };
    let cancelled = service.next(|heard| heard.rpc() == "notifications/cancelled").await;
    assert_eq!(cancelled.body["params"]["requestId"], called.body["id"]);
}

#[tokio::test]
async fn a_server_that_is_silent_to_the_modern_era_is_spoken_to_in_the_other() {
    let service = Service::start(|heard| match heard.rpc() {
        "server/discover" => Say::Nothing,
        _ => legacy(heard, "s", |heard| Say::json(&heard.result(&json!({})))),
    })
    .await;
    let mut opening = opening(None);
    opening.limits.probe_timeout = Duration::from_millis(100);
    let session = dial(&service, opening.clone()).dial(Arc::new(Ear::default())).await.unwrap();
    assert_eq!(session.server().era, Era::Legacy);
    assert_eq!(opening.memory.recall(&key()), Some(Era::Legacy));
    assert_eq!(call(session.as_ref(), "a").await.unwrap(), json!({}));
}

#[tokio::test]
async fn has_many_requests_under_way() {
    let barrier = Arc::new(Barrier::new(64));
    let service = Service::start(move |heard| {
        modern(heard, |heard| Say::Together(barrier.clone(), Box::new(Say::json(&heard.result(&json!({}))))))
    })
    .await;
    let session = open(&service, None).await;
    let calls = (0..64).map(|_| call(session.as_ref(), "a"));
    for result in futures_util::future::join_all(calls).await {
        assert_eq!(result.unwrap(), json!({}));
    }
}

#[tokio::test]
async fn answers_what_a_server_asks_while_it_is_called() {
    let asks =
        || event(&json!({ "jsonrpc": "2.0", "id": "q", "method": "roots/list", "params": { "odd": 1 } }));
    // It asks on the stream of the call, or on the one that belongs to none.
    for on_the_call in [true, false] {
        let called = Arc::new(Barrier::new(2));
        let mut service = Service::start(move |heard| match (heard.method.as_str(), heard.rpc()) {
            ("GET", _) if !on_the_call => Say::Together(called.clone(), Box::new(Say::Open(asks()))),
            (_, "tools/call") if on_the_call => Say::Open(asks()),
            (_, "tools/call") => Say::Together(called.clone(), Box::new(Say::Nothing)),
            _ => legacy(heard, "s", |_| Say::status(202)),
        })
        .await;
        let session = open(&service, Some(Era::Legacy)).await;
        tokio::select! {
            result = call(session.as_ref(), "a") => panic!("{result:?}"),
            answer = service.next(|heard| heard.body["id"] == "q") => {
                assert_eq!(answer.body["result"], json!({ "asked": "roots/list", "of_a_call": true }));
            }
        }
    }
}

#[tokio::test]
async fn says_what_is_wrong_with_a_service() {
    let check = async |say: fn(&Heard) -> Say, expected: &str| {
        let service = Service::start(say).await;
        let error = dial(&service, opening(None)).dial(Arc::new(Ear::default())).await.err().unwrap();
        assert_eq!(error.to_string().replace(&service.url, "URL"), expected);
    };
    check(|_| Say::status(401), "the server did not open the connection: the server needs a login").await;
    check(
        |_| Say::status(307).with("location", "https://elsewhere.example/"),
        "the server answered with HTTP 307 Temporary Redirect, which leads to another address: configure that one",
    )
    .await;
    check(|_| Say::status(503), "the server answered with HTTP 503 Service Unavailable").await;
    let nobody = RemoteServer::new("http://127.0.0.1:1/mcp");
    let dial = HttpDial::new(&nobody, None, opening(None)).unwrap();
    let error = dial.dial(Arc::new(Ear::default())).await.err().unwrap();
    assert!(
        matches!(&error, DialError::Unreachable(how) if how.starts_with("cannot connect to `127.0.0.1`")),
        "{error}"
    );
}

#[test]
fn sends_secrets_only_where_nobody_else_reads_them() {
    for url in ["https://example.org/mcp", "http://localhost:1/", "http://127.1:1/", "http://[::1]/"] {
        assert!(host_of(url).is_ok(), "{url}");
    }
    for url in ["http://example.org/", "http://10.0.0.1/", "http://localhost.example/", "ftp://example.org/"]
    {
        assert!(matches!(host_of(url), Err(HttpDialError::Plain)), "{url}");
    }
    for url in ["https://user@example.org/", "example.org", "/mcp", ""] {
        assert!(matches!(host_of(url), Err(HttpDialError::Url)), "{url}");
    }
    let mut server = RemoteServer::new("https://example.org/");
    server.headers.insert("x-key".to_owned(), "a\nsecret".to_owned());
    let error = HttpDial::new(&server, None, opening(None)).err().unwrap();
    assert_eq!(error.to_string(), "the header `x-key` cannot be sent");
}
