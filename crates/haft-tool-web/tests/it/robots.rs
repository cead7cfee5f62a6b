use crate::server::{Server, answer, call, call_again, executor, fetch, headed, leads_to};
use haft_core::{ErrorKind, ReplyStatus};
use serde_json::json;

#[tokio::test]
async fn what_an_owner_forbids_is_not_read_where_that_is_respected() {
    let server = Server::new(|head| match head.split(' ').nth(1) {
        Some("/robots.txt") => answer(
            "text/plain",
            "User-agent: *\nDisallow: /\n\nUser-agent: haft\nDisallow: /private\nAllow: /\n",
        ),
        _ => answer("text/plain", "here"),
    })
    .await;
    let executor = executor(fetch().respecting_robots("haft"));
    let reply = call_again(&executor, json!({ "url": server.url("/private/page?x") })).await;
    assert!(reply.output.to_text().contains("not to read `/private/page?x`"), "{reply:?}");
    let reply = call_again(&executor, json!({ "url": server.url("/open") })).await;
    assert_eq!(reply.status, ReplyStatus::Ok);
    // It is asked once a host.
    assert_eq!(server.paths(), ["/robots.txt", "/open"]);
    // By default, nobody is asked.
    assert_eq!(call(fetch(), json!({ "url": server.url("/private") })).await.status, ReplyStatus::Ok);
}

#[tokio::test]
async fn where_nothing_is_said_all_is_read_and_where_it_cannot_be_said_nothing() {
    for (said, expected) in [
        (headed("404 Not Found", "", ""), ReplyStatus::Ok),
        (headed("403 Forbidden", "", ""), ReplyStatus::Ok),
        (leads_to("http://b.example/robots.txt"), ReplyStatus::Ok),
        (answer("text/html", "<p>no rules"), ReplyStatus::Ok),
        (
            headed("503 Service Unavailable", "retry-after: 7200\r\n", ""),
            ReplyStatus::Error(ErrorKind::Unavailable),
        ),
    ] {
        let server = Server::new(move |head| {
            if head.starts_with("GET /robots.txt ") { said.clone() } else { answer("text/plain", "here") }
        })
        .await;
        let reply = call(fetch().respecting_robots("haft"), json!({ "url": server.url("/") })).await;
        assert_eq!(reply.status, expected, "{reply:?}");
    }
}

#[tokio::test]
async fn what_is_forbidden_is_not_gone_to_either() {
    let server = Server::new(|head| match head.split(' ').nth(1) {
        Some("/robots.txt") => answer("text/plain", "User-agent: *\nDisallow: /private\n"),
        Some("/open") => leads_to("/private/page"),
        _ => answer("text/plain", "secret"),
    })
    .await;
    let reply = call(fetch().respecting_robots("haft"), json!({ "url": server.url("/open") })).await;
    assert!(reply.output.to_text().contains("not to read `/private/page`"), "{reply:?}");
    assert_eq!(server.paths(), ["/robots.txt", "/open"]);
}

#[tokio::test]
async fn half_a_rule_is_none() {
    // What is read of it ends behind `Disallow: /`.
    let (agent, rule) = ("User-agent: *\n", "Disallow: /");
    let comment = "#".repeat((500 << 10) - agent.len() - rule.len() - 1);
    let long = format!("{agent}{comment}\n{rule}private\n");
    let server = Server::new(move |head| {
        if head.starts_with("GET /robots.txt ") {
            answer("text/plain", &long)
        } else {
            answer("text/plain", "here")
        }
    })
    .await;
    let reply = call(fetch().respecting_robots("haft"), json!({ "url": server.url("/open") })).await;
    assert_eq!(reply.status, ReplyStatus::Ok, "{reply:?}");
}
