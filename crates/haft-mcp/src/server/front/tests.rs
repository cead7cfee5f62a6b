//! The front as clients meet it, good and bad ones, over real connections and before a scripted protocol.

mod bad_input;
mod callers;
mod stage;

use stage::{Stage, json, post};

#[tokio::test]
async fn lets_a_request_through_without_what_authenticated_it() {
    let stage = Stage::new().await;
    let answer = stage
        .ask(&post(
            "authorization: Bearer secret\r\ncookie: a=secret\r\nproxy-authorization: secret\r\nmcp-method: echo\r\n",
            r#"{"method":"echo","id":1}"#,
        ))
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.json(),
        json(
            r#"{"principal":"anyone","headers":["connection","content-length","content-type","host","mcp-method"],"body":{"id":1,"method":"echo"}}"#
        ),
    );
}

#[tokio::test]
async fn answers_what_is_no_affair_of_the_protocol_itself() {
    let stage = Stage::new().await;
    let check = async |request: &str, status: u16, body: &str| {
        let answer = stage.ask(&format!("{request}connection: close\r\n\r\n")).await;
        assert_eq!((answer.status, answer.body.as_str()), (status, body), "{request}");
    };
    check("GET /health HTTP/1.1\r\nhost: 10.0.0.1\r\n", 200, r#"{"status":"ok"}"#).await;
    check("POST /health HTTP/1.1\r\nhost: a\r\n", 405, "this method is not served here").await;
    check("GET / HTTP/1.1\r\nhost: localhost\r\n", 404, "there is nothing here; ask `/mcp`").await;
    check("PUT /mcp HTTP/1.1\r\nhost: localhost\r\n", 405, "this method is not served here").await;
    check(
        "OPTIONS /mcp HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost:1\r\n",
        405,
        "this method is not served here",
    )
    .await;
    let metadata = "GET /.well-known/oauth-protected-resource HTTP/1.1\r\nhost: localhost\r\n";
    check(metadata, 404, "no authorization server is named here").await;
}

#[tokio::test]
async fn pages_of_a_named_origin_are_told_that_they_may_read() {
    let stage = Stage::with(|config| config.origin("https://app.example".parse().unwrap())).await;
    let told = |answer: &stage::Answer| answer.header("access-control-allow-origin").map(str::to_owned);
    let preflight = "OPTIONS /mcp HTTP/1.1\r\nhost: localhost\r\norigin: https://app.example\r\nconnection: close\r\n\r\n";
    let answer = stage.ask(preflight).await;
    assert_eq!((answer.status, told(&answer).as_deref()), (204, Some("https://app.example")));
    let answer = stage.ask(&post("origin: https://app.example\r\n", r#"{"method":"echo"}"#)).await;
    assert_eq!((answer.status, told(&answer).as_deref()), (200, Some("https://app.example")));
    let answer = stage.ask(&post("origin: http://localhost:5\r\n", r#"{"method":"echo"}"#)).await;
    assert_eq!((answer.status, told(&answer)), (200, None));
}

#[tokio::test]
async fn writes_down_who_asked_for_what_and_no_secret() {
    let stage = Stage::new().await;
    let call =
        r#"{"method":"tools/call","params":{"name":"read\u001b\n","arguments":{"password":"hunter2"}}}"#;
    stage.ask(&post("authorization: Bearer hunter2\r\n", call)).await;
    stage.ask(&post("origin: https://evil.example\r\n", call)).await;
    stage.ask(&post("mcp-session-id: hunter2\r\n", call)).await;
    let lines = stage.log().await;
    assert!(!lines.contains("hunter2"), "{lines}");
    expect_test::expect![[r#"
        {"principal":"anyone","http":"POST","method":"tools/call","tool":"read\\u{1b}\\n","status":200,"bytes":185}
        {"http":"POST","status":403,"bytes":37,"refused":"pages of this origin may not ask here"}
        {"principal":"anyone","http":"POST","method":"tools/call","tool":"read\\u{1b}\\n","session":"f52fbd32","status":404,"bytes":41,"refused":"there is no such session; begin a new one"}
    "#]]
    .assert_eq(&lines);
}

#[tokio::test]
async fn what_is_being_served_may_end_and_nothing_new_begins() {
    let mut stage = Stage::new().await;
    let mut waiting = stage.connect(&post("", r#"{"method":"wait"}"#)).await;
    stage.until_waiting(1).await;
    let mut idle = stage.connect("").await;
    stage.stop.cancel();
    // A connection on which nothing is asked ends at once.
    assert_eq!(idle.rest().await, "");
    stage.release.notify_waiters();
    assert!(waiting.rest().await.ends_with("\"waited\""));
    stage.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_end_is_ended() {
    let mut stage = Stage::with(|config| {
        config
            .limits(super::HttpLimits { ending: std::time::Duration::from_millis(50), ..Default::default() })
    })
    .await;
    let mut waiting = stage.connect(&post("", r#"{"method":"wait"}"#)).await;
    stage.until_waiting(1).await;
    stage.stop.cancel();
    assert_eq!(waiting.rest().await, "");
    stage.until_waiting(0).await;
    stage.ended().await;
}
