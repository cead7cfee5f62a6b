//! Sessions that a server does not know any more.

use super::{call, legacy, open};
use crate::client::fake::{call as execute, executor, text_result, tool};
use crate::client::service::{Heard, Say, Service};
use crate::client::session::Fault;
use crate::{Era, McpServers, RemoteServer, ServerConfig, Transport};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Barrier;

/// Begins a session with each `initialize`, and says what it is told to all else, by the number of the session.
async fn sessions(say: impl Fn(u32, &Heard) -> Say + Send + Sync + 'static) -> Service {
    let begun = AtomicU32::new(0);
    Service::start(move |heard| {
        if heard.rpc() == "initialize" {
            begun.fetch_add(1, Ordering::Relaxed);
        }
        let session = begun.load(Ordering::Relaxed).to_string();
        legacy(heard, &session, |heard| say(heard.header("mcp-session-id").parse().unwrap(), heard))
    })
    .await
}

fn count(service: &Service, method: &str) -> usize {
    service.heard().iter().filter(|heard| heard.rpc() == method).count()
}

#[tokio::test]
async fn a_session_that_is_forgotten_ends_and_none_is_begun_behind_its_back() {
    let service = sessions(|_, _| Say::status(404)).await;
    let session = open(&service, Some(Era::Legacy)).await;
    let fault = call(session.as_ref(), "a").await.unwrap_err();
    let said = "the server did not take the request: it does not know the session any more";
    assert!(matches!(fault, Fault::Untaken(_)) && fault.to_string() == said, "{fault}");
    session.ended().cancelled().await;
    session.close().await;
    let fault = call(session.as_ref(), "a").await.unwrap_err();
    assert!(matches!(fault, Fault::Untaken(_)), "{fault}");
    assert_eq!((count(&service, "initialize"), count(&service, "tools/call")), (1, 1));
    assert!(service.heard().iter().all(|heard| heard.method != "DELETE"), "there is no session to end");
}

#[tokio::test]
async fn of_many_requests_each_knows_whether_it_was_taken() {
    let barrier = Arc::new(Barrier::new(17));
    let service = sessions(move |_, heard| match heard.body["params"]["name"].as_str() {
        Some("taken") => Say::Together(barrier.clone(), Box::new(Say::json(&heard.result(&json!("done"))))),
        Some("first") => Say::status(404),
        _ => Say::Together(barrier.clone(), Box::new(Say::status(404))),
    })
    .await;
    let session = open(&service, Some(Era::Legacy)).await;
    // The actor closes what has ended.
    let closing = async {
        session.ended().cancelled().await;
        session.close().await;
    };
    let first = async {
        while count(&service, "tools/call") < 17 {
            tokio::task::yield_now().await;
        }
        call(session.as_ref(), "first").await
    };
    // 16 that are not taken, and one that is.
    let untaken = futures_util::future::join_all((0..16).map(|_| call(session.as_ref(), "a")));
    let (first, untaken, taken, ()) = tokio::join!(first, untaken, call(session.as_ref(), "taken"), closing);
    for result in untaken.into_iter().chain([first]) {
        assert!(matches!(result, Err(Fault::Untaken(_))), "{result:?}");
    }
    assert!(matches!(taken, Ok(_) | Err(Fault::Ended(_))), "{taken:?}");
}

#[tokio::test]
async fn a_service_that_has_no_stream_of_its_own_has_not_forgotten_the_session() {
    let mut service = Service::start(|heard| match heard.method.as_str() {
        "GET" => Say::status(404),
        _ => legacy(heard, "s", |heard| Say::json(&heard.result(&json!({})))),
    })
    .await;
    let session = open(&service, Some(Era::Legacy)).await;
    service.next(|heard| heard.method == "GET").await;
    assert_eq!(call(session.as_ref(), "a").await.unwrap(), json!({}));
    assert!(!session.ended().is_cancelled());
}

/// Calls a tool whose session the server has forgotten, and expects what comes of it; the tools of each session are said, and
/// which session is known when the tool is called. Gives how often it was called, and the number of the connection.
async fn check(list: fn(u32) -> Value, knows: fn(u32) -> bool, expected: Expect) -> (usize, u64) {
    let service = sessions(move |session, heard| match heard.rpc() {
        "tools/list" => Say::json(&heard.result(&json!({ "tools": list(session) }))),
        _ if knows(session) => Say::json(&heard.result(&text_result("done"))),
        _ => Say::status(404),
    })
    .await;
    let server = RemoteServer::new(format!("{}/mcp", service.url));
    let mut config = ServerConfig::new("s".parse().unwrap(), Transport::Http(server));
    config.era = Some(Era::Legacy);
    let servers = McpServers::builder().server(config).build().unwrap();
    let executor = executor(&servers).await.build();
    expected.assert_eq(&execute(&executor, "s__a", json!({})).await);
    assert!(count(&service, "tools/list") >= 2, "the tools are read again");
    (count(&service, "tools/call"), servers.statuses()[0].generation)
}

#[tokio::test]
async fn a_call_that_was_not_taken_is_made_once_more_in_another_session() {
    let list = |_| json!([tool("a")]);
    let made = check(
        list,
        |session| session == 2,
        expect![[r"
        ok
        done"]],
    );
    assert_eq!(made.await, (2, 2));
    let (calls, _) = check(
        list,
        |_| false,
        expect![[r"
            error: unavailable
            the server `s` did not take the call of `s__a`; nothing was done, try again later or go on without it"]],
    )
    .await;
    assert_eq!(calls, 2);
}

#[tokio::test]
async fn a_call_is_not_made_once_more_if_the_tool_is_another_in_the_other_session() {
    let list = |session| {
        let mut tool = tool("a");
        tool["description"] = json!(format!("As of session {session}."));
        json!([tool])
    };
    let made = check(
        list,
        |session| session == 2,
        expect![[r"
            denied
            `s__a` is no longer what was accepted of the server `s`; nothing was done, go on without it until the user has looked at it and accepted it with `haft mcp accept s`"]],
    );
    assert_eq!(made.await, (1, 2));
}
