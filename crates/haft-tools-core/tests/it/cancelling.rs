use crate::fixture::{
    Dropped, Lines, Log, Probe, anything, call, ended, outlines, permissive, registry, scope, work, works,
};
use expect_test::{Expect, expect};
use haft_core::{EventKind, ToolCall};
use haft_tools_core::{
    Approval, Approver, Batch, CallContext, CallScope, Cancel, LocalExecutor, PendingCall, Policy, Strategy,
    ToolExecutor as _, Widths,
};
use serde_json::json;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;

fn one(id: &str) -> Cancel {
    Cancel::Call { run: "run-1".parse().unwrap(), call: id.parse().unwrap() }
}

/// Cancels after some milliseconds; gives how many calls that were.
async fn cancel_after(executor: &LocalExecutor, milliseconds: u64, which: Cancel) -> usize {
    sleep(Duration::from_millis(milliseconds)).await;
    executor.cancel(&which)
}

async fn check(executor: &LocalExecutor, calls: Vec<ToolCall>, which: Cancel, count: usize, expect: Expect) {
    let batch = Batch::new(scope(), calls);
    let (ended, cancelled) = tokio::join!(ended(executor, batch), cancel_after(executor, 5, which));
    expect.assert_eq(&ended);
    assert_eq!(cancelled, count);
    assert_eq!((executor.cancel(&Cancel::Tree), executor.task_count()), (0, 0));
}

fn one_file() -> Vec<ToolCall> {
    works(vec![json!({ "write": "file:a" }); 3])
}

