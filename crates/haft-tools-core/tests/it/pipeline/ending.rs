use crate::fixture::{Dropped, Probe, call, outline, permissive, reply, scope};
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolError, ToolOutput};
use haft_tools_core::{Batch, CallContext, Limits, Strategy, ToolExecutor as _};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

async fn check(probe: Probe, expect: Expect) {
    let executor = permissive([probe]).build();
    expect.assert_eq(&outline(&reply(&executor, "t", json!({})).await));
}

async fn never(_: Value, _: CallContext) -> Result<ToolOutput, ToolError> {
    std::future::pending().await
}

#[tokio::test]
async fn a_tool_that_panics_is_answered_for() {
    let preparing = Probe::new("t").declare(|_| panic!("at /home/me/secret.rs"));
    check(
        preparing,
        expect![[r#"
        error: panicked
        `t` broke while handling this call; this is a fault of the tool, so try another way"#]],
    )
    .await;
    let called = Probe::new("t").run(|_, _| -> std::future::Ready<_> { panic!("at once") });
    check(
        called,
        expect![[r#"
        error: panicked
        `t` broke while handling this call; this is a fault of the tool, so try another way"#]],
    )
    .await;
    check(
        Probe::new("t").run(|_, _| async { panic!("at the first poll") }),
        expect![[r#"
        error: panicked
        `t` broke while handling this call; this is a fault of the tool, so try another way"#]],
    )
    .await;
    let later = Probe::new("t").run(|_, _| async {
        tokio::task::yield_now().await;
        panic!("after a while")
    });
    check(
        later,
        expect![[r#"
        error: panicked
        `t` broke while handling this call; this is a fault of the tool, so try another way"#]],
    )
    .await;
}

#[tokio::test]
async fn what_a_tool_refuses_is_answered_in_its_words_and_without_its_cause() {
    let fails = |error: fn() -> ToolError| Probe::new("t").run(move |_, _| std::future::ready(Err(error())));
    let caused =
        || ToolError::unavailable("the index is being built; try again").with_source("at /var/lib/index");
    check(
        fails(caused),
        expect![[r#"
        error: unavailable
        the index is being built; try again"#]],
    )
    .await;
    check(
        fails(|| ToolError::denied("the file is locked by another agent")),
        expect![[r#"
        denied
        the file is locked by another agent"#]],
    )
    .await;
    check(
        fails(|| ToolError::timed_out("the server did not answer in 5 s")),
        expect![[r#"
        timed out
        the server did not answer in 5 s"#]],
    )
    .await;
    check(
        fails(|| ToolError::cancelled("the user closed the tab")),
        expect![[r#"
        cancelled
        the user closed the tab"#]],
    )
    .await;
    check(
        fails(|| ToolError::retry("the file changed; read it again")),
        expect![[r#"
        error: failed
        the file changed; read it again"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_is_stopped_when_its_time_is_over() {
    let check = async |probe: Probe, limits: Limits, took: Duration, expect: Expect| {
        let executor = permissive([probe.run(never)]).limits(limits).build();
        let started = Instant::now();
        expect.assert_eq(&outline(&reply(&executor, "t", json!({})).await));
        assert_eq!(started.elapsed(), took);
    };
    let limits =
        Limits { timeout: seconds(30), timeout_ceiling: seconds(60), grace: seconds(1), ..Limits::default() };
    check(
        Probe::new("t"),
        limits.clone(),
        seconds(31),
        expect![[r#"
            timed out
            `t` was stopped after 30 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]],
    )
    .await;
    check(
        Probe::new("t").timeout(Duration::from_millis(1_500)),
        limits.clone(),
        Duration::from_millis(2_500),
        expect![[r#"
            timed out
            `t` was stopped after 1500 ms and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]],
    )
    .await;
    check(
        Probe::new("t").timeout(Duration::MAX),
        limits.clone(),
        seconds(61),
        expect![[r#"
            timed out
            `t` was stopped after 60 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]],
    )
    .await;
    check(
        Probe::new("t").timeout(Duration::ZERO),
        limits,
        seconds(1),
        expect![[r#"
            timed out
            `t` was stopped after 0 ms and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_finish_in_its_grace() {
    let finishes = |result: fn() -> Result<ToolOutput, ToolError>| {
        Probe::new("t").timeout(seconds(5)).run(move |_, cx| async move {
            cx.cancellation().cancelled().await;
            sleep(seconds(1)).await;
            result()
        })
    };
    check(
        finishes(|| Ok("half of it; call again for the rest".into())),
        expect![[r#"
        ok
        half of it; call again for the rest"#]],
    )
    .await;
    check(
        finishes(|| Err(ToolError::failed("interrupted"))),
        expect![[r#"
            timed out
            `t` was stopped after 5 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]],
    )
    .await;
    check(
        finishes(|| Err(ToolError::timed_out("stopped after 5 s; 3 of 4 files are done"))),
        expect![[r#"
        timed out
        stopped after 5 s; 3 of 4 files are done"#]],
    )
    .await;
    check(finishes(|| Err(ToolError::cancelled("told to stop"))), expect![[r#"
        timed out
        `t` was stopped after 5 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]]).await;
    check(
        finishes(|| panic!("while stopping")),
        expect![[r#"
            timed out
            `t` was stopped after 5 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_that_does_not_stop_is_abandoned() {
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let witness = Arc::clone(&dropped);
    let ignores = Probe::new("t").run(move |_, _| {
        let guard = Dropped(Arc::clone(&witness), "tool");
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    let executor = permissive([ignores]).build();
    let token = CancellationToken::new();
    let batch = Batch::new(scope(), vec![call("c1", "t", json!({}))]).cancelled_by(token.clone());
    let started = Instant::now();
    let cancel = async {
        sleep(seconds(3)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(executor.execute_batch(batch), cancel);
    assert_eq!(started.elapsed(), seconds(5));
    expect![[r#"
        cancelled
        the call was cancelled before it was done; see what it has done so far before you repeat it"#]]
    .assert_eq(&outline(&outcome.into_replies().unwrap()[0]));
    tokio::task::yield_now().await;
    assert_eq!(*dropped.lock().unwrap(), ["tool"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_was_cancelled_may_say_what_became_of_its_work() {
    let check = async |result: fn() -> Result<ToolOutput, ToolError>, expect: Expect| {
        let probe = Probe::new("t").run(move |_, cx| async move {
            cx.cancellation().cancelled().await;
            result()
        });
        let (executor, token) = (permissive([probe]).build(), CancellationToken::new());
        let batch = Batch::new(scope(), vec![call("c1", "t", json!({}))]).cancelled_by(token.clone());
        let (outcome, ()) = tokio::join!(executor.execute_batch(batch), async { token.cancel() });
        expect.assert_eq(&outline(&outcome.into_replies().unwrap()[0]));
    };
    check(
        || Ok("all of it".into()),
        expect![[r#"
        ok
        all of it"#]],
    )
    .await;
    check(
        || Err(ToolError::cancelled("2 of 3 files were written")),
        expect![[r#"
        cancelled
        2 of 3 files were written"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_batch_answers_every_call() {
    let check = async |strategy: Strategy, expect: Expect| {
        let token = CancellationToken::new();
        let cancel = token.clone();
        let probes = [
            Probe::new("slow").run(never),
            Probe::new("cancels").run(move |_, _| {
                cancel.cancel();
                std::future::ready(Ok("done".into()))
            }),
            Probe::new("fast"),
        ];
        let executor = permissive(probes).strategy(strategy).build();
        let calls = ["fast", "cancels", "slow", "fast"];
        let calls = (1..).zip(calls).map(|(n, name)| call(&format!("c{n}"), name, json!({}))).collect();
        let outcome = executor.execute_batch(Batch::new(scope(), calls).cancelled_by(token)).await;
        let replies = outcome.into_replies().unwrap();
        expect.assert_eq(
            &replies
                .iter()
                .map(|reply| format!("{} {}\n", reply.call_id, outline(reply)))
                .collect::<Vec<_>>()
                .concat(),
        );
    };
    check(
        Strategy::Sequential,
        expect![[r#"
            c1 ok
            {}
            c2 ok
            done
            c3 cancelled
            the call was cancelled before it was started; nothing was done
            c4 cancelled
            the call was cancelled before it was started; nothing was done
        "#]],
    )
    .await;
    check(
        Strategy::Parallel,
        expect![[r#"
            c1 ok
            {}
            c2 ok
            done
            c3 cancelled
            the call was cancelled before it was started; nothing was done
            c4 cancelled
            the call was cancelled before it was started; nothing was done
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_batch_that_was_cancelled_before_starts_nothing() {
    let token = CancellationToken::new();
    token.cancel();
    let executor = permissive([Probe::new("t").run(|_, _| async { panic!("started") })]).build();
    let batch = Batch::new(scope(), vec![call("c1", "t", json!({})), call("c2", "none", json!("{"))]);
    let replies = executor.execute_batch(batch.cancelled_by(token)).await.into_replies().unwrap();
    assert!(replies.iter().all(|reply| reply.status == ReplyStatus::Cancelled));
    expect![[r#"
        cancelled
        the call was cancelled before it was started; nothing was done"#]]
    .assert_eq(&outline(&replies[0]));
}
