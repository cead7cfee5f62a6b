use crate::fixture::{Log, Probe, call, ended, outline, permissive, read, reply, scope, write};
use expect_test::{Expect, expect};
use haft_core::{EventKind, ToolCall, ToolError};
use haft_tools_core::{
    Accesses, Batch, Cancel, Journal, JournalEntry, Limits, LocalExecutorBuilder, MemoryJournal, Steer,
    ToolExecutor as _, ToolLimits, ToolRetries, Widths,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

type Attempts = Arc<Mutex<Vec<u128>>>;

/// Is a tool that fails so many times (`fails`), each time after `ms`, and keeps when it was tried.
fn flaky(attempts: &Attempts, error: impl Fn() -> ToolError + Send + Sync + 'static) -> Probe {
    let (attempts, error, started) = (Arc::clone(attempts), Arc::new(error), Instant::now());
    Probe::new("flaky").run(move |input: Value, _| {
        let (attempts, error) = (Arc::clone(&attempts), Arc::clone(&error));
        async move {
            let count = {
                let mut attempts = attempts.lock().unwrap();
                attempts.push(started.elapsed().as_millis());
                attempts.len() as u64
            };
            if let Some(time) = input["ms"].as_u64() {
                sleep(Duration::from_millis(time)).await;
            }
            if count <= input["fails"].as_u64().unwrap() { Err(error()) } else { Ok("done".into()) }
        }
    })
}

fn unavailable() -> ToolError {
    ToolError::unavailable("the server is busy")
}

/// Calls a tool that fails; says how that ended and when it was tried, in milliseconds.
async fn check(
    probe: impl FnOnce(Probe) -> Probe,
    error: impl Fn() -> ToolError + Send + Sync + 'static,
    with: impl FnOnce(LocalExecutorBuilder) -> LocalExecutorBuilder,
    input: Value,
    expect: Expect,
) {
    let attempts = Attempts::default();
    let executor = with(permissive([probe(flaky(&attempts, error))])).build();
    let ended = outline(&reply(&executor, "flaky", input).await);
    expect.assert_eq(&format!("{ended}\ntried at {:?}", attempts.lock().unwrap()));
    executor.idle().await;
}

fn same(builder: LocalExecutorBuilder) -> LocalExecutorBuilder {
    builder
}

fn most(most: u32) -> impl FnOnce(LocalExecutorBuilder) -> LocalExecutorBuilder {
    move |builder| {
        builder
            .limits(Limits { retries: ToolRetries { most, ..ToolRetries::default() }, ..Limits::default() })
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_call_that_may_be_repeated_is_tried_again_and_only_where_that_helps() {
    let fails = |times: u64| json!({ "fails": times });
    check(
        Probe::repeatable,
        unavailable,
        same,
        fails(1),
        expect![[r#"
        ok
        done
        tried at [0, 200]"#]],
    )
    .await;
    check(
        Probe::repeatable,
        unavailable,
        same,
        fails(9),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0, 200, 600]"#]],
    )
    .await;
    check(
        Probe::repeatable,
        || ToolError::retry("try again"),
        same,
        fails(2),
        expect![[r#"
        ok
        done
        tried at [0, 200, 600]"#]],
    )
    .await;
    check(
        Probe::repeatable,
        || ToolError::failed("it is broken"),
        same,
        fails(1),
        expect![[r#"
        error: failed
        it is broken
        tried at [0]"#]],
    )
    .await;
    check(
        Probe::repeatable,
        unavailable,
        most(0),
        fails(1),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0]"#]],
    )
    .await;
    check(
        |probe| probe,
        unavailable,
        same,
        fails(1),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0]"#]],
    )
    .await;
    let hinted = |probe: Probe| {
        probe.spec(|spec| {
            let hints = haft_core::ToolHints { idempotent: true, ..spec.hints() };
            spec.with_hints(hints)
        })
    };
    check(
        hinted,
        unavailable,
        same,
        fails(1),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0]"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_wait_doubles_up_to_the_longest_or_is_what_the_error_says() {
    check(
        Probe::repeatable,
        unavailable,
        most(7),
        json!({ "fails": 7 }),
        expect![[r#"
        ok
        done
        tried at [0, 200, 600, 1400, 3000, 6200, 11200, 16200]"#]],
    )
    .await;
    let after =
        |milliseconds: u64| move || unavailable().with_retry_after(Duration::from_millis(milliseconds));
    check(
        Probe::repeatable,
        after(3_000),
        same,
        json!({ "fails": 1 }),
        expect![[r#"
        ok
        done
        tried at [0, 3000]"#]],
    )
    .await;
    check(
        Probe::repeatable,
        after(5_000),
        same,
        json!({ "fails": 1 }),
        expect![[r#"
        ok
        done
        tried at [0, 5000]"#]],
    )
    .await;
    check(
        Probe::repeatable,
        after(5_001),
        same,
        json!({ "fails": 1 }),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0]"#]],
    )
    .await;
    check(
        Probe::repeatable,
        after(0),
        same,
        json!({ "fails": 1 }),
        expect![[r#"
        ok
        done
        tried at [0, 0]"#]],
    )
    .await;
    let forever = || unavailable().with_retry_after(Duration::MAX);
    check(
        Probe::repeatable,
        forever,
        same,
        json!({ "fails": 1 }),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0]"#]],
    )
    .await;
    let endless = ToolRetries { most: u32::MAX, delay: Duration::MAX, longest_delay: Duration::MAX };
    let endless =
        |builder: LocalExecutorBuilder| builder.limits(Limits { retries: endless, ..Limits::default() });
    check(
        Probe::repeatable,
        unavailable,
        endless,
        json!({ "fails": 1 }),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0]"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_time_for_the_call_covers_all_attempts() {
    let wall = |probe: Probe| probe.repeatable().timeout(Duration::from_secs(1));
    check(
        wall,
        unavailable,
        most(100),
        json!({ "fails": 100 }),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0, 200, 600]"#]],
    )
    .await;
    check(
        wall,
        unavailable,
        same,
        json!({ "fails": 2, "ms": 300 }),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0, 500]"#]],
    )
    .await;
    // Each attempt has as long to get on as the first.
    let idle = |probe: Probe| probe.repeatable().idle_timeout(Duration::from_millis(500));
    check(
        idle,
        unavailable,
        most(9),
        json!({ "fails": 5, "ms": 400 }),
        expect![[r#"
        ok
        done
        tried at [0, 600, 1400, 2600, 4600, 8200]"#]],
    )
    .await;
    let limits = ToolLimits { idle_timeout: Some(Duration::from_millis(100)), ..ToolLimits::default() };
    let limited = |builder: LocalExecutorBuilder| builder.tool_limits("flaky".parse().unwrap(), limits);
    check(
        Probe::repeatable,
        unavailable,
        limited,
        json!({ "fails": 1, "ms": 50 }),
        expect![[r#"
        ok
        done
        tried at [0, 250]"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_while_it_waits_ends_with_how_it_failed() {
    let attempts = Attempts::default();
    let executor = permissive([flaky(&attempts, unavailable).repeatable()]).build();
    let batch = Batch::new(scope(), vec![call("c1", "flaky", json!({ "fails": 9 }))]);
    let cancel = async {
        sleep(Duration::from_millis(100)).await;
        executor.cancel(&Cancel::Tree)
    };
    let (ended, count) = tokio::join!(ended(&executor, batch), cancel);
    expect![[r#"
        c1 error: unavailable: the server is busy
    "#]]
    .assert_eq(&ended);
    assert_eq!((count, attempts.lock().unwrap().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_would_do_something_else_is_not_tried_again() {
    let check = async |first: Accesses, then: Accesses, expect: Expect| {
        let (attempts, prepared) = (Attempts::default(), Mutex::new(0));
        let changes = flaky(&attempts, unavailable).repeatable().declare(move |_| {
            let mut prepared = prepared.lock().unwrap();
            *prepared += 1;
            Ok(if *prepared == 1 { first.clone() } else { then.clone() })
        });
        let ended = outline(&reply(&permissive([changes]).build(), "flaky", json!({ "fails": 1 })).await);
        expect.assert_eq(&format!("{ended}\ntried at {:?}", attempts.lock().unwrap()));
    };
    check(
        write("file:a").into(),
        write("file:b").into(),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0]"#]],
    )
    .await;
    check(
        write("file:a").into(),
        [write("file:a"), read("file:b")].into(),
        expect![[r#"
        error: unavailable
        the server is busy
        tried at [0]"#]],
    )
    .await;
    check(
        [write("file:a"), read("file:b")].into(),
        write("file:a").into(),
        expect![[r#"
        ok
        done
        tried at [0, 200]"#]],
    )
    .await;
    let (attempts, prepared) = (Attempts::default(), Mutex::new(0));
    let breaks = flaky(&attempts, unavailable).repeatable().declare(move |_| {
        let mut prepared = prepared.lock().unwrap();
        *prepared += 1;
        if *prepared == 1 { Ok(Accesses::none()) } else { Err(ToolError::not_found("it is gone")) }
    });
    expect![[r#"
        error: unavailable
        the server is busy"#]]
    .assert_eq(&outline(&reply(&permissive([breaks]).build(), "flaky", json!({ "fails": 1 })).await));
}

#[tokio::test(start_paused = true)]
async fn a_call_is_told_of_and_recorded_once_however_often_it_is_tried() {
    let (log, memory, attempts) = (Log::default(), Arc::new(MemoryJournal::default()), Attempts::default());
    let executor = permissive([flaky(&attempts, unavailable).repeatable()])
        .events(log.events())
        .journal(Journal::new(Arc::clone(&memory) as _))
        .build();
    reply(&executor, "flaky", json!({ "fails": 2 })).await;
    expect![[r#"
        c1 started flaky {"fails":2}
        c1 decided allow: allow by the rule *
        c1 Retried { attempt: 1, reason: "the server is busy" }
        c1 Retried { attempt: 2, reason: "the server is busy" }
        c1 finished ok: done
    "#]]
    .assert_eq(&log.outline());
    let records = memory.records();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].entry, JournalEntry::Begun);
    assert!(matches!(records[1].entry, JournalEntry::Ended { ran: true, .. }));
    let retried = log.all().iter().filter(|event| matches!(event.kind, EventKind::Retried { .. })).count();
    assert_eq!(retried, 2);
}

#[tokio::test(start_paused = true)]
async fn room_is_free_while_a_call_waits_to_be_tried_again() {
    let (attempts, started) = (Attempts::default(), Instant::now());
    let other = Probe::new("other")
        .run(move |_, _| async move { Ok(format!("at {}", started.elapsed().as_millis()).into()) });
    let executor = permissive([flaky(&attempts, unavailable).repeatable(), other])
        .widths(&Widths { read: 1, ..Widths::default() })
        .build();
    let calls = vec![call("c1", "flaky", json!({ "fails": 1, "ms": 10 })), call("c2", "other", json!({}))];
    expect![[r#"
        c1 ok: done
        c2 ok: at 10
    "#]]
    .assert_eq(&ended(&executor, Batch::new(scope(), calls)).await);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_no_room_to_be_tried_again_ends_with_how_it_failed() {
    let attempts = Attempts::default();
    let long = Probe::new("long").run(|_, _| async {
        sleep(Duration::from_mins(1)).await;
        Ok("done".into())
    });
    let executor =
        permissive([flaky(&attempts, unavailable).repeatable().timeout(Duration::from_secs(10)), long])
            .widths(&Widths { read: 1, ..Widths::default() })
            .build();
    let calls = || vec![call("c1", "flaky", json!({ "fails": 1, "ms": 10 })), call("c2", "long", json!({}))];
    let started = Instant::now();
    expect![[r#"
        c1 error: unavailable: the server is busy
        c2 ok: done
    "#]]
    .assert_eq(&ended(&executor, Batch::new(scope(), calls())).await);
    assert_eq!((started.elapsed().as_secs(), attempts.lock().unwrap().len()), (60, 1));
    attempts.lock().unwrap().clear();
    let token = CancellationToken::new();
    let batch = Batch::new(scope(), calls()).cancelled_by(token.clone());
    let cancel = async {
        sleep(Duration::from_secs(5)).await;
        token.cancel();
    };
    let (ended, ()) = tokio::join!(ended(&executor, batch), cancel);
    expect![[r#"
        c1 error: unavailable: the server is busy
        c2 cancelled: the call was cancelled before it was done; see what it has done so far before you repeat it
    "#]].assert_eq(&ended);
}

#[tokio::test(start_paused = true)]
async fn steering_does_not_skip_a_call_that_has_begun() {
    let attempts = Attempts::default();
    let executor = permissive([flaky(&attempts, unavailable).repeatable()]).build();
    let asked = Mutex::new(0);
    let steering = move |_: &ToolCall| {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        if *asked == 1 { Steer::Continue } else { Steer::skip("something new") }
    };
    let batch = Batch::new(scope(), vec![call("c1", "flaky", json!({ "fails": 1 }))]).steered_by(steering);
    expect![[r#"
        c1 ok: done
    "#]]
    .assert_eq(&ended(&executor, batch).await);
    let outcome = executor.execute_batch(Batch::new(scope(), Vec::new())).await;
    assert_eq!(outcome.outcomes(), []);
}
