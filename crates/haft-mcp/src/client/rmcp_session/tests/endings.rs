use super::stage::{SOON, Stage, call, text, until, works};
use crate::client::session::{Fault, Session};
use expect_test::{Expect, expect};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long closing takes at most: each of its steps has a time. What a busy machine adds is not what is tested: of a few tries
/// one has to be as fast.
const CLOSED_WITHIN: Duration = Duration::from_secs(6);
const TRIES: u32 = 5;

/// Opens and closes a connection to such a server until that takes no longer than it may, a few times.
async fn check_time(stage: impl Fn() -> Stage, close: impl AsyncFn(&Stage, &Arc<dyn Session>)) {
    for _ in 0..TRIES {
        let stage = stage();
        let session = stage.open().await;
        works(&session).await;
        let start = Instant::now();
        close(&stage, &session).await;
        if start.elapsed() < CLOSED_WITHIN {
            return;
        }
    }
    panic!("it takes longer each time");
}

/// Closes a connection, and expects how it ended.
async fn check(stage: &Stage, session: &Arc<dyn Session>, expected: &Expect) {
    stage.close(session).await;
    expected.assert_eq(&session.farewell().expect("it has ended").how);
    let after = text(session, "echo", json!({})).await;
    assert!(matches!(after, Err(Fault::Untaken(_))), "{after:?}");
}

#[tokio::test]
async fn a_server_ends_when_its_input_does() {
    let expected = expect!["it was closed"];
    check_time(|| Stage::new(&[]), async |stage, session| check(stage, session, &expected).await).await;
}

#[tokio::test]
async fn a_server_that_ignores_the_end_is_ended() {
    let expected = expect!["it was closed, did not end by itself, and was ended"];
    for script in [r#"exec "$0" --ignore-eof"#, r#"trap "" TERM; exec "$0" --ignore-eof"#] {
        check_time(|| Stage::script(script), async |stage, session| check(stage, session, &expected).await)
            .await;
    }
}

#[tokio::test]
async fn what_a_wrapper_has_started_ends_with_it() {
    for script in [
        r#""$0"; echo never"#,
        r#"exec 3<&0; sleep 1000 & "$0" --ignore-eof <&3 & wait"#,
        r#"setsid sleep 1000 & exec "$0""#,
        r#"trap "" TERM; (setsid sh -c 'trap "" TERM; sleep 1000; sleep 1000' &); "$0""#,
    ] {
        check_time(|| Stage::script(script), async |stage, session| stage.close(session).await).await;
    }
}

#[tokio::test]
async fn a_session_that_is_dropped_leaves_nothing() {
    let stage = Stage::script(r#"sleep 1000 & exec "$0" --ignore-eof"#);
    let session = stage.open().await;
    works(&session).await;
    drop(session);
    until("all gone", || !stage.is_inhabited()).await;
}

#[tokio::test]
async fn a_call_in_flight_when_the_server_dies_says_so() {
    let stage = Stage::new(&[]);
    let session = stage.open().await;
    let (died, never) = tokio::join!(
        text(&session, "die", json!({ "code": 7 })),
        session.request(call("never", json!({})), None)
    );
    for fault in [died.unwrap_err(), never.unwrap_err()] {
        let said = "the connection ended: it exited with code 7; it last wrote: goodbye";
        assert_eq!(fault.to_string(), said);
    }
    assert!(session.ended().is_cancelled());
    assert!(!stage.is_inhabited());
    check(&stage, &session, &expect!["it exited with code 7"]).await;
}

#[tokio::test]
async fn a_death_is_seen_while_nothing_is_asked() {
    let script = r#"exec 3<&0; sleep 1000 & "$0" <&3 & until [ -e go ]; do sleep 0.05; done; exit 4"#;
    let stage = Stage::script(script);
    let session = stage.open().await;
    std::fs::write(stage.path("go"), "").unwrap();
    timeout(SOON, session.ended().cancelled()).await.expect("it is seen");
    expect!["it exited with code 4"].assert_eq(&session.farewell().unwrap().how);
    assert!(!stage.is_inhabited());
}

#[tokio::test]
async fn endless_stderr_holds_nothing_up_and_its_end_is_kept() {
    let stage = Stage::new(&["--endless-stderr"]);
    let session = stage.open().await;
    for _ in 0..20 {
        works(&session).await;
    }
    stage.close(&session).await;
    let stderr = session.farewell().unwrap().stderr;
    assert!(stderr.len() <= 64 * 1024 && stderr.contains("and on it goes"), "{} bytes", stderr.len());
}

#[tokio::test]
async fn two_who_close_both_wait() {
    let stage = Stage::new(&["--ignore-eof"]);
    let session = stage.open().await;
    tokio::join!(stage.close(&session), stage.close(&session));
}

#[tokio::test]
async fn a_server_that_does_not_read_is_told_no_more_and_can_be_ended() {
    let stage = Stage::script(r#"head -n 1 >/dev/null; printf '%s\n' "$REPLY"; sleep 1000"#);
    let mut stage = stage.era(crate::Era::Legacy);
    let reply = json!({ "jsonrpc": "2.0", "id": 2_000_000_000, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "deaf", "version": "1" } } });
    stage.dial.program.variables.insert("REPLY".to_owned(), reply.to_string().into());
    let session = stage.open().await;
    let large = json!({ "text": "x".repeat(40 << 20) });
    let calls = (0..3).map(|_| text_or_nothing(&session, large.clone()));
    let answers = futures_util::future::join_all(calls).await;
    let told = "the request could not be sent: the server does not read what it is sent";
    assert_eq!(answers, ["no answer", "no answer", told]);
    stage.close(&session).await;
}

async fn text_or_nothing(session: &Arc<dyn Session>, arguments: serde_json::Value) -> String {
    match timeout(Duration::from_secs(3), session.request(call("echo", arguments), None)).await {
        Ok(answer) => format!("{}", answer.unwrap_err()),
        Err(_) => "no answer".to_owned(),
    }
}
