use super::{Bench, call, made, said, scope, until};
use crate::engine::http;
use crate::processes::decided_elsewhere;
use crate::tools::performer;
use haft_core::{Digest, ToolCall};
use haft_durable_restate::{Worker, pending_calls};
use haft_tools_core::{
    Approval, CallOutcome, PendingCall, PendingId, Resumption, ResumptionError, ToolExecutor as _,
};
use serde_json::json;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

async fn answer(
    bench: &Bench,
    pending: &PendingCall,
    approval: Approval,
) -> Result<CallOutcome, ResumptionError> {
    bench.executor.resume(Resumption::new(scope(), pending.clone(), approval)).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_call_is_decided_by_another_process_and_its_reply_is_there_for_whoever_asks() {
    let bench = Bench::start().await;
    let pending = bench.asked("c").await;
    assert_eq!((pending.id.as_str(), bench.ledger.begun()), ("tools/r/1/c:0", vec![]));
    let outcome = decided_elsewhere(&bench.engine.ingress(), &pending, bench.directory.path()).await;
    assert_eq!(said(&outcome), "ok: paid");
    assert_eq!(made(&bench.executor, call("c", "sign")).await, outcome);
    assert_eq!(bench.ledger.effects(), ["r/1/c:1"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn what_waits_is_listed_and_decided_by_whoever_does_not_wait_for_it() {
    let bench = Bench::start().await;
    let listed = || async { pending_calls(&http(), &bench.engine.admin()).await.unwrap() };
    assert_eq!(listed().await.len(), 0);
    let (first, second) = (bench.asked("c").await, bench.asked("d").await);
    let calls = listed().await;
    let shown: Vec<_> = calls.into_iter().map(|call| (call.id, *call.call.unwrap(), call.answer)).collect();
    assert_eq!(shown, [(first.id.clone(), first.clone(), None), (second.id.clone(), second.clone(), None)]);

    bench.executor.decide(&first, Approval::Approve).await.unwrap();
    assert_eq!(said(&made(&bench.executor, call("c", "sign")).await), "ok: paid");
    let again = bench.executor.decide(&first, Approval::Deny { reason: String::new() }).await;
    assert!(matches!(again, Err(ResumptionError::ResumedBefore { .. })), "{again:?}");
    let left: Vec<_> = listed().await.into_iter().map(|call| call.id).collect();
    assert_eq!((left, bench.ledger.effects()), (vec![second.id], vec!["r/1/c:1".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_stale_and_a_second_decision_are_refused() {
    let bench = Bench::start().await;
    let first = bench.asked("c").await;
    // What was approved is not what would run by now, so the call waits again.
    bench.ledger.move_away();
    let outcome = answer(&bench, &first, Approval::Approve).await.unwrap();
    let CallOutcome::Pending(second) = outcome else { panic!("it goes on: {outcome:?}") };
    assert_eq!(
        (second.id.as_str(), second.unmet[0].printed()),
        ("tools/r/1/c:1", "write ledger:moved".to_owned())
    );

    assert_eq!(made(&bench.executor, call("c", "sign")).await, CallOutcome::Pending(second.clone()));

    let refused = |answer: Result<CallOutcome, ResumptionError>| answer.unwrap_err().to_string();
    let before = "was resumed before, and a call runs once at most; look at what it has done, and have it called again if \
                  that is still needed";
    assert_eq!(
        refused(answer(&bench, &first, Approval::Approve).await),
        format!("the pending call `tools/r/1/c:0` {before}")
    );
    let mut ahead = PendingCall::clone(&second);
    ahead.id = PendingId::new("tools/r/1/c:2");
    assert_eq!(
        refused(answer(&bench, &ahead, Approval::Approve).await),
        format!("the pending call `tools/r/1/c:2` {before}")
    );
    let mut other = PendingCall::clone(&second);
    other.digest = Digest::of(&json!("something else"));
    assert!(matches!(
        answer(&bench, &other, Approval::Approve).await,
        Err(ResumptionError::OtherDigest { .. })
    ));
    let mut unknown = PendingCall::clone(&second);
    unknown.id = PendingId::new("tools/r/1/never:0");
    assert!(matches!(
        answer(&bench, &unknown, Approval::Approve).await,
        Err(ResumptionError::ResumedBefore { .. })
    ));
    assert_eq!(bench.ledger.begun(), []);

    assert_eq!(said(&answer(&bench, &second, Approval::Approve).await.unwrap()), "ok: paid");
    for late in [&first, &second] {
        let late = answer(&bench, late, Approval::Approve).await;
        assert!(matches!(late, Err(ResumptionError::ResumedBefore { .. })), "{late:?}");
    }
    assert_eq!(bench.ledger.effects(), ["r/1/c:2"]);
}

/// Starts a worker whose calls wait for so long only.
async fn hurried(bench: &Bench, lifetime: Duration) -> JoinSet<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let worker = Worker::new("hurried".parse().unwrap(), performer(&bench.ledger, Some(lifetime)));
    let mut workers = JoinSet::new();
    workers.spawn(async move { worker.serve(listener, std::future::pending()).await.unwrap() });
    bench.engine.knows(port).await;
    workers
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_denial_after_the_time_is_over_is_confirmed_only_where_the_call_was_denied() {
    let bench = Bench::start().await;
    let _workers = hurried(&bench, Duration::from_secs(15)).await;
    let executor = bench.engine.executor("hurried");
    let deny = || Approval::Deny { reason: String::new() };
    let asked = async |id: &str| match made(&executor, call(id, "sign")).await {
        CallOutcome::Pending(pending) => pending,
        other => panic!("it goes on: {other:?}"),
    };
    let approved = asked("approved").await;
    executor.decide(&approved, Approval::Approve).await.unwrap();
    let left = asked("left").await;
    until("the time is over", || approved.is_expired() && left.is_expired()).await;

    let before = executor.decide(&approved, deny()).await;
    assert!(matches!(before, Err(ResumptionError::ResumedBefore { .. })), "{before:?}");
    let outcome = executor.resume(Resumption::new(scope(), *approved, deny())).await.unwrap();
    assert_eq!(said(&outcome), "ok: paid");
    executor.decide(&left, deny()).await.unwrap();
    assert!(said(&made(&executor, call("left", "sign")).await).starts_with("denied: "));
    let mut unknown = left;
    unknown.id = PendingId::new("hurried/r/1/never:0");
    let nothing = executor.decide(&unknown, deny()).await;
    assert!(matches!(nothing, Err(ResumptionError::ResumedBefore { .. })), "{nothing:?}");
    assert_eq!(bench.ledger.effects(), ["r/1/approved:1"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_call_that_nobody_answers_ends_by_itself() {
    let bench = Bench::start().await;
    let _workers = hurried(&bench, Duration::from_secs(10)).await;
    let executor = bench.engine.executor("hurried");
    let CallOutcome::Pending(pending) = made(&executor, call("c", "sign")).await else {
        panic!("it goes on")
    };
    until("the time is over", || pending.is_expired()).await;
    let late = executor.resume(Resumption::new(scope(), *pending, Approval::Approve)).await;
    assert!(matches!(late, Err(ResumptionError::Expired { .. })), "{late:?}");
    let ended = loop {
        match made(&executor, call("c", "sign")).await {
            CallOutcome::Pending(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            ended => break ended,
        }
    };
    assert_eq!(
        said(&ended),
        "denied: nobody answered within 10 s whether this call may run, so it was not run; go on without it, or ask again later"
    );
    assert_eq!(bench.ledger.begun(), []);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn another_call_of_the_same_name_does_not_get_the_reply_of_the_first() {
    let bench = Bench::start().await;
    assert_eq!(said(&made(&bench.executor, call("c", "pay")).await), "ok: paid");
    let other = ToolCall::new("c".parse().unwrap(), "pay", json!({ "to": "somebody else" }));
    assert_eq!(
        said(&made(&bench.executor, other.clone()).await),
        "error: invalid input: another call of this run has the id `c` already, so this one was not run; make it again with \
         an id of its own"
    );
    bench.asked("w").await;
    let other = ToolCall::new("w".parse().unwrap(), "sign", json!({ "to": "somebody else" }));
    assert!(
        said(&made(&bench.executor, other).await)
            .starts_with("error: invalid input: another call of this run")
    );
    assert_eq!(bench.ledger.effects(), ["r/1/c:0"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn the_engine_is_told_how_long_calls_are_kept_and_rounds_may_take() {
    let bench = Bench::start().await;
    let service = bench.engine.service("tools").await;
    let said = ["workflow_completion_retention", "inactivity_timeout", "abort_timeout"]
        .map(|field| service[field].as_str().unwrap_or_default());
    assert_eq!(said, ["14d", "1d", "1d"], "{service}");
}
