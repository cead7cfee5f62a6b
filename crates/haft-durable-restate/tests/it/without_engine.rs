use crate::engine::{executor, url};
use expect_test::{Expect, expect};
use haft_core::ToolCall;
use haft_durable_restate::{Error, Worker};
use haft_testkit::free_port;
use haft_tools_core::{
    Approval, Batch, CallOutcome, CallScope, LocalExecutor, PendingCall, Policy, Resumption, ResumptionError,
    ToolExecutor as _, ToolRegistry,
};
use serde_json::json;
use std::time::Duration;

async fn check(scope: CallScope, expected: &Expect) {
    let executor = executor(&url(free_port()), "tools").patience(Duration::ZERO);
    let call = ToolCall::new("c".parse().unwrap(), "pay", json!({}));
    let outcome = executor.execute_batch(Batch::new(scope, vec![call])).await.into_outcomes().remove(0);
    let CallOutcome::Replied(reply) = outcome else { panic!("{outcome:?}") };
    expected.assert_eq(&format!("{}: {}", reply.status, reply.output.to_text()));
}

fn scope() -> CallScope {
    CallScope::new("r".parse().unwrap())
}

fn pending(id: &str) -> PendingCall {
    serde_json::from_value(json!({
        "version": 1, "id": id, "call": { "id": "c", "name": "pay", "input": {} }, "run": "r", "accesses": [],
        "unmet": [], "preview": { "kind": "arguments" }, "asked_at_ms": 0, "digest": haft_core::Digest::of(&json!(1)),
    }))
    .unwrap()
}

#[tokio::test]
async fn a_bound_that_cannot_be_sent_is_not_left_behind() {
    check(scope().with_ceiling(Policy::new()).child("s".parse().unwrap()), &expect!["denied: this call was not run: what this agent may do is bounded in a way that cannot be sent to where its tools are; nothing was done, so go on without it and say so"]).await;
}

#[tokio::test]
async fn the_model_reads_that_nobody_answers_for_its_call() {
    check(scope(), &expect!["error: unavailable: what makes this call does not answer, so whether it had its effect is not known, and it may have it yet; look before you repeat it"]).await;
}

#[tokio::test]
async fn a_call_that_no_engine_keeps_is_not_gone_on_with() {
    let executor = executor(&url(free_port()), "tools").patience(Duration::ZERO);
    for id in ["made elsewhere", "tools/r/1/c:0"] {
        let answer = executor.resume(Resumption::new(scope(), pending(id), Approval::Approve)).await;
        assert!(matches!(answer, Err(ResumptionError::Unclaimed { .. })), "{answer:?}");
        let later = executor.resume(Resumption::new(scope(), pending(id), Approval::Later)).await;
        assert!(matches!(later, Ok(CallOutcome::Pending(_))), "{later:?}");
    }
}

#[tokio::test]
async fn a_worker_with_a_key_that_is_none_does_not_serve() {
    let performer = haft_durable::Performer::new(LocalExecutor::builder(ToolRegistry::new()));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let worker = Worker::new("tools".parse().unwrap(), performer).identity_key("publickeyv1_no");
    let served = worker.serve(listener, std::future::pending()).await;
    assert!(matches!(served, Err(Error::IdentityKey { .. })), "{served:?}");
}
