//! What is answered without the library is answered as the library does.

use super::both_ways::{Sent, Stage};
use super::stage::meta;
use http::Method;
use http_body_util::BodyExt as _;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use std::pin::pin;
use tokio::runtime::Runtime;
use tower_service::Service as _;

#[tokio::test]
async fn calls_are_answered_as_by_the_library() {
    let stage = Stage::new().await;
    let forms = || json!({ "elicitation": { "form": {} } });
    let call = |params| Sent::call(params, json!({}));
    stage.check(true, 200, "hello", &Sent::echo()).await;
    stage.check(true, 200, "\"id\":\"a\"", &Sent::echo().body("\"id\":1", "\"id\":\"a\"")).await;
    stage.check(true, 200, "\"id\":1,", &Sent::echo().body("\"id\":1", "\"id\":1.0")).await;
    stage.check(true, 200, "content", &call(json!({ "name": "echo" }))).await;
    stage.check(true, 200, "content", &call(json!({ "name": "echo", "arguments": null }))).await;
    // What does not fit the schema of the tool.
    stage
        .check(true, 200, "isError\":true", &call(json!({ "name": "echo", "arguments": { "text": 1 } })))
        .await;
    stage.check(true, 200, "told", &call(json!({ "name": "tell" }))).await;
    stage
        .check(true, 200, "hello", &Sent::echo().saying("accept", "TEXT/event-stream,application/JSON"))
        .await;
    stage
        .check(true, 200, "hello", &Sent::echo().saying("content-type", "application/json; charset=utf-8"))
        .await;
    stage.check(true, 200, "hello", &Sent::echo().with("traceparent", "00-1-1-01")).await;
    stage.check(true, 400, "-32021", &call(json!({ "name": "need" }))).await;
    stage.check(true, 200, "nothing is served to nobody", &Sent::echo().by("nobody")).await;
    // A client that cannot be asked, one that can, and one whose answers or state are of no question.
    stage.check(true, 200, "isError", &call(json!({ "name": "ask" }))).await;
    let ask = || json!({ "name": "ask" });
    stage.check(true, 200, "input_required", &Sent::call(ask(), forms())).await;
    let with = |key: &str, value: Value| {
        let mut params = ask();
        params[key] = value;
        Sent::call(params, forms())
    };
    stage.check(true, 200, "-32602", &with("requestState", json!("forged"))).await;
    stage.check(true, 200, "input_required", &with("inputResponses", json!({ "who": 1 }))).await;
    stage.check(true, 200, "input_required", &with("inputResponses", json!({ "other": {} }))).await;
    stage.check(false, 200, "-32602", &with("inputResponses", json!([]))).await;
    stage.check(false, 200, "-32602", &with("requestState", json!(1))).await;
    // A tool of which something stands in the headers, and one that nobody has.
    let headed = || call(json!({ "name": "headed", "arguments": { "text": "a" } }));
    stage.check(false, 400, "-32020", &headed()).await;
    stage.check(false, 200, "\"a\"", &headed().with("mcp-param-text", "a")).await;
    stage.check(false, 400, "-32020", &headed().with("mcp-param-text", "b")).await;
    stage.check(false, 200, "nothing", &call(json!({ "name": "nothing" }))).await;
}

