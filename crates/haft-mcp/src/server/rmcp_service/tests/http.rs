//! Sessions over HTTP, and what they are bounded by.

use super::stage::{Host, meta};
use crate::server::caller::Principal;
use crate::server::rmcp_service::http_service::{HttpService, http_service};
use crate::server::rmcp_service::serving::Serving;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

struct Stage {
    host: Host,
    service: HttpService,
    _over: tokio_util::sync::DropGuard,
}

type Body = super::super::http_service::HttpBody;

impl Stage {
    fn new() -> Self {
        let (host, over) = (Host::new(), CancellationToken::new());
        let serving = Serving::new(host.server().shared, CancellationToken::new());
        let service = http_service(&serving, over.clone());
        let keep = service.clone();
        let until = over.clone();
        tokio::spawn(async move { until.run_until_cancelled(keep.keep()).await });
        Self { host, service, _over: over.drop_guard() }
    }

    async fn ask(
        &self,
        who: &str,
        method: Method,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (StatusCode, Option<String>, Body) {
        let mut request = Request::builder().method(method).uri("/mcp");
        request = request
            .header("accept", "application/json, text/event-stream")
            .header("host", "localhost")
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Bytes::from(body.to_string())).unwrap();
        request.extensions_mut().insert(Principal::new(who));
        let response = self.service.clone().call(request).await.unwrap();
        let session = response.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
        (response.status(), session, response.into_body())
    }

    async fn session(&self, who: &str) -> String {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} }, "clientInfo": { "name": "a", "version": "1" } });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let (status, session, body) = self.ask(who, Method::POST, &[], &body).await;
        assert_eq!(status, StatusCode::OK);
        read(body).await;
        let session = session.unwrap();
        let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.within(who, &session, &body).await.0, StatusCode::ACCEPTED);
        session
    }

    async fn within(&self, who: &str, session: &str, body: &Value) -> (StatusCode, Body) {
        let (status, _, body) = self.ask(who, Method::POST, &headers(session), body).await;
        (status, body)
    }

    async fn get(&self, session: &str, last: Option<&str>) -> Body {
        let mut headers = headers(session).to_vec();
        headers.extend(last.map(|last| ("last-event-id", last)));
        let (status, _, body) = self.ask("ada", Method::GET, &headers, &Value::Null).await;
        assert_eq!(status, StatusCode::OK);
        body
    }
}

fn headers(session: &str) -> [(&str, &str); 2] {
    [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")]
}

fn call(id: i64, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": { "text": "x" } } })
}

/// Reads a body to its end.
async fn read(body: Body) -> String {
    let read = timeout(Duration::from_mins(1), body.collect()).await.expect("it ends soon").unwrap();
    String::from_utf8(read.to_bytes().to_vec()).unwrap()
}

/// Reads the next event.
async fn event(body: &mut Body) -> (String, Value) {
    loop {
        let frame = timeout(Duration::from_secs(10), body.frame())
            .await
            .expect("something comes soon")
            .unwrap()
            .unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        let of = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().to_owned())
        };
        if let Some(data) = of("data:").filter(|data| !data.is_empty()) {
            return (of("id:").unwrap_or_default(), serde_json::from_str(&data).unwrap());
        }
    }
}

