use super::super::fixture::{Dropped, Paper, Probe, Stage, Told, accept, approval};
use super::super::{TaskLimits, TaskStatus};
use crate::server::caller::Principal;
use crate::server::line::Served;
use haft_core::{ToolError, ToolOutput};
use haft_tools_core::Question;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::sleep;

/// Takes so many seconds, after which it asks if it is told to.
fn takes(dropped: &Arc<AtomicUsize>) -> Probe {
    let dropped = Arc::clone(dropped);
    Probe::new("takes", move |input: Value, cx| {
        let dropped = Dropped(Arc::clone(&dropped));
        async move {
            tokio::select! {
                () = sleep(Duration::from_secs(input["seconds"].as_u64().unwrap())) => {}
                () = cx.cancellation().cancelled() => return Err(ToolError::cancelled("stopped")),
            }
            drop(dropped);
            if input["asks"] != true {
                return Ok(ToolOutput::text("done"));
            }
            let answer = cx.ask(Question::text("Well?").keyed("well")).await;
            Ok(ToolOutput::text(format!("{answer:?}")))
        }
    })
}

fn ada() -> Principal {
    Principal::new("ada")
}

async fn begin(server: &Stage, input: Value) -> Told {
    server.call(Arc::new(Paper::modern("ada").with_tasks()), "takes", input, (None, Value::Null)).await.into()
}

fn status(server: &Stage, name: &str) -> String {
    match server.calls.tasks().get(name, &ada()).map(|task| task.status) {
        None => "unknown".to_owned(),
        Some(TaskStatus::Working) => "working".to_owned(),
        Some(TaskStatus::Cancelled) => "cancelled".to_owned(),
        Some(TaskStatus::Asks(asks)) => format!("asks {}", asks[0].key),
        Some(TaskStatus::Done(end)) => match &*end {
            Served::Reply(reply) => format!("{}: {}", reply.status, reply.output.to_text()),
            _ => "done".to_owned(),
        },
    }
}

fn name(told: &Told) -> String {
    told.reply().strip_prefix("task ").unwrap_or_else(|| panic!("no task: {told:?}")).to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_long_call_goes_on_as_a_task_of_its_owner() {
    let server = Stage::new([takes(&Arc::default())]);
    assert_eq!(begin(&server, json!({ "seconds": 9 })).await.reply(), "ok: done");
    let task = name(&begin(&server, json!({ "seconds": 15 })).await);
    assert_eq!(status(&server, &task), "working");
    let bob = Principal::new("bob");
    assert!(server.calls.tasks().get(&task, &bob).is_none());
    assert!(server.calls.tasks().cancel(&task, &bob).is_none());
    sleep(Duration::from_secs(6)).await;
    assert_eq!(status(&server, &task), "ok: done");
    assert_eq!(Arc::strong_count(&server.toolset), 1, "what has ended holds nothing");
    sleep(Duration::from_secs(301)).await;
    assert_eq!(status(&server, &task), "unknown");
}

#[tokio::test(start_paused = true)]
async fn a_client_without_tasks_waits() {
    let server = Stage::new([takes(&Arc::default())]);
    let told = server.round("takes", json!({ "seconds": 60 }), (None, Value::Null)).await;
    assert_eq!(told.reply(), "ok: done");
}

#[tokio::test(start_paused = true)]
async fn a_task_asks_and_is_answered() {
    let server = Stage::new([takes(&Arc::default())]);
    let task = name(&begin(&server, json!({ "seconds": 15, "asks": true })).await);
    sleep(Duration::from_secs(6)).await;
    assert_eq!(status(&server, &task), "asks well");
    let update = |answers: Value| {
        let answers = serde_json::from_value(answers).unwrap();
        server.calls.tasks().update(&task, &ada(), answers).unwrap();
    };
    update(json!({ "well": 5, "other": accept(json!({ "answer": "no" })) }));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(status(&server, &task), "asks well");
    update(json!({ "well": accept(json!({ "answer": "yes" })) }));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(status(&server, &task), "ok: Ok(String(\"yes\"))");
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_turn_comes_late_asks_whether_it_may_run() {
    let server = Stage::new([takes(&Arc::default())]);
    let before = begin(&server, json!({ "seconds": 30, "path": "a" }));
    let line = Arc::new(Paper::modern("ada").with_tasks());
    let write = async {
        sleep(Duration::from_secs(1)).await;
        server.call(line, "write", json!({ "path": "a" }), (None, Value::Null)).await.into()
    };
    let (_, waits): (_, Told) = tokio::join!(before, write);
    let task = name(&waits);
    assert_eq!(status(&server, &task), "working");
    sleep(Duration::from_secs(30)).await;
    assert_eq!(status(&server, &task), "asks approval");
    // Nobody waits for the person meanwhile.
    assert_eq!(begin(&server, json!({ "seconds": 1, "path": "a" })).await.reply(), "ok: done");
    assert!(server.ran.all().is_empty());
    server.calls.tasks().update(&task, &ada(), serde_json::from_value(approval("once")).unwrap()).unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(status(&server, &task), "ok: written");
    assert_eq!(server.ran.all(), [json!({ "path": "a" })]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_whether_it_may_run_can_be_refused_and_cancelled() {
    let server = Stage::new([takes(&Arc::default())]);
    let before = begin(&server, json!({ "seconds": 30, "path": "a" }));
    let write = async || -> Told {
        let line = Arc::new(Paper::modern("ada").with_tasks());
        sleep(Duration::from_secs(1)).await;
        server.call(line, "write", json!({ "path": "a" }), (None, Value::Null)).await.into()
    };
    let (_, one, two) = tokio::join!(before, write(), write());
    sleep(Duration::from_secs(30)).await;
    let answers = serde_json::from_value(approval("deny")).unwrap();
    server.calls.tasks().update(&name(&one), &ada(), answers).unwrap();
    server.calls.tasks().cancel(&name(&two), &ada()).unwrap();
    sleep(Duration::from_secs(1)).await;
    assert!(status(&server, &name(&one)).starts_with("denied: "), "{}", status(&server, &name(&one)));
    assert_eq!(status(&server, &name(&two)), "cancelled");
    assert!(server.ran.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_task_can_be_cancelled_and_goes_with_the_server() {
    let dropped = Arc::default();
    let server = Stage::new([takes(&dropped)]);
    let [one, _two] = [
        name(&begin(&server, json!({ "seconds": 50 })).await),
        name(&begin(&server, json!({ "seconds": 50 })).await),
    ];
    server.calls.tasks().cancel(&one, &ada()).unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(status(&server, &one), "cancelled");
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    drop(server);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn the_tasks_of_one_are_bounded() {
    let mut server = Stage::new([takes(&Arc::default())]);
    server.calls = server.calls.with_tasks(TaskLimits { of_principal: 1, ..TaskLimits::default() });
    name(&begin(&server, json!({ "seconds": 100 })).await);
    // The next one is waited for.
    assert_eq!(begin(&server, json!({ "seconds": 20 })).await.reply(), "ok: done");
}