#[tokio::test(start_paused = true)]
async fn one_call_is_cancelled_wherever_it_is() {
    let executor = permissive([work()]).build();
    check(
        &executor,
        one_file(),
        one("c1"),
        1,
        expect![[r#"
        c1 cancelled: stopped half-way
        c2 ok: done
        c3 ok: done
    "#]],
    )
    .await;
    check(
        &executor,
        one_file(),
        one("c2"),
        1,
        expect![[r#"
        c1 ok: done
        c2 cancelled: the call was cancelled before it was started; nothing was done
        c3 ok: done
    "#]],
    )
    .await;
    check(
        &executor,
        one_file(),
        one("c4"),
        0,
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 ok: done
    "#]],
    )
    .await;
    let narrow = permissive([work()]).widths(&Widths { read: 1, ..Widths::default() }).build();
    check(
        &narrow,
        works(vec![json!({}); 3]),
        one("c2"),
        1,
        expect![[r#"
        c1 ok: done
        c2 cancelled: the call was cancelled before it was started; nothing was done
        c3 ok: done
    "#]],
    )
    .await;
    let other = Cancel::Call { run: "run-2".parse().unwrap(), call: "c1".parse().unwrap() };
    check(
        &executor,
        one_file(),
        other,
        0,
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 ok: done
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_has_not_begun_is_cancelled_too() {
    let sequential = permissive([work()]).strategy(Strategy::Sequential).build();
    check(
        &sequential,
        one_file(),
        one("c3"),
        1,
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 cancelled: the call was cancelled before it was started; nothing was done
    "#]],
    )
    .await;
    check(
        &sequential,
        one_file(),
        one("c1"),
        1,
        expect![[r#"
        c1 cancelled: stopped half-way
        c2 ok: done
        c3 ok: done
    "#]],
    )
    .await;
    let batched = Strategy::Batched { size: NonZeroUsize::new(2).unwrap() };
    let batched = permissive([work()]).strategy(batched).build();
    check(
        &batched,
        works(vec![json!({}); 5]),
        one("c4"),
        1,
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 ok: done
        c4 cancelled: the call was cancelled before it was started; nothing was done
        c5 ok: done
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_with_what_has_not_begun() {
    let run = || Cancel::Run("run-1".parse().unwrap());
    let sequential = permissive([work()]).strategy(Strategy::Sequential).build();
    check(
        &sequential,
        one_file(),
        run(),
        3,
        expect![[r#"
        c1 cancelled: stopped half-way
        c2 cancelled: the call was cancelled before it was started; nothing was done
        c3 cancelled: the call was cancelled before it was started; nothing was done
    "#]],
    )
    .await;
    check(
        &sequential,
        one_file(),
        Cancel::Tree,
        3,
        expect![[r#"
        c1 cancelled: stopped half-way
        c2 cancelled: the call was cancelled before it was started; nothing was done
        c3 cancelled: the call was cancelled before it was started; nothing was done
    "#]],
    )
    .await;
    let executor = permissive([work()]).build();
    check(
        &executor,
        one_file(),
        run(),
        3,
        expect![[r#"
        c1 cancelled: stopped half-way
        c2 cancelled: the call was cancelled before it was started; nothing was done
        c3 cancelled: the call was cancelled before it was started; nothing was done
    "#]],
    )
    .await;
    check(
        &executor,
        one_file(),
        Cancel::Run("run-2".parse().unwrap()),
        0,
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 ok: done
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_is_cancelled_by_an_earlier_one_of_its_batch_before_it_begins() {
    let kept: Arc<Mutex<Option<LocalExecutor>>> = Arc::default();
    let used = Arc::clone(&kept);
    let cancels = Probe::new("cancels").run(move |_, _| {
        let count = used.lock().unwrap().as_ref().unwrap().cancel(&one("c2"));
        std::future::ready(Ok(count.to_string().into()))
    });
    let executor = permissive([cancels, work()]).build();
    *kept.lock().unwrap() = Some(executor.clone());
    let calls =
        vec![call("c1", "cancels", json!({})), call("c2", "work", json!({})), call("c3", "work", json!({}))];
    expect![[r#"
        c1 ok: 1
        c2 cancelled: the call was cancelled before it was started; nothing was done
        c3 ok: done
    "#]]
    .assert_eq(&ended(&executor, Batch::new(scope(), calls)).await);
    *kept.lock().unwrap() = None;
}

/// Never answers.
struct Silent;

#[async_trait::async_trait]
impl Approver for Silent {
    async fn approve(&self, _: &PendingCall) -> Approval {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_asked_about_is_cancelled() {
    let executor = LocalExecutor::builder(registry([work()])).policy(Policy::new()).approver(Silent).build();
    check(
        &executor,
        works([json!({}), json!({})]),
        Cancel::Tree,
        2,
        expect![[r#"
        c1 cancelled: the call was cancelled before it was started; nothing was done
        c2 cancelled: the call was cancelled before it was started; nothing was done
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_with_the_runs_below_it_and_no_others() {
    let root = permissive([work()]).build();
    let below = permissive([work()]).in_tree_of(&root).build();
    let in_run = |scope: CallScope| {
        let below = &below;
        async move { ended(below, Batch::new(scope, works([json!({ "ms": 50 })]))).await }
    };
    let child = scope().child("run-2".parse().unwrap());
    let grandchild = child.child("run-3".parse().unwrap());
    let other = CallScope::new("run-9".parse().unwrap());
    let (of_root, of_child, of_grandchild, of_other, count) = tokio::join!(
        ended(&root, Batch::new(scope(), works([json!({ "ms": 50 })]))),
        in_run(child),
        in_run(grandchild),
        in_run(other),
        cancel_after(&root, 5, Cancel::Run("run-1".parse().unwrap())),
    );
    expect![[r#"
        c1 cancelled: stopped half-way
        c1 cancelled: stopped half-way
        c1 cancelled: stopped half-way
        c1 ok: done
    "#]]
    .assert_eq(&[of_root, of_child, of_grandchild, of_other].concat());
    assert_eq!(count, 3);
}

#[tokio::test(start_paused = true)]
async fn the_tool_sees_that_it_is_cancelled_and_so_do_the_calls_it_makes() {
    let told = Lines::default();
    let lines = told.clone();
    let waits = Probe::new("waits").run(move |_, cx: CallContext| {
        let lines = lines.clone();
        async move {
            cx.cancellation().cancelled().await;
            lines.add(format!("{} is told", cx.call_id()));
            Ok("stopped".into())
        }
    });
    let relay = Probe::new("relay").run(|_, cx: CallContext| async move {
        Ok(outlines([&cx.call(call("inner", "waits", json!({}))).await]).into())
    });
    let executor = permissive([waits, relay, work()]).build();
    let calls = || vec![call("c1", "relay", json!({})), call("c2", "work", json!({}))];
    check(
        &executor,
        calls(),
        one("c1"),
        1,
        expect![[r#"
        c1 ok: inner ok: stopped

        c2 ok: done
    "#]],
    )
    .await;
    check(
        &executor,
        calls(),
        one("inner"),
        1,
        expect![[r#"
        c1 ok: inner ok: stopped

        c2 ok: done
    "#]],
    )
    .await;
    expect![[r#"
        inner is told
        inner is told
    "#]]
    .assert_eq(&told.take());
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_dropped_leaves_nothing_behind() {
    let (drops, log) = (Arc::new(Mutex::new(Vec::new())), Log::default());
    let dropped = Arc::clone(&drops);
    let holds = Probe::new("holds").run(move |_, _| {
        let held = Dropped(Arc::clone(&dropped), "future");
        async move {
            let _held = held;
            std::future::pending().await
        }
    });
    let widths = Widths { read: 2, ..Widths::default() };
    let executor = permissive([holds, work()]).widths(&widths).events(log.events()).build();
    let mut calls = one_file();
    calls.extend(["c4", "c5", "c6"].map(|id| call(id, "holds", json!({}))));
    let batch = executor.execute_batch(Batch::new(scope(), calls));
    assert!(tokio::time::timeout(Duration::from_millis(5), batch).await.is_err());
    assert_eq!(executor.cancel(&Cancel::Tree), 0);
    executor.idle().await;
    assert_eq!(executor.task_count(), 0);
    assert_eq!(*drops.lock().unwrap(), ["future", "future"]);
    let finished = log.all().iter().filter(|event| matches!(event.kind, EventKind::Finished { .. })).count();
    assert_eq!(finished, 6);
    // Neither room nor a place in the order is kept.
    expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 ok: done
    "#]]
    .assert_eq(&ended(&executor, Batch::new(scope(), one_file())).await);
    let sequential = permissive([work()]).strategy(Strategy::Sequential).build();
    let batch = sequential.execute_batch(Batch::new(scope(), one_file()));
    assert!(tokio::time::timeout(Duration::from_millis(5), batch).await.is_err());
    assert_eq!(sequential.cancel(&Cancel::Tree), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_cancelled_does_not_keep_the_next_batch_from_using_its_id() {
    let executor = permissive([work()]).policy(anything()).strategy(Strategy::Sequential).build();
    check(
        &executor,
        one_file(),
        one("c3"),
        1,
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 cancelled: the call was cancelled before it was started; nothing was done
    "#]],
    )
    .await;
    expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 ok: done
    "#]]
    .assert_eq(&ended(&executor, Batch::new(scope(), one_file())).await);
}
