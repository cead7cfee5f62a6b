//! Calls that a server makes tasks of.

use super::{answering, elicitation, milliseconds};
use crate::Era;
use crate::client::fake::{FakeServer, Progresses, call, executor, one, text_result, tool};
use expect_test::expect;
use haft_tools_core::Cancel;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::{Instant, sleep};

/// Makes a task of every call, which takes so many polls and ends like this.
fn tasking(era: Era, polls: usize, last: Value) -> FakeServer {
    let asked_for = AtomicUsize::new(0);
    let mut listed = tool("a");
    listed["execution"] = json!({ "taskSupport": "required" });
    FakeServer::new(era, json!([listed]), move |asked| {
        let poll = if asked.method == "tasks/get" { asked_for.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let working = json!({ "taskId": "t1", "status": "working", "statusMessage": "step", "pollIntervalMs": 200, "pollInterval": 200 });
        std::future::ready(Ok(match (asked.method, era) {
            ("tools/call", Era::Legacy) => json!({ "task": working }),
            ("tools/call", Era::Modern) => {
                let mut task = working;
                task["resultType"] = json!("task");
                task
            }
            ("tasks/get", _) if poll < polls => working,
            ("tasks/get", _) => last.clone(),
            ("tasks/result", _) => text_result("the result"),
            _ => json!({}),
        }))
    })
}

#[tokio::test(start_paused = true)]
async fn a_task_is_polled_until_it_is_done() {
    let done = |result: Value| json!({ "taskId": "t1", "status": "completed", "result": result });
    let fake = tasking(Era::Modern, 3, done(text_result("the result")));
    let told = Progresses::default();
    let executor_of =
        async |fake: &FakeServer| executor(&answering(fake)).await.events(told.events()).build();
    let began = Instant::now();
    assert_eq!(call(&executor_of(&fake).await, "s__a", json!({})).await, "ok\nthe result");
    assert_eq!(
        (began.elapsed().as_millis(), fake.count("tasks/get"), fake.count("tasks/cancel")),
        (800, 4, 0)
    );
    assert_eq!(told.all(), ["the server works on it: step"; 3].join("\n") + "\nthe server works on it");
    let fake = tasking(Era::Legacy, 3, done(Value::Null));
    assert_eq!(call(&executor_of(&fake).await, "s__a", json!({})).await, "ok\nthe result");
    assert_eq!(fake.params("tools/call")[0]["task"], json!({ "ttl": 600_000 }));
    assert_eq!((fake.count("tasks/get"), fake.count("tasks/result")), (4, 1));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_says_why() {
    let check = async |last: Value, expect: expect_test::Expect| {
        let executor = executor(&answering(&tasking(Era::Modern, 0, last))).await.build();
        expect.assert_eq(&call(&executor, "s__a", json!({})).await);
    };
    check(
        json!({ "status": "failed", "error": { "code": -32602, "message": "no" } }),
        expect![[r"
            error: failed
            the server `s` worked on `s__a` and then refused it: no (code -32602); see what has been done before you repeat it"]],
    )
    .await;
    check(
        json!({ "status": "cancelled", "statusMessage": "shut\u{1b} down" }),
        expect![[r"
        error: failed
        the server cancelled the call: shut\u{1b} down; go on without this call"]],
    )
    .await;
    check(
        json!({ "status": "lost" }),
        expect![[r"
        error: failed
        the call is in a state that is not known here: `lost`; go on without this call"]],
    )
    .await;
    check(
        json!({}),
        expect![[r"
        error: failed
        the call is in a state that is not known here: ``; go on without this call"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_wants_something_is_given_it_once() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), {
        let polls = AtomicUsize::new(0);
        move |asked| {
            let wants = json!({
                "resultType": "task", "taskId": "t1", "status": "input_required", "inputRequests": { "k": elicitation("who") },
            });
            std::future::ready(Ok(match asked.method {
                "tasks/get" if polls.fetch_add(1, Ordering::Relaxed) == 2 => {
                    json!({ "status": "completed", "result": text_result("done") })
                }
                "tasks/update" => json!({}),
                _ => wants,
            }))
        }
    });
    let executor = executor(&answering(&fake)).await.build();
    assert_eq!(call(&executor, "s__a", json!({})).await, "ok\ndone");
    let given = json!({ "taskId": "t1", "inputResponses": { "k": { "action": "accept", "content": { "to": "who" } } } });
    assert_eq!(fake.params("tasks/update"), [given]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_nobody_waits_for_any_more_is_cancelled() {
    for era in [Era::Legacy, Era::Modern] {
        let fake = tasking(era, usize::MAX, Value::Null);
        let servers = one(&fake);
        let executor = executor(&servers).await.build();
        let cancel = async {
            sleep(milliseconds(1_000)).await;
            executor.cancel(&Cancel::Tree);
            sleep(milliseconds(10)).await;
            assert_eq!(fake.params("tasks/cancel"), [json!({ "taskId": "t1" })]);
        };
        let (ended, ()) = tokio::join!(call(&executor, "s__a", json!({})), cancel);
        assert!(ended.starts_with("cancelled"), "{ended}");
        // One that does not end is ended with its call's time.
        let began = Instant::now();
        assert!(call(&executor, "s__a", json!({})).await.starts_with("timed out"));
        assert_eq!(began.elapsed().as_secs(), 600);
    }
}
