//! Calls that a running call makes, by itself or through an agent of its own.

use crate::fixture::{Probe, call, outline, permissive, reply, scope, write};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolError, ToolOutput};
use haft_tools_core::{
    Access, Accesses, Approval, Approver, Batch, CallContext, Limits, LocalExecutor, LocalExecutorBuilder,
    PendingCall, Policy, Resource, Scheme, ToolExecutor as _, Widths,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn narrow() -> Widths {
    let tools = vec![("*".parse().unwrap(), 1)];
    Widths { read: 1, connect: 1, write: 1, execute: 1, opaque: 1, tools }
}

/// Has a tool that runs an agent, whose calls another executor of the same tree executes.
fn delegating(
    accesses: impl Into<Accesses>,
    child: impl FnOnce(LocalExecutorBuilder) -> LocalExecutorBuilder,
) -> LocalExecutor {
    let below: Arc<OnceLock<LocalExecutor>> = Arc::default();
    let (accesses, executor) = (accesses.into(), Arc::clone(&below));
    let delegate = Probe::new("delegate").declare(move |_| Ok(accesses.clone())).run(move |_, cx| {
        let executor = executor.get().unwrap().clone();
        async move {
            let calls = (0..3).map(|place| call(&format!("below-{place}"), "edit", json!({}))).collect();
            let scope = cx.scope().child("run-2".parse().unwrap());
            let replies = executor.execute_batch(Batch::new(scope, calls).made_by(&cx)).await.into_replies();
            let replies = replies.map_err(|pending| ToolError::failed(pending.to_string()))?;
            Ok(ToolOutput::text(replies.iter().map(outline).collect::<Vec<_>>().join("; ")))
        }
    });
    let executor = permissive([delegate]).widths(&narrow()).build();
    let edit = Probe::new("edit").declare(|_| Ok(write("file:a").into())).run(|_, _| async {
        sleep(Duration::from_millis(1)).await;
        Ok("edited".into())
    });
    below.set(child(permissive([edit])).in_tree_of(&executor).build()).unwrap();
    executor
}

async fn check(executor: &LocalExecutor, expect: Expect) {
    let answered = timeout(seconds(600), reply(executor, "delegate", json!({}))).await;
    expect.assert_eq(&outline(&answered.expect("the agent's calls wait for the call that runs it")));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_an_agent_holds_neither_its_place_nor_its_room() {
    let agent = Access::call(Resource::exact(Scheme::new("agent"), "explorer"));
    for accesses in [Access::opaque("an agent"), agent, write("file:a")] {
        check(
            &delegating(accesses, |child| child),
            expect![[r#"
                ok
                ok
                edited; ok
                edited; ok
                edited"#]],
        )
        .await;
    }
}

/// Takes its time before it approves.
struct Slow;

#[async_trait]
impl Approver for Slow {
    async fn approve(&self, _: &PendingCall) -> Approval {
        sleep(seconds(1_000)).await;
        Approval::Approve
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_of_a_call_that_runs_an_agent_stands_still_while_a_person_is_asked() {
    let executor = delegating(Access::opaque("an agent"), |child| child.policy(Policy::new()).approver(Slow));
    let replied = timeout(seconds(10_000), reply(&executor, "delegate", json!({}))).await.unwrap();
    assert_eq!(replied.status, ReplyStatus::Ok, "{}", outline(&replied));
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_an_agent_are_cancelled_with_the_call_that_runs_it() {
    let below: Arc<OnceLock<LocalExecutor>> = Arc::default();
    let executor = Arc::clone(&below);
    let told = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&told);
    let delegate = Probe::new("delegate").timeout(seconds(5)).run(move |_, cx: CallContext| {
        let (executor, sink) = (executor.get().unwrap().clone(), Arc::clone(&sink));
        async move {
            let batch = Batch::new(scope(), vec![call("below", "sleep", json!({}))]).made_by(&cx);
            let replies = executor.execute_batch(batch).await.into_replies().unwrap();
            sink.lock().unwrap().push_str(&outline(&replies[0]));
            Ok("done".into())
        }
    });
    let sleeps = Probe::new("sleep").run(|_, cx| async move {
        cx.cancellation().cancelled().await;
        Err(ToolError::cancelled("woken"))
    });
    let executor = permissive([delegate]).build();
    below.set(permissive([sleeps]).in_tree_of(&executor).build()).unwrap();
    let started = Instant::now();
    assert_eq!(reply(&executor, "delegate", json!({})).await.status, ReplyStatus::Ok);
    assert_eq!((started.elapsed(), told.lock().unwrap().as_str()), (seconds(5), "cancelled\nwoken"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_answered_makes_no_others() {
    let (tell, told) = oneshot::channel();
    let tell = Mutex::new(Some(tell));
    let ran = Arc::new(Mutex::new(0));
    let count = Arc::clone(&ran);
    let leaks = Probe::new("leaks").run(move |_, cx: CallContext| {
        let tell = tell.lock().unwrap().take().unwrap();
        async move {
            let at_once = cx.clone();
            tokio::spawn(async move {
                let early = at_once.call(call("early", "slow", json!({}))).await;
                let late = at_once.call(call("late", "slow", json!({}))).await;
                tell.send(format!("{}; {}", outline(&early), outline(&late))).unwrap();
            });
            tokio::task::yield_now().await;
            Ok("answered".into())
        }
    });
    let slow = Probe::new("slow").run(move |_, cx| {
        *count.lock().unwrap() += 1;
        async move {
            cx.cancellation().cancelled().await;
            Err(ToolError::cancelled("stopped"))
        }
    });
    let executor = permissive([leaks, slow]).build();
    assert_eq!(outline(&reply(&executor, "leaks", json!({})).await), "ok\nanswered");
    expect![[r#"
        cancelled
        stopped; denied
        the call that makes this one has been answered; nothing was done"#]]
    .assert_eq(&told.await.unwrap());
    assert_eq!(*ran.lock().unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn room_that_was_lent_is_taken_again_when_the_waiting_is_given_up() {
    let most = Arc::new(Mutex::new((0_u32, 0_u32)));
    let at_work = Arc::clone(&most);
    let gives_up = Probe::new("gives_up").run(move |_, cx: CallContext| {
        let at_work = Arc::clone(&at_work);
        async move {
            let waited = timeout(seconds(1), cx.call(call("inner", "never", json!({})))).await;
            assert!(waited.is_err());
            {
                let mut at_work = at_work.lock().unwrap();
                at_work.0 += 1;
                at_work.1 = at_work.1.max(at_work.0);
            }
            sleep(seconds(10)).await;
            at_work.lock().unwrap().0 -= 1;
            Ok("done".into())
        }
    });
    let never =
        Probe::new("never").declare(|_| Ok(write("file:a").into())).run(|_, _| std::future::pending());
    let widths = Widths { read: 1, ..Widths::default() };
    let executor = permissive([gives_up, never]).widths(&widths).build();
    let calls = |name: &str| vec![call(name, "gives_up", json!({}))];
    let (one, other) = tokio::join!(executor.execute_batch(Batch::new(scope(), calls("one"))), async {
        sleep(seconds(2)).await;
        executor.execute_batch(Batch::new(scope(), calls("other"))).await
    });
    for outcome in [one, other] {
        assert!(outcome.into_replies().unwrap()[0].status.is_ok());
    }
    assert_eq!(*most.lock().unwrap(), (0, 1));
}

#[tokio::test]
async fn widths_do_not_depend_on_when_they_are_set() {
    let executor = permissive([Probe::new("t")]).widths(&narrow()).build();
    let twice = permissive([Probe::new("t")]).in_tree_of(&executor).widths(&Widths::default()).build();
    let listed = |executor: &LocalExecutor| executor.cancel(&haft_tools_core::Cancel::Tree);
    assert_eq!((listed(&executor), listed(&twice)), (0, 0));
    assert!(twice.is_in_tree_of(&executor));
}

/// Panics when it is dropped.
struct Spiteful;

impl Drop for Spiteful {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped");
    }
}

#[derive(Debug)]
struct Cause;

impl std::fmt::Display for Cause {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("shown")
    }
}

impl std::error::Error for Cause {}

impl Drop for Cause {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test]
async fn what_a_panic_or_an_error_carries_cannot_take_the_batch_down() {
    async fn fails(_: Value, _: CallContext) -> Result<ToolOutput, ToolError> {
        Err(ToolError::failed("it failed").with_source(Cause))
    }
    let executor = permissive([
        Probe::new("running").run(|_, _| async { std::panic::panic_any(Spiteful) }),
        Probe::new("preparing").declare(|_| std::panic::panic_any(Spiteful)),
        Probe::new("failing").run(fails),
        Probe::new("refusing").declare(|_| Err(ToolError::failed("it failed").with_source(Cause))),
        Probe::new("fine").says("fine"),
    ])
    .limits(Limits::default())
    .build();
    let names = ["running", "preparing", "failing", "refusing", "fine"];
    let calls = names.map(|name| call(name, name, json!({}))).to_vec();
    let replies = executor.execute_batch(Batch::new(scope(), calls)).await.into_replies().unwrap();
    let statuses: Vec<String> = replies.iter().map(|reply| reply.status.to_string()).collect();
    assert_eq!(statuses, ["error: panicked", "error: panicked", "error: failed", "error: failed", "ok"]);
}