#[tokio::test]
async fn what_the_library_refuses_is_refused() {
    let stage = Stage::new().await;
    let echo = Sent::echo;
    for (status, says, sent) in [
        (406, "Acceptable", echo().without("accept")),
        (406, "Acceptable", echo().saying("accept", "application/json")),
        (406, "Acceptable", echo().saying("accept", "application/json, text/event-stream;q=0")),
        (415, "Media", echo().without("content-type")),
        (415, "Media", echo().saying("content-type", "text/plain")),
        (400, "Host", echo().without("host")),
        (400, "Host", echo().saying("host", "a b")),
        (400, "-32020", echo().without("mcp-protocol-version")),
        (400, "-32020", echo().saying("mcp-protocol-version", "2025-11-25")),
        (400, "-32020", echo().saying("mcp-protocol-version", "2026-07-29")),
        (400, "-32020", echo().without("mcp-method")),
        (400, "-32020", echo().saying("mcp-method", "tools/list")),
        (400, "-32020", echo().saying("mcp-method", "Tools/Call")),
        (400, "-32020", echo().with("mcp-method", "tools/call")),
        (400, "-32020", echo().without("mcp-name")),
        (400, "-32020", echo().saying("mcp-name", "Echo")),
        (400, "-32020", echo().saying("mcp-name", "tell")),
        (400, "-32020", echo().with("mcp-name", "tell")),
        (400, "-32020", echo().saying("mcp-name", b"ech\xc3\xb6")),
        (400, "-32020", echo().saying("mcp-name", "=?base64?!?=")),
        (400, "-32602", echo().body("\"io.modelcontextprotocol/clientCapabilities\":{}", "\"a\":1")),
        (400, "-32602", echo().body("Capabilities\":{}", "Capabilities\":[]")),
        (400, "-32602", echo().body("Capabilities\":{}", "Capabilities\":null")),
        (400, "-32020", echo().body("protocolVersion\":\"2026-07-28\"", "protocolVersion\":\"2025-11-25\"")),
        (400, "", echo().body("2026-07-28", "2099-01-01").saying("mcp-protocol-version", "2099-01-01")),
        (400, "-32602", echo().body("protocolVersion\":\"2026-07-28\"", "protocolVersion\":1")),
        (415, "", echo().body("\"2.0\"", "\"1.0\"")),
        (415, "", echo().body("\"id\":1", "\"id\":null")),
        (415, "", echo().body("\"id\":1", "\"id\":1.5")),
        (415, "", echo().body("\"id\":1", "\"id\":1,\"id\":2")),
        (415, "", echo().body("{", "[{").body("}}", "}}]")),
        (415, "", echo().body("}}", "}} {}")),
    ] {
        stage.check(false, status, says, &sent).await;
    }
    // It says of these what it will, as long as both say the same.
    for (from, to) in [
        ("\"id\":1,", ""),
        ("\"tools/call\"", "{\"tools/call\":null}"),
        ("\"tools/call\"", "\"tools/list\""),
        ("\"name\":\"echo\"", "\"name\":null"),
        ("\"name\":\"echo\"", "\"name\":\"echo\",\"name\":\"echo\""),
        ("\"params\":{", "\"params\":[{"),
        ("\"params\":{", "\"params\":{\"task\":{},"),
        ("\"params\":{", "\"result\":{},\"params\":{"),
        ("{\"text\":\"hello\"}", "[]"),
        ("{\"text\":\"hello\"}", "\"hello\""),
        ("clientInfo\":{", "other\":{"),
        ("clientInfo\":{", "clientInfo\":[],\"a\":{"),
        ("\"_meta\":{", "\"_meta\":{\"progressToken\":1,"),
        ("\"_meta\":{", "\"_meta\":{\"progressToken\":{},"),
        ("\"_meta\":{", "\"_meta\":{\"io.modelcontextprotocol/logLevel\":\"debug\","),
        ("\"_meta\":{", "\"_meta\":[],\"_meta\":{"),
    ] {
        let sent = echo().body(from, to);
        assert!(!stage.is_direct(&sent), "{sent:?}");
        stage.both(&sent).await;
    }
    let mut listed = echo();
    listed.body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [meta(json!({})), "echo", {}, null, null] }).to_string();
    assert!(!stage.is_direct(&listed));
    stage.both(&listed).await;
    listed.body = json!(["2.0", 1, "tools/call", { "_meta": meta(json!({})), "name": "echo" }]).to_string();
    assert!(!stage.is_direct(&listed));
    stage.both(&listed).await;
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let sent = Sent { method, ..echo() };
        assert!(!stage.is_direct(&sent));
        stage.both(&sent).await;
    }
    let sent = echo().with("mcp-session-id", "a");
    assert!(!stage.is_direct(&sent));
    stage.both(&sent).await;
}

#[tokio::test]
async fn a_round_that_is_begun_one_way_is_ended_the_other() {
    let stage = Stage::new().await;
    let can = || json!({ "elicitation": { "form": {} } });
    for (first, second) in [(&stage.direct, &stage.library), (&stage.library, &stage.direct)] {
        let sent = Sent::call(json!({ "name": "ask" }), can());
        let body = first.clone().call(sent.request()).await.unwrap().into_body().collect().await.unwrap();
        let asked: Value = serde_json::from_slice(&body.to_bytes()).unwrap();
        let answers = json!({ "who": { "action": "accept", "content": { "name": "Ada" } } });
        let sealed = &asked["result"]["requestState"];
        let params = json!({ "name": "ask", "inputResponses": answers, "requestState": sealed });
        let sent = Sent::call(params, can());
        assert!(stage.is_direct(&sent));
        let told = stage.tell(second, &sent).await;
        assert_eq!(told.body["result"]["content"][0]["text"], "it is \"Ada\"");
        // It counts once, whichever way.
        let again = stage.both(&sent).await;
        assert!(again.body["result"]["content"][0]["text"].as_str().unwrap().contains("used"), "{again:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_call_becomes_a_task() {
    let stage = Stage::new().await;
    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    stage.check(true, 200, "taskId", &Sent::call(json!({ "name": "wait" }), can)).await;
}

#[tokio::test]
async fn a_call_is_cancelled_and_ends_when_nobody_waits_for_it() {
    let stage = Stage::new().await;
    let sent = Sent::call(json!({ "name": "wait" }), json!({}));
    for (count, service) in [(1, &stage.direct), (2, &stage.library)] {
        let (mut service, request) = (service.clone(), sent.request());
        {
            let mut call = pin!(service.call(request));
            tokio::select! {
                _ = &mut call => panic!("it never ends"),
                () = stage.host.until(&stage.host.begun, count) => {}
            }
        }
        stage.host.until(&stage.host.dropped, count).await;
    }
    // So it is when the server ends.
    let (mut service, request) = (stage.direct.clone(), sent.request());
    let ended = async {
        stage.host.until(&stage.host.begun, 3).await;
        stage.serving.cancel_calls().await;
    };
    let (response, ()) = tokio::join!(service.call(request), ended);
    let body = response.unwrap().into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&body).contains("cancelled"), "{body:?}");
}

