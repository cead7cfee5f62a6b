use crate::fixture::{
    Log, Probe, anything, call, call_of, outline, outlines, permissive, registry, replies, reply, scope,
};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use futures_util::future::join_all;
use haft_core::{Event, EventKind};
use haft_tools_core::{
    Approval, Approver, Batch, CallContext, Limits, LocalExecutor, PendingCall, Policy, Rule,
    ToolExecutor as _, ToolLimits,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Is a tool that tells that it gets on every so often, and then rests.
fn steps() -> Probe {
    Probe::new("steps").run(|input: Value, cx: CallContext| async move {
        for _ in 0..input["steps"].as_u64().unwrap_or(0) {
            sleep(seconds(input["each"].as_u64().unwrap_or(1))).await;
            if input["updates"] == true { cx.update(|| "on".into()) } else { cx.progress("on") }
        }
        sleep(seconds(input["rest"].as_u64().unwrap_or(0))).await;
        Ok("done".into())
    })
}

/// Calls `steps`, and says how it ended and after how many seconds.
async fn check(executor: &LocalExecutor, input: Value, took: u64, expect: Expect) {
    let started = Instant::now();
    expect.assert_eq(&outline(&reply(executor, "steps", input).await));
    assert_eq!(started.elapsed().as_secs(), took);
    executor.idle().await;
}

fn limited(limits: Limits) -> LocalExecutor {
    permissive([steps()]).limits(Limits { grace: seconds(0), ..limits }).build()
}

#[tokio::test(start_paused = true)]
async fn the_time_for_a_call_is_the_tools_own_or_the_hosts_or_the_default() {
    let default = Limits::default();
    check(&limited(default.clone()), json!({ "rest": 121 }), 120, expect![[r#"
        timed out
        `steps` was stopped after 120 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
    let of_tool = permissive([steps().timeout(seconds(200))]);
    check(&of_tool.build(), json!({ "rest": 300 }), 202, expect![[r#"
        timed out
        `steps` was stopped after 200 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
    let by_host = |limits: ToolLimits, probe: Probe| {
        permissive([probe]).tool_limits("steps".parse().unwrap(), limits).build()
    };
    let limits = ToolLimits { timeout: Some(seconds(30)), ..ToolLimits::default() };
    check(&by_host(limits.clone(), steps()), json!({ "rest": 40 }), 32, expect![[r#"
        timed out
        `steps` was stopped after 30 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
    check(
        &by_host(limits.clone(), steps().timeout(seconds(200))),
        json!({ "rest": 100 }),
        32,
        expect![[r#"
        timed out
        `steps` was stopped after 30 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]],
    )
    .await;
    check(&by_host(limits, steps().timeout(seconds(20))), json!({ "rest": 25 }), 22, expect![[r#"
        timed out
        `steps` was stopped after 20 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
    let limits = Limits { timeout_ceiling: seconds(10), ..default };
    check(&limited(limits.clone()), json!({ "rest": 11 }), 10, expect![[r#"
        timed out
        `steps` was stopped after 10 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
    let asks_for_more = permissive([steps().timeout(Duration::MAX)]).limits(limits).build();
    check(&asks_for_more, json!({ "rest": 20 }), 12, expect![[r#"
        timed out
        `steps` was stopped after 10 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_gets_on_is_not_idle() {
    let idle = |timeout: u64| Limits { idle_timeout: Some(seconds(timeout)), ..Limits::default() };
    let executor = limited(idle(5));
    check(
        &executor,
        json!({ "steps": 10, "each": 4 }),
        40,
        expect![[r#"
        ok
        done"#]],
    )
    .await;
    check(
        &executor,
        json!({ "steps": 10, "each": 4, "updates": true }),
        40,
        expect![[r#"
        ok
        done"#]],
    )
    .await;
    check(&executor, json!({ "steps": 2, "each": 4, "rest": 9 }), 13, expect![[r#"
        timed out
        `steps` was stopped after 5 s without any progress and may have done a part of its work; see what it has done, and ask for less at once"#]]).await;
    check(&executor, json!({ "rest": 9 }), 5, expect![[r#"
        timed out
        `steps` was stopped after 5 s without any progress and may have done a part of its work; see what it has done, and ask for less at once"#]]).await;
    // Getting on does not prolong the time for the whole call.
    check(&executor, json!({ "steps": 100, "each": 4 }), 120, expect![[r#"
        timed out
        `steps` was stopped after 120 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
    let own = permissive([steps().idle_timeout(seconds(2))]).limits(idle(50)).build();
    check(&own, json!({ "rest": 9 }), 4, expect![[r#"
        timed out
        `steps` was stopped after 2 s without any progress and may have done a part of its work; see what it has done, and ask for less at once"#]]).await;
    let limits = ToolLimits { idle_timeout: Some(seconds(3)), ..ToolLimits::default() };
    let by_host = permissive([steps()]).tool_limits("*".parse().unwrap(), limits).build();
    check(&by_host, json!({ "rest": 9 }), 5, expect![[r#"
        timed out
        `steps` was stopped after 3 s without any progress and may have done a part of its work; see what it has done, and ask for less at once"#]]).await;
}

/// Is a tool that makes all of the calls it is given at once, and says how they ended.
fn relay() -> Probe {
    Probe::new("relay").run(|input: Value, cx: CallContext| async move {
        let inputs = input["calls"].as_array().cloned().unwrap_or_default();
        let cx = &cx;
        let calls = (0..).zip(inputs).map(|(place, input)| async move {
            cx.call(call(&format!("inner-{place}"), input["name"].as_str().unwrap(), input["input"].clone()))
                .await
        });
        let replies = join_all(calls).await;
        sleep(seconds(input["rest"].as_u64().unwrap_or(0))).await;
        Ok(outlines(&replies).into())
    })
}

#[tokio::test(start_paused = true)]
async fn progress_of_a_call_is_progress_of_the_one_that_makes_it() {
    let relay = relay().idle_timeout(seconds(5));
    let executor = permissive([relay, steps()]).build();
    let started = Instant::now();
    let steps = json!({ "name": "steps", "input": { "steps": 10, "each": 4 } });
    expect![[r#"
        ok
        inner-0 ok: done
    "#]]
    .assert_eq(&outline(&reply(&executor, "relay", json!({ "calls": [steps] })).await));
    assert_eq!(started.elapsed().as_secs(), 40);
}

/// Approves after as many seconds as the input's `answered` says.
struct Slow;

#[async_trait]
impl Approver for Slow {
    async fn approve(&self, pending: &PendingCall) -> Approval {
        sleep(seconds(pending.call.input["answered"].as_u64().unwrap_or(0))).await;
        Approval::Approve
    }
}

#[tokio::test(start_paused = true)]
async fn the_clocks_of_a_call_stand_still_while_a_person_is_asked_for_it() {
    let asked = |after: u64| json!({ "name": "steps", "input": { "answered": after, "rest": 3 } });
    let nested = json!({ "name": "relay", "input": { "calls": [asked(5_000)] } });
    let check = async |relay: Probe, calls: Value, rest: u64, took: u64, expect: Expect| {
        let executor = LocalExecutor::builder(registry([relay, steps()]))
            .policy(Policy::new().allow(Rule::tools("relay".parse().unwrap())))
            .approver(Slow)
            .build();
        let started = Instant::now();
        expect.assert_eq(&outline(&reply(&executor, "relay", json!({ "calls": calls, "rest": rest })).await));
        assert_eq!(started.elapsed().as_secs(), took);
        executor.idle().await;
    };
    let wall = || relay().timeout(seconds(10));
    check(
        wall(),
        json!([asked(1_000)]),
        6,
        1_009,
        expect![[r#"
        ok
        inner-0 ok: done
    "#]],
    )
    .await;
    check(wall(), json!([asked(1_000)]), 20, 1_012, expect![[r#"
        timed out
        `relay` was stopped after 10 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
    let idle = || relay().idle_timeout(seconds(10));
    check(
        idle(),
        json!([asked(1_000)]),
        6,
        1_009,
        expect![[r#"
        ok
        inner-0 ok: done
    "#]],
    )
    .await;
    check(idle(), json!([asked(1_000)]), 20, 1_012, expect![[r#"
        timed out
        `relay` was stopped after 10 s without any progress and may have done a part of its work; see what it has done, and ask for less at once"#]]).await;
    // As long as one of several questions is open.
    check(
        wall(),
        json!([asked(1_000), asked(50), asked(2_000)]),
        6,
        2_009,
        expect![[r#"
        ok
        inner-0 ok: done
        inner-1 ok: done
        inner-2 ok: done
    "#]],
    )
    .await;
    check(wall(), json!([asked(1_000), asked(50), asked(2_000)]), 20, 2_012, expect![[r#"
        timed out
        `relay` was stopped after 10 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
    // Through calls that make calls.
    check(
        wall(),
        json!([nested]),
        6,
        5_009,
        expect![[r#"
        ok
        inner-0 ok: inner-0 ok: done

    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_given_up_lets_the_clock_go_on() {
    let impatient = Probe::new("impatient").timeout(seconds(10)).run(|_, cx: CallContext| async move {
        let asked = cx.call(call("inner", "steps", json!({ "answered": 1_000 })));
        let _ = tokio::time::timeout(seconds(100), asked).await;
        sleep(seconds(1_000)).await;
        Ok("done".into())
    });
    let executor = LocalExecutor::builder(registry([impatient, steps()]))
        .policy(Policy::new().allow(Rule::tools("impatient".parse().unwrap())))
        .approver(Slow)
        .build();
    let started = Instant::now();
    expect![[r#"
        timed out
        `impatient` was stopped after 10 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]].assert_eq(&outline(&reply(&executor, "impatient", json!({})).await));
    assert_eq!(started.elapsed().as_secs(), 112);
}

#[tokio::test(start_paused = true)]
async fn the_clocks_stand_still_while_a_tool_waits_for_the_host() {
    let waits = Probe::new("waits").run(|input: Value, cx: CallContext| async move {
        cx.stand_still_while(sleep(seconds(1_000))).await;
        sleep(seconds(input["rest"].as_u64().unwrap())).await;
        Ok("done".into())
    });
    let limits = Limits { timeout: seconds(10), idle_timeout: Some(seconds(5)), ..Limits::default() };
    let executor = permissive([waits, relay()]).limits(limits).build();
    let nested = json!({ "calls": [{ "name": "waits", "input": { "rest": 1 } }] });
    assert_eq!(outline(&reply(&executor, "relay", nested).await), "ok\ninner-0 ok: done\n");
    let started = Instant::now();
    expect![[r#"
        timed out
        `waits` was stopped after 5 s without any progress and may have done a part of its work; see what it has done, and ask for less at once"#]].assert_eq(&outline(&reply(&executor, "waits", json!({ "rest": 20 })).await));
    assert_eq!(started.elapsed().as_secs(), 1_007);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_room_is_not_running() {
    let widths = haft_tools_core::Widths { read: 1, ..haft_tools_core::Widths::default() };
    let executor = permissive([steps()]).widths(&widths).build();
    let calls = ["c1", "c2", "c3"].map(|id| call(id, "steps", json!({ "rest": 100 }))).to_vec();
    let started = Instant::now();
    expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 ok: done
    "#]]
    .assert_eq(&outlines(&replies(&executor, calls).await));
    assert_eq!(started.elapsed().as_secs(), 300);
}

#[tokio::test(start_paused = true)]
async fn limits_without_end_are_no_limits() {
    let limits = Limits {
        timeout: Duration::MAX,
        timeout_ceiling: Duration::MAX,
        idle_timeout: Some(Duration::MAX),
        grace: Duration::MAX,
        update_interval: Duration::MAX,
        ..Limits::default()
    };
    let asked = json!({ "name": "steps", "input": { "answered": 1_000, "steps": 2 } });
    let executor = LocalExecutor::builder(registry([relay(), steps().repeatable()]))
        .policy(anything().ask(Rule::tools("steps".parse().unwrap())))
        .approver(Slow)
        .limits(limits)
        .build();
    expect![[r#"
        ok
        inner-0 ok: done
    "#]]
    .assert_eq(&outline(&reply(&executor, "relay", json!({ "calls": [asked], "rest": 1_000_000 })).await));
    let none = Limits {
        timeout: Duration::ZERO,
        timeout_ceiling: Duration::ZERO,
        idle_timeout: Some(Duration::ZERO),
        grace: Duration::ZERO,
        ..Limits::default()
    };
    let executor = limited(none);
    check(&executor, json!({ "rest": 1 }), 0, expect![[r#"
        timed out
        `steps` was stopped after 0 ms and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
}

/// Prints the events of a log that say that something ended.
fn ends(log: &Log) -> String {
    let end = |event: &Event| match &event.kind {
        EventKind::Finished { reply } => Some(format!("{} finished {}\n", call_of(event), reply.status)),
        EventKind::AbandonedEnded { name, .. } => {
            Some(format!("{} abandoned {name} ended\n", call_of(event)))
        }
        _ => None,
    };
    log.all().iter().filter_map(end).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_call_that_blocks_its_thread_is_answered_and_its_end_is_told_later() {
    let (log, (release, blocked)) = (Log::default(), std::sync::mpsc::channel::<()>());
    let blocked = Arc::new(Mutex::new(blocked));
    let blocks = Probe::new("blocks").timeout(Duration::from_millis(500)).run(move |_, _| {
        let blocked = Arc::clone(&blocked);
        async move {
            tokio::task::yield_now().await;
            let _ = blocked.lock().unwrap().recv();
            Ok("done".into())
        }
    });
    let limits = Limits { grace: Duration::from_millis(500), ..Limits::default() };
    let executor = permissive([blocks]).limits(limits).events(log.events()).build();
    expect![[r#"
        timed out
        `blocks` was stopped after 500 ms and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]].assert_eq(&outline(&reply(&executor, "blocks", json!({})).await));
    assert_eq!(ends(&log), "c1 finished timed out\n");
    assert_eq!(executor.task_count(), 2);
    release.send(()).unwrap();
    executor.idle().await;
    assert_eq!(executor.task_count(), 0);
    assert_eq!(ends(&log), "c1 finished timed out\nc1 abandoned blocks ended\n");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_stop_is_answered_after_the_grace() {
    let log = Log::default();
    let panics = Probe::new("panics").timeout(seconds(1)).run(|_, _| async move {
        struct Breaks;
        impl Drop for Breaks {
            fn drop(&mut self) {
                panic!("it breaks when it is dropped");
            }
        }
        let _breaks = Breaks;
        std::future::pending().await
    });
    let executor = permissive([panics]).events(log.events()).build();
    let started = Instant::now();
    expect![[r#"
        timed out
        `panics` was stopped after 1 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]].assert_eq(&outline(&reply(&executor, "panics", json!({})).await));
    assert_eq!(started.elapsed().as_secs(), 3);
    executor.idle().await;
    assert_eq!(ends(&log), "c1 finished timed out\nc1 abandoned panics ended\n");
    let batch = Batch::new(scope(), vec![call("c2", "panics", json!({}))]);
    assert!(tokio::time::timeout(Duration::from_millis(1), executor.execute_batch(batch)).await.is_err());
    executor.idle().await;
}
