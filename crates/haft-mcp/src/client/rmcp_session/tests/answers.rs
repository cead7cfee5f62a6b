use super::stage::{SOON, Stage, Watching, call, text, until, works};
use crate::client::link::{self, Ending};
use crate::client::rmcp_session::{line_transport::LineTransport, open};
use crate::client::session::{Fault, Session};
use crate::{Era, LogLevel};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Calls a tool, expects what comes of it, and that the connection then works as before.
async fn check(stage: &Stage, tool: &str, arguments: Value, expected: Expect) {
    let session = stage.open().await;
    let answer = text(&session, tool, arguments).await;
    expected.assert_eq(&answer.unwrap_or_else(|fault| format!("{fault:?}")));
    works(&session).await;
    stage.close(&session).await;
}

#[tokio::test]
async fn gives_a_result_as_it_was_sent() {
    for era in [Era::Legacy, Era::Modern] {
        let stage = Stage::new(&[]).era(era);
        let session = stage.open().await;
        let params = json!({ "a": [1, 2.5, null], "_meta": { "mine": true } });
        let request = crate::client::session::Request { method: "echo/params", params };
        let mut result = session.request(request, None).await.unwrap();
        assert!(result["_meta"]["progressToken"].is_i64());
        result["_meta"]["progressToken"] = json!(0);
        let expected = match era {
            Era::Legacy => expect![[r#"{"_meta":{"mine":true,"progressToken":0},"a":[1,2.5,null]}"#]],
            Era::Modern => expect![[
                r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"haft","version":"0.1.0"},"io.modelcontextprotocol/protocolVersion":"2026-07-28","mine":true,"progressToken":0},"a":[1,2.5,null]}"#
            ]],
        };
        expected.assert_eq(&result.to_string());
        stage.close(&session).await;
    }
}

#[tokio::test]
async fn an_answer_over_the_limit_is_the_fault_of_that_call() {
    const MIB: u64 = 1024 * 1024;
    let stage = Stage::new(&[]);
    let session = stage.open().await;
    for (bytes, id_last) in [(17 * MIB, false), (17 * MIB, true), (64 * MIB, true)] {
        let (other, answer) = tokio::join!(
            text(&session, "sleep", json!({ "ms": 1 })),
            text(&session, "big", json!({ "bytes": bytes, "id_last": id_last })),
        );
        assert_eq!(other.unwrap(), "slept");
        let fault = answer.unwrap_err();
        let is_known = matches!(fault, Fault::Oversize { bytes: seen, most: 16_777_216 } if seen > bytes);
        assert!(is_known, "{fault:?}");
    }
    assert_eq!(text(&session, "big", json!({ "bytes": 8 * MIB })).await.unwrap().len(), 8 << 20);
    works(&session).await;
    stage.close(&session).await;
}

#[tokio::test]
async fn the_limit_is_the_servers_own() {
    let stage = Stage::new(&[]).limits(|limits| limits.message_bytes = 1_000);
    check(&stage, "big", json!({ "bytes": 2_000 }), expect!["Oversize { bytes: 2073, most: 1000 }"]).await;
}