/// Changes one thing about a request.
#[derive(Debug, Clone)]
enum Change {
    Without(&'static str),
    With(&'static str, Vec<u8>),
    Saying(&'static str, Vec<u8>),
    /// Puts a piece into the body, in the place of some bytes.
    Body(Index, usize, &'static str),
}

impl Change {
    fn of(self, mut sent: Sent) -> Sent {
        match self {
            Self::Without(name) => sent.without(name),
            Self::With(name, value) => sent.with(name, value),
            Self::Saying(name, value) => sent.saying(name, value),
            Self::Body(at, gone, piece) => {
                // Only what begins or ends something is of interest.
                let places = sent.body.match_indices(['{', ',', '"', '}', ':']).map(|(at, _)| at + 1);
                let places: Vec<usize> = places.chain([0]).collect();
                let at = places[at.index(places.len())];
                let end = (at + gone).min(sent.body.len());
                if sent.body.is_char_boundary(end) {
                    sent.body.replace_range(at..end, piece);
                }
                sent
            }
        }
    }
}

const HEADERS: [&str; 10] = [
    "accept",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-param-text",
    "mcp-protocol-version",
    "mcp-session-id",
    "origin",
];

const VALUES: [&str; 17] = [
    "",
    " echo",
    "\"application/json, text/event-stream\"",
    "*/*",
    "2025-11-25",
    "2026-07-28",
    "=?base64??=",
    "=?base64?ZWNobw==?=",
    "application/json",
    "application/json, text/event-stream",
    "application/json;q=0, text/event-stream",
    "echo",
    "localhost:1",
    "tell",
    "text/event-stream",
    "tools/call",
    "tools/list",
];

const PIECES: [&str; 27] = [
    "",
    "\"",
    "\"$serde_json::private::RawValue\":\"{}\",",
    "\"_meta\":{},",
    "\"a\":{},",
    "\"id\":2,",
    "\"inputResponses\":{\"a\":1,\"a\":2},",
    "\"name\":\"tell\",",
    "\"progressToken\":null,",
    "\"requestState\":\"\",",
    "\"result\":{},",
    "\"text\":\"b\",",
    ",",
    "-0",
    "1",
    "18446744073709551616",
    "1e400",
    ":",
    "[",
    "\\u0065",
    "\\ud800",
    "]",
    "null",
    "{",
    "}",
    "\u{0}",
    "\u{feff}",
];

fn change() -> impl Strategy<Value = Change> {
    let value = || {
        let bytes = proptest::collection::vec(prop_oneof![0x20..0x7f_u8, 0x80..=0xff_u8], 0..8);
        prop_oneof![3 => select(&VALUES).prop_map(|text| text.as_bytes().to_vec()), 1 => bytes]
    };
    let gone = prop_oneof![3 => Just(0_usize), 1 => 1..24_usize];
    prop_oneof![
        1 => select(&HEADERS).prop_map(Change::Without),
        1 => (select(&HEADERS), value()).prop_map(|(name, value)| Change::With(name, value)),
        1 => (select(&HEADERS), value()).prop_map(|(name, value)| Change::Saying(name, value)),
        3 => (any::<Index>(), gone, select(&PIECES)).prop_map(|(at, gone, piece)| Change::Body(at, gone, piece)),
    ]
}

thread_local! {
    static STAGE: (Runtime, Stage) = {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let stage = runtime.block_on(Stage::new());
        (runtime, stage)
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_is_changed_is_answered_as_by_the_library(changes in proptest::collection::vec(change(), 0..3)) {
        let sent = changes.into_iter().fold(Sent::echo(), |sent, change| change.of(sent));
        STAGE.with(|(runtime, stage)| runtime.block_on(stage.both(&sent)));
    }
}