#[tokio::test]
async fn a_session_is_its_owners_alone() {
    let stage = Stage::new();
    let session = stage.session("ada").await;
    let (status, body) = stage.within("ada", &session, &call(1, "echo")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(read(body).await.contains("\"text\":\"x\""));
    assert_eq!(stage.within("bob", &session, &call(1, "echo")).await.0, StatusCode::NOT_FOUND);
    // What it is not told of it cannot end either.
    stage.ask("bob", Method::DELETE, &headers(&session), &Value::Null).await;
    assert_eq!(stage.within("ada", &session, &call(2, "echo")).await.0, StatusCode::OK);
    stage.ask("ada", Method::DELETE, &headers(&session), &Value::Null).await;
    assert_eq!(stage.within("ada", &session, &call(3, "echo")).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_end_of_a_session_cancels_what_runs() {
    let stage = Stage::new();
    let session = stage.session("ada").await;
    let (_, body) = stage.within("ada", &session, &call(1, "wait")).await;
    stage.host.until(&stage.host.begun, 1).await;
    stage.ask("ada", Method::DELETE, &headers(&session), &Value::Null).await;
    stage.host.until(&stage.host.dropped, 1).await;
    assert_eq!(read(body).await, "");
}

#[tokio::test]
async fn a_question_goes_on_the_stream_of_its_call_and_changes_on_the_other() {
    let stage = Stage::new();
    let session = stage.session("ada").await;
    let mut other = stage.get(&session, None).await;
    let (_, mut body) = stage.within("ada", &session, &call(1, "ask")).await;
    let (_, question) = event(&mut body).await;
    assert_eq!(question["method"], "elicitation/create");
    stage.host.add("added");
    assert_eq!(event(&mut other).await.1["method"], "notifications/tools/list_changed");
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": { "name": "Ada" } } });
    // Nobody else can answer.
    assert_eq!(stage.within("bob", &session, &answer).await.0, StatusCode::NOT_FOUND);
    assert_eq!(stage.within("ada", &session, &answer).await.0, StatusCode::ACCEPTED);
    assert_eq!(event(&mut body).await.1["result"]["content"][0]["text"], "it is \"Ada\"");
    assert_eq!(read(body).await, "");
}

#[tokio::test]
async fn a_question_is_answered_once_and_in_its_own_session() {
    let stage = Stage::new();
    let (session, other) = (stage.session("ada").await, stage.session("ada").await);
    let (_, mut body) = stage.within("ada", &session, &call(1, "ask")).await;
    let (_, question) = event(&mut body).await;
    let answer = |name: &str| json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": { "name": name } } });
    // It is a question of another session, where it answers nothing.
    assert_eq!(stage.within("ada", &other, &answer("Eve")).await.0, StatusCode::ACCEPTED);
    assert_eq!(stage.within("ada", &session, &answer("Ada")).await.0, StatusCode::ACCEPTED);
    // What was answered is not asked any more.
    assert_eq!(stage.within("ada", &session, &answer("Bob")).await.0, StatusCode::ACCEPTED);
    assert_eq!(event(&mut body).await.1["result"]["content"][0]["text"], "it is \"Ada\"");
    assert_eq!(read(body).await, "");
    let (_, body) = stage.within("ada", &session, &call(2, "echo")).await;
    assert!(read(body).await.contains("\"text\":\"x\""));
}

/// Sends a request of the newer era, and gives what it is answered with.
async fn modern(stage: &Stage, version: &str, method: &str, params: Value) -> String {
    let mut params = params;
    params["_meta"] = meta(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![("mcp-protocol-version", version), ("mcp-method", method)];
    headers.extend((!name.is_empty()).then_some(("mcp-name", &*name)));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let (status, _, body) = stage.ask("ada", Method::POST, &headers, &body).await;
    format!("{} {}", status.as_u16(), read(body).await.trim())
}

#[tokio::test]
async fn what_is_not_known_is_refused_in_both_eras() {
    let stage = Stage::new();
    let session = stage.session("ada").await;
    let unknown = json!({ "jsonrpc": "2.0", "id": 1, "method": "no/such" });
    let (_, body) = stage.within("ada", &session, &unknown).await;
    assert!(read(body).await.contains("-32601"));
    let told = modern(&stage, "2026-07-28", "no/such", json!({})).await;
    assert!(told.starts_with("404 ") && told.contains("-32601"), "{told}");
    let told = modern(&stage, "2099-01-01", "tools/list", json!({})).await;
    assert!(told.starts_with("400 ") && told.contains("2026-07-28"), "{told}");
    let headers = [("mcp-session-id", &*session), ("mcp-protocol-version", "1999-01-01")];
    let (status, ..) = stage.ask("ada", Method::POST, &headers, &call(2, "echo")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    // Who begins with a version that is not known is offered one that is.
    let params = json!({ "protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let (_, _, body) = stage.ask("ada", Method::POST, &[], &hello).await;
    assert!(read(body).await.contains("\"protocolVersion\":\"2025-11-25\""));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_answered_for_correction() {
    let stage = Stage::new();
    let session = stage.session("ada").await;
    let arguments = json!({ "name": "echo", "arguments": { "text": { "a": 1 } } });
    let legacy = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments });
    let (_, body) = stage.within("ada", &session, &legacy).await;
    for told in [read(body).await, modern(&stage, "2026-07-28", "tools/call", arguments).await] {
        assert!(told.contains("\"isError\":true") && told.contains("/text"), "{told}");
        assert!(!told.contains("\"error\""), "{told}");
    }
}

#[tokio::test]
async fn whoever_comes_back_in_time_gets_the_answer() {
    let stage = Stage::new();
    let session = stage.session("ada").await;
    let (_, mut body) = stage.within("ada", &session, &call(1, "ask")).await;
    let (id, question) = event(&mut body).await;
    drop(body);
    let mut body = stage.get(&session, Some(&id)).await;
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
    stage.within("ada", &session, &answer).await;
    assert_eq!(event(&mut body).await.1["result"]["content"][0]["text"], "the user does not want to answer");
}

#[tokio::test(start_paused = true)]
async fn whoever_goes_away_has_the_call_cancelled_after_a_while() {
    let stage = Stage::new();
    let session = stage.session("ada").await;
    let (_, body) = stage.within("ada", &session, &call(1, "wait")).await;
    stage.host.until(&stage.host.begun, 1).await;
    let begun = Instant::now();
    drop(body);
    while stage.host.dropped.load(std::sync::atomic::Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    assert!(begun.elapsed() >= Duration::from_secs(9), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_that_nobody_uses() {
    let stage = Stage::new();
    let (idle, used, heard) =
        (stage.session("ada").await, stage.session("ada").await, stage.session("ada").await);
    let _heard = stage.get(&heard, None).await;
    for id in 0..5 {
        tokio::time::sleep(Duration::from_mins(7)).await;
        assert_eq!(stage.within("ada", &used, &call(id, "echo")).await.0, StatusCode::OK);
    }
    assert_eq!(stage.within("ada", &idle, &call(9, "echo")).await.0, StatusCode::NOT_FOUND);
    assert_eq!(stage.within("ada", &heard, &call(9, "echo")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn the_newer_era_has_no_sessions_and_its_vanishing_cancels_at_once() {
    let stage = Stage::new();
    let headers =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "wait")];
    let mut body = call(1, "wait");
    body["params"]["_meta"] = meta(json!({}));
    let asking = stage.ask("ada", Method::POST, &headers, &body);
    let gone = async {
        stage.host.until(&stage.host.begun, 1).await;
    };
    tokio::select! {
        (status, ..) = asking => panic!("it is answered with {status}"),
        () = gone => {}
    }
    stage.host.until(&stage.host.dropped, 1).await;
}