#[tokio::test]
async fn odd_ids_do_no_harm() {
    let stage = Stage::new(&[]);
    check(&stage, "text-id", json!({}), expect!["as a text"]).await;
    check(&stage, "wrong-id", json!({}), expect!["right"]).await;
    check(&stage, "twice", json!({}), expect!["first"]).await;
    expect![[r#"
        Odd("an answer that nobody waits for, with the id 999999; 1 so far")
        Odd("an answer that nobody waits for, with the id no such id; 2 so far")
        Odd("an answer that nobody waits for, with the id 0; 1 so far")"#]]
    .assert_eq(&stage.host.news().join("\n"));
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_the_fault_of_that_call() {
    check(
        &Stage::new(&[]),
        "deep",
        json!({}),
        expect![[
            r#"Broken("the server's answer cannot be read: recursion limit exceeded at line 1 column 153")"#
        ]],
    )
    .await;
}

#[tokio::test]
async fn an_error_is_given_as_it_was_sent() {
    check(&Stage::new(&[]), "refuse", json!({}), expect![[r#"Refused { code: -32602, message: "not like that", data: Some(Object {"why": String("because")}) }"#]]).await;
}

#[tokio::test]
async fn lines_that_are_no_messages_are_told_of() {
    let stage = Stage::new(&["--banner"]);
    let session = stage.open().await;
    works(&session).await;
    stage.close(&session).await;
    expect![[r#"
        Odd("a line that is not a message (it is not an object): Welcome to the server!")
        Odd("a line that is not a message (it is neither a request, an answer nor a notification): {\"not\": \"a message\"}")
        Odd("a line that is not a message (it is not an object): [1,2]")
        Odd("a line that is not a message (key must be a string at line 1 column 2): {broken")"#]].assert_eq(&stage.host.news().join("\n"));
}

#[tokio::test]
async fn a_storm_of_notifications_is_survived() {
    let stage = Stage::new(&[]);
    let session = stage.open().await;
    let (calm, ()) = tokio::join!(text(&session, "storm", json!({ "count": 20_000 })), works(&session));
    assert_eq!(calm.unwrap(), "calm");
    assert_eq!(stage.host.news().len(), 20_000);
    stage.close(&session).await;
}

#[tokio::test]
async fn progress_reaches_who_watches_in_its_order() {
    for era in [Era::Legacy, Era::Modern] {
        let stage = Stage::new(&[]).era(era);
        let session = stage.open().await;
        let watch = Arc::new(Watching(stage.host.clone()));
        let many = session.request(call("progress", json!({ "count": 100 })), Some(watch));
        let (many, unwatched) = tokio::join!(many, text(&session, "progress", json!({ "count": 5 })));
        assert_eq!((many.is_ok(), unwatched.is_ok()), (true, true));
        let expected: Vec<_> = (1..=100).map(|n| format!("{n} of None: Some(\"step {n}\")")).collect();
        assert_eq!(stage.host.progress(), expected);
        stage.close(&session).await;
    }
}

#[tokio::test]
async fn logs_and_changes_are_heard_in_both_eras() {
    for era in [Era::Legacy, Era::Modern] {
        let stage = Stage::new(&[]).era(era);
        let session = stage.open().await;
        text(&session, "log", json!({ "text": "careful" })).await.unwrap();
        // A server is listened to as soon as the connection is open, beside all else.
        while stage.host.news().len() < 2 {
            text(&session, "change", json!({})).await.unwrap();
        }
        assert_eq!(stage.host.news(), [r#"Log { level: "warning", text: "careful" }"#, "ToolsChanged"]);
        stage.close(&session).await;
    }
}

#[tokio::test]
async fn a_server_that_has_a_log_is_told_which_messages_are_wanted() {
    for era in [Era::Legacy, Era::Modern] {
        let check = async |arguments: &[&str], wanted, expected| {
            let mut stage = Stage::new(arguments).era(era);
            stage.dial.opening.log_level = wanted;
            let session = stage.open().await;
            assert_eq!(text(&session, "level", json!({})).await.unwrap(), expected, "{era:?} {arguments:?}");
            let news = stage.host.news();
            stage.close(&session).await;
            news
        };
        check(&["--logging"], Some(LogLevel::Warning), "warning").await;
        check(&["--logging"], None, "none").await;
        check(&[], Some(LogLevel::Warning), "none").await;
        let news = check(
            &["--logging", "--refuse-level"],
            Some(LogLevel::Debug),
            match era {
                Era::Legacy => "none",
                Era::Modern => "debug",
            },
        );
        let told = r#"Odd("it refuses to log from the level `debug` on: not that one")"#;
        assert_eq!(news.await, if era == Era::Legacy { vec![told] } else { vec![] });
    }
}

async fn ask(session: &Arc<dyn Session>, method: &str, watched: Option<&Stage>) -> Value {
    let watch = watched.map(|stage| Arc::new(Watching(stage.host.clone())) as _);
    let request = call("ask", json!({ "method": method, "params": { "a": 1 } }));
    let answer = timeout(SOON, session.request(request, watch)).await.expect("an answer in time").unwrap();
    answer["structuredContent"].clone()
}

#[tokio::test]
async fn what_a_server_asks_is_answered() {
    for era in [Era::Legacy, Era::Modern] {
        let stage = Stage::new(&[]).era(era);
        let session = stage.open().await;
        let watched = ask(&session, "roots/list", Some(&stage)).await;
        assert_eq!(watched["result"], json!({ "roots": [], "params": { "a": 1 }, "watched": true }));
        let unwatched = ask(&session, "roots/list", None).await;
        assert_eq!(unwatched["result"]["watched"], false);
        assert_eq!(ask(&session, "ping", None).await["result"], json!({}));
        let refused = ask(&session, "sampling/createMessage", None).await;
        assert_eq!(refused["error"]["message"], "no sampling/createMessage here");
        stage.close(&session).await;
    }
}

#[tokio::test]
async fn a_question_without_an_answer_does_not_hold_up_the_end() {
    let stage = Stage::new(&[]);
    let session = stage.open().await;
    let asked =
        timeout(Duration::from_millis(300), session.request(call("ask", json!({ "method": "slow" })), None));
    assert!(asked.await.is_err());
    stage.close(&session).await;
    assert_eq!(session.farewell().unwrap().how, "it was closed");
}

#[tokio::test]
async fn a_request_that_is_dropped_is_cancelled_and_its_late_answer_dropped() {
    for era in [Era::Legacy, Era::Modern] {
        let stage = Stage::new(&[]).era(era);
        let session = stage.open().await;
        for _ in 0..3 {
            let dropped =
                timeout(Duration::from_millis(50), session.request(call("after-cancel", json!({})), None));
            assert!(dropped.await.is_err());
        }
        let start = Instant::now();
        let cancelled = async || {
            let result = session.request(call("cancelled", json!({})), None).await.unwrap();
            result["structuredContent"]["cancelled"].as_array().unwrap().len()
        };
        while cancelled().await < 3 {
            assert!(start.elapsed() < SOON);
        }
        let late = "an answer that nobody waits for";
        until("late answers are told of", || {
            stage.host.news().iter().filter(|news| news.contains(late)).count() == 3
        })
        .await;
        works(&session).await;
        stage.close(&session).await;
    }
}

#[tokio::test]
async fn sixty_four_calls_overlap() {
    let stage = Stage::new(&[]);
    let session = stage.open().await;
    let start = Instant::now();
    let calls = (0..64).map(|_| text(&session, "sleep", json!({ "ms": 200 })));
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok(text) if text == "slept")));
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    stage.close(&session).await;
}

#[tokio::test]
async fn requests_that_are_dropped_by_the_hundred_leave_nothing() {
    let stage = Stage::new(&[]).era(Era::Legacy);
    let ending = Ending::new();
    let dial = &stage.dial;
    let framed = link::start(&dial.program, &dial.environment, 1 << 20, ending.clone()).unwrap();
    let transport = LineTransport::new(framed, 1 << 20, stage.host.clone());
    let connection =
        open(transport, ending, Arc::default(), &dial.opening, stage.host.clone()).await.unwrap();
    for _ in 0..20 {
        let calls = (0..100).map(|_| connection.request(call("never", json!({})), None));
        assert!(timeout(Duration::from_millis(5), futures_util::future::join_all(calls)).await.is_err());
    }
    let session: Arc<dyn Session> = connection.clone();
    works(&session).await;
    until("all cancelled", || connection.flights.counts() == (0, 0)).await;
    let told = session.request(call("cancelled", json!({})), None).await.unwrap();
    let told = told["structuredContent"]["cancelled"].as_array().unwrap().len();
    assert!(told > 0, "the server knows of {told}");
    stage.close(&session).await;
}

#[tokio::test]
async fn a_server_that_cancels_its_own_request_does_not_cancel_ours() {
    let stage = Stage::new(&[]).era(Era::Legacy);
    check(&stage, "cancel-same-id", json!({}), expect!["mine"]).await;
}
